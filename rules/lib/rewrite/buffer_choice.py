"""A branch of which each way gives a buffer another tensor: choose the tensor on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Object

from ..facts.compiling import is_compiled_aside, is_compiled_only
from ..facts.effects import only_computes
from .proved import NO_TORCH, repair_as_proved
from .where_condition import condition

_MESSAGE: Final = (
    "In compiled code, compute both tensors, keep neither, and let `torch.where` select; eager "
    "code stays as it is"
)
_WIDTH: Final = 100
_Parts = dict[str, ast.expr | ast.stmt]


@record()
class _Way:
    """One way of the branch: what it prepares, and the tensor that the buffer gets in the end."""

    lines: list[str] = field(default_factory=list)
    parts: _Parts = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    buffer: _Registered | None = None
    tensor: str = ""


@record(frozen=True)
class _Registered:
    """A buffer's name, and whether it belongs to the state dict."""

    name: str
    persistent: bool = True


def choose_buffer(site: Site, statement: ast.If) -> Repair | Decline | None:
    """Rewrite ``if test: ... self.register_buffer("b", x)``, ``else: ...``; None for other code."""
    owner = _owner(statement.body[-1])
    if owner is None or not statement.orelse or _owner(statement.orelse[-1]) != owner:
        return None
    if is_compiled_aside(site, statement):
        return Decline("this branch is kept for eager code and for modules without such a buffer")
    if is_compiled_only(site, statement) or site.facts.tries:
        return Decline("eager code never runs this, or a `try` is around it")
    names = [site.spell(f"torch.{name}") for name in ("compiler.is_compiling", "where")]
    if None in names:
        return NO_TORCH
    test = condition(site, [statement.test])
    if isinstance(test, Decline):
        return test
    ways = [_way(site, block, owner, place) for place, block in enumerate(_blocks(statement))]
    for way in ways:
        if isinstance(way, Decline):
            return way
    one, other = (way for way in ways if isinstance(way, _Way))
    obstacle = _obstacle(site, owner, one, other)
    if obstacle:
        return Decline(obstacle)
    assert one.buffer is not None
    chosen = [other.tensor, one.tensor] if test.negated else [one.tensor, other.tensor]
    given = [test.template, *chosen]
    target = f'{owner}._buffers["{one.buffer.name}"] = {names[1]}('
    texts = [site.text(part) for part in test.parts.values()] + [target, *chosen]
    long = statement.col_offset + 4 + sum(len(text) + 3 for text in texts) > _WIDTH
    call = (
        "".join(f"\n        {text}," for text in given) + "\n    )"
        if long
        else ", ".join(given) + ")"
    )
    same = [
        f"    assert {one.tensor}.{what} == {other.tensor}.{what}" for what in ("shape", "dtype")
    ]
    compiled = f"{names[0]}(){_test(owner, one.buffer)}"
    lines = [f"if {compiled}:", *one.lines, *other.lines, *same, f"    {target}{call}"]
    lines += ["else:", "    $original"]
    parts = {**test.parts, **one.parts, **other.parts, "original": statement}
    return repair_as_proved(test.verdict, _MESSAGE, (Replace(statement, "\n".join(lines), parts),))


def _owner(last: ast.stmt) -> str | None:
    """The variable whose buffer a statement registers."""
    match last:
        case ast.Expr(
            ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="register_buffer"))
        ):
            return owner
    return None


def _way(site: Site, block: list[ast.stmt], owner: str, place: int) -> _Way | Decline:
    way = _Way()
    for number, statement in enumerate(block[:-1]):
        obstacle = _prepare(site, way, statement, owner, f"made_{place}_{number}")
        if obstacle:
            return Decline(obstacle)
    last = block[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    match last.value:
        case ast.Call(args=[ast.Constant(value=str() as name), tensor], keywords=keywords):
            kept = [k.value.value for k in keywords if isinstance(k.value, ast.Constant)]
            if len(kept) == len(keywords) and all(k.arg == "persistent" for k in keywords):
                way.buffer = _Registered(name, persistent=all(kept))
            match tensor:
                case ast.Attribute(value=ast.Name(id=read), attr=attribute) if read == owner:
                    way.tensor = way.made.get(attribute, f"{owner}.{attribute}")
                    return way
            return Decline(f"`{site.text(tensor)}` is not an attribute of `{owner}`")
    return Decline(f"tclint does not follow `{site.text(last)}`")


def _prepare(site: Site, way: _Way, statement: ast.stmt, owner: str, part: str) -> str:
    """Add what a statement makes as a local variable; why not, where it cannot be one."""
    match statement:
        case ast.If(
            test=ast.UnaryOp(
                op=ast.Not(),
                operand=ast.Call(
                    func=ast.Name(id="hasattr"),
                    args=[ast.Name(id=asked), ast.Constant(value=str() as attribute)],
                ),
            ),
            body=[ast.Assign(targets=[target], value=ast.Call() as made)],
            orelse=[],
        ) if asked == owner:
            pattern = _pattern(site, target, owner, attribute)
            if not pattern:
                return f"`{site.text(target)}` is more than `{owner}.{attribute}`"
            if not only_computes(site, made):
                return f"`{site.text(made)}` may have side effects"
            local = _local(site, attribute)
            way.lines += [
                f'    if hasattr({owner}, "{attribute}"):',
                f"        {local} = {owner}.{attribute}",
                "    else:",
                f"        {pattern.replace('$local', local)} = ${part}",
            ]
            way.made[attribute], way.parts[part] = local, made
            return ""
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=stored), attr=attribute)],
            value=ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(value=ast.Name(id=read), attr=moved), attr="to"
                )
            ) as value,
        ) if stored == read == owner and moved == attribute:
            local = _local(site, attribute)
            way.lines.append(f"    {local} = ${part}")
            way.made[attribute], way.parts[part] = local, value
            return ""
    return f"`{site.text(statement).splitlines()[0]}` would run for both branches"


