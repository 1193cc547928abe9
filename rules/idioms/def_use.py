"""Values that statements of one block hand on to each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes

from ..lib.facts.reaching import block_of, reads_until_rebound


def statement_of(site: Site, node: ast.AST) -> ast.stmt | None:
    """The innermost statement that a node belongs to."""
    if isinstance(node, ast.stmt):
        return node
    return next((outer for outer in site.ancestors(node) if isinstance(outer, ast.stmt)), None)


def definition(site: Site, name: ast.expr) -> ast.Assign | None:
    """The assignment in the same block that gave a variable the value it has at this read."""
    statement = statement_of(site, name) if isinstance(name, ast.Name) else None
    if statement is None or not isinstance(name, ast.Name):
        return None
    block = block_of(site, statement)
    for earlier in reversed(block[: block.index(statement)]):
        stores = [n for n in nodes(earlier) if is_written(n, name.id)]
        if stores:
            plain = isinstance(earlier, ast.Assign) and earlier.targets == stores
            return earlier if plain and isinstance(earlier, ast.Assign) else None
    return None


def is_written(node: ast.AST, name: str) -> bool:
    """True for a binding of a variable, a store into it, and a call that works on it in place."""
    match node:
        case ast.Name():
            return node.id == name and not isinstance(node.ctx, ast.Load)
        case ast.Subscript() | ast.Attribute():
            return not isinstance(node.ctx, ast.Load) and _root(node) == name
        case ast.Call():
            return any(_root(operand) == name for operand in _changed(node))
    return False


def _root(node: ast.expr) -> str:
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id


def _changed(call: ast.Call) -> Iterator[ast.expr]:
    """The operands that a call changes: of `x.add_(1)`, `F.relu_(x)`, `out=x`, `inplace=True`."""
    function = call.func
    last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if (last.endswith("_") and not last.endswith("__")) or "inplace" in named:
        yield from call.args
        if isinstance(function, ast.Attribute):
            yield function.value
    if "out" in named:
        yield named["out"]


def value_of(site: Site, node: ast.expr) -> ast.expr:
    """What a variable was assigned, followed to where it is computed; else the node itself."""
    while True:
        found = definition(site, node)
        if found is None:
            return node
        node = found.value


def only_use(site: Site, node: ast.expr) -> ast.expr | None:
    """The one place where a computed value is used: itself, or the only read of its variable."""
    parent = site.parent(node)
    if not isinstance(parent, ast.Assign):
        return node
    target = parent.targets[0]
    if len(parent.targets) != 1 or not isinstance(target, ast.Name):
        return None
    reads = reads_until_rebound(site, parent, target.id)
    return reads[0] if reads is not None and len(reads) == 1 else None


def _reaches(site: Site, node: ast.expr, place: ast.expr) -> bool:
    """True when the variables of ``node`` still hold at ``place`` what they hold at ``node``."""
    first, last = statement_of(site, node), statement_of(site, place)
    if first is None or last is None or first is last:
        return first is last
    block = block_of(site, first)
    if last not in block:
        return False
    between = block[block.index(first) : block.index(last)]
    names = {n.id for n in nodes(node) if isinstance(n, ast.Name)}
    return not any(is_written(n, name) for s in between for n in nodes(s) for name in names)


def is_one_value(site: Site, x: ast.expr, parts: Iterable[ast.expr], place: ast.expr) -> bool:
    """True when ``x``, wherever ``parts`` are computed from it, is what it is at ``place``."""
    pending, seen = list(parts), set[ast.Assign]()
    while pending:
        for node in nodes(pending.pop()):
            if not isinstance(node, ast.expr):
                continue
            if ast.dump(node) == ast.dump(x):
                if not _reaches(site, node, place):
                    return False
            elif (found := definition(site, node)) is not None and found not in seen:
                seen.add(found)
                pending.append(found.value)
    return True