def _pattern(site: Site, target: ast.expr, owner: str, attribute: str) -> str:
    """The target with the attribute left open; empty when more than throw-aways stand beside it."""
    elements = target.elts if isinstance(target, ast.Tuple) else [target]
    texts = []
    for element in elements:
        match element:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if (name, attr) == (
                owner,
                attribute,
            ):
                texts.append("$local")
            case ast.Name(id=name) if not site.loads(name):
                texts.append(name)
            case _:
                return ""
    return ", ".join(texts) if texts.count("$local") == 1 else ""


def _local(site: Site, attribute: str) -> str:
    """A variable named like an attribute, unless the function has one of that name."""
    taken = {n.id for n in ast.walk(site.body.scope) if isinstance(n, ast.Name)}
    taken |= {a.arg for a in ast.walk(site.body.scope) if isinstance(a, ast.arg)}
    while attribute in taken:
        attribute += "_"
    return attribute


def _blocks(statement: ast.If) -> Iterator[list[ast.stmt]]:
    yield statement.body
    yield statement.orelse


def _obstacle(site: Site, owner: str, one: _Way, other: _Way) -> str:
    if one.buffer is None or one.buffer != other.buffer:
        return "both branches must register the same buffer in the same way"
    if one.made.keys() & other.made.keys():
        return "both branches set the same attribute"
    if not _classes_of(site, owner):
        return f"`{owner}` is not known to be a module"
    unproved = one.buffer.persistent and not _registered_everywhere(site, owner, one.buffer)
    if unproved or _registered_otherwise(site, owner, one.buffer):
        return f"`{owner}` is not known to have the buffer `{one.buffer.name}` already"
    for attribute in (one.buffer.name, *one.made, *other.made):
        writer = _writer_of(site, owner, attribute)
        if writer:
            return f"`{writer}` writes to a tensor that both branches may share"
    return ""


def _classes_of(site: Site, owner: str) -> list[ClassInfo]:
    """The classes of the project that a variable may be an instance of; none when one is not."""
    kinds = [kind for load in site.loads(owner) for kind in options(site.value(load))]
    known = [kind.cls for kind in kinds if isinstance(kind, Object) and kind.is_module and kind.cls]
    return list(dict.fromkeys(known)) if len(known) == len(kinds) else []


def _registered_everywhere(site: Site, owner: str, buffer: _Registered) -> bool:
    """True when whatever module the variable may be registers the buffer, so, in ``__init__``."""
    classes = _classes_of(site, owner)
    return bool(classes) and all(buffer in _registered(cls) for cls in classes)


def _registered(cls: ClassInfo) -> Iterator[_Registered]:
    init = cls.methods.get("__init__")
    for node in ast.walk(init.node) if init else ():
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer"),
                args=[ast.Constant(value=str() as name), *_],
                keywords=keywords,
            ):
                flags = [k.value.value for k in keywords if isinstance(k.value, ast.Constant)]
                yield _Registered(name, persistent=all(flags))


def _registered_otherwise(site: Site, owner: str, buffer: _Registered) -> bool:
    """True when a class that the module may be of puts it into the state dict, or out of it."""
    other = _Registered(buffer.name, not buffer.persistent)
    return any(other in _registered(cls) for cls in _classes_of(site, owner))


def _writer_of(site: Site, owner: str, attribute: str) -> str:
    """A statement of this file, or of those of the module's classes, that writes into it."""
    classes = _classes_of(site, owner)
    for tree in dict.fromkeys([site.module.tree, *(cls.module.tree for cls in classes)]):
        for node in ast.walk(tree):
            for written in _written(node):
                if any(
                    isinstance(p, ast.Attribute) and p.attr == attribute for p in ast.walk(written)
                ):
                    return ast.unparse(node)[:80]
    return ""


def _written(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose memory a node writes."""
    match node:
        case ast.AugAssign(target=target):
            yield target
        case ast.Assign(targets=targets):
            yield from (t.value for t in targets if isinstance(t, ast.Subscript))
        case ast.Call(func=ast.Attribute(value=tensor, attr=method), keywords=keywords):
            if method.endswith("_") and not method.endswith("__"):
                yield tensor
            yield from (keyword.value for keyword in keywords if keyword.arg == "out")


def _test(owner: str, buffer: _Registered) -> str:
    """What else compiled code asks, and knows while tracing.

    The function may be called with modules of classes that are not in sight. Asking for a
    persistent buffer would make Dynamo guard on which tensor it is.
    """
    if buffer.persistent:
        return ""
    return f' and "{buffer.name}" in {owner}._non_persistent_buffers_set'
