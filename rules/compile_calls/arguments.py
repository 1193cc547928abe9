"""What the rules in this folder ask about the arguments of a ``torch.compile`` call."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Mapping, Object, Static, Value, constant
from tclint.torch_facts.compile_names import CompileNames, compile_names

from .nearest import Nearest


def names_for(event: CompileCall) -> CompileNames:
    """What the torch version that the project targets accepts."""
    return compile_names(event.site.settings.target_torch)


def version_of(event: CompileCall) -> str:
    """The targeted torch version, for messages."""
    major, minor = event.site.settings.target_torch
    return f"torch {major}.{minor}"


def known(event: CompileCall, keyword: str) -> Static | None:
    """The constant that is passed, wherever it comes from; None when that is not known."""
    node = event.keywords.get(keyword)
    if node is None:
        spread = event.spread.get(keyword)
        return spread if isinstance(spread, Static) and spread.known else None
    written: ast.expr | None = node
    if isinstance(node, ast.Attribute):
        written = _field_of(event.site.value(node.value), node.attr)
    if isinstance(written, ast.Constant):
        return constant(written.value)
    value = event.site.value(node)
    return value if isinstance(value, Static) and value.known else None


def _field_of(owner: Value, name: str) -> ast.Constant | None:
    """The literal that an object's field got from its constructor call or its default."""
    match owner:
        case Object(cls=ClassInfo() as cls, site=ast.Call(args=[], keywords=keywords)):
            pass
        case _:
            return None
    if "__init__" in cls.methods or any(k.arg is None for k in keywords):
        return None
    written = next((k.value for k in keywords if k.arg == name), _default(cls, name))
    return written if isinstance(written, ast.Constant) else None


def _default(cls: ClassInfo, name: str) -> ast.expr | None:
    for statement in cls.node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=target), value=value) if target == name:
                return value
    return None


def text(event: CompileCall, keyword: str) -> str | None:
    """The string passed for a keyword; None when there is none or it is not known."""
    found = known(event, keyword)
    return found.value if found and isinstance(found.value, str) else None


def given(event: CompileCall, keyword: str) -> bool:
    """True when the keyword certainly gets a value other than None."""
    constant = known(event, keyword)
    if constant is not None:
        return constant.value is not None
    written, spread = event.keywords.get(keyword), event.spread.get(keyword)
    return isinstance(written, ast.Dict) or isinstance(spread, Mapping)


def is_true(event: CompileCall, keyword: str) -> bool:
    """True when the keyword certainly gets ``True``."""
    found = known(event, keyword)
    return found is not None and found.value is True


def as_written(call: ast.Call) -> tuple[str, dict[str, ast.expr]]:
    """The keywords of a call without `model`, and what ``**`` passes, for another call."""
    parts, given = [], {}
    for number, keyword in enumerate(call.keywords):
        if keyword.arg != "model":
            parts.append(f"{keyword.arg}=$k_{number}" if keyword.arg else f"**$k_{number}")
            given[f"k_{number}"] = keyword.value
    return ", ".join(parts), given


def uses_inductor(event: CompileCall) -> bool:
    """True when the backend is Inductor, the only one that judges ``mode`` and ``options``."""
    given = "backend" in event.keywords or "backend" in event.spread
    return not given or text(event, "backend") == "inductor"


def rename(event: CompileCall, node: ast.expr | None, nearest: Nearest | None) -> Repair | Decline:
    """Put the nearest accepted name in the place of a literal."""
    if nearest is None:
        return Decline("no accepted name is similar")
    if node is None:
        return Decline("the name comes from what `**` passes, not from a literal of the call")
    if not isinstance(node, ast.Constant):
        return Decline(f"the name comes from `{event.site.text(node)}`, not from a literal")
    quote = "'" if event.site.text(node).endswith("'") else '"'
    return Repair(
        f'Use "{nearest.name}"',
        (Replace(node, f"{quote}{nearest.name}{quote}"),),
        Change.BEHAVIOUR,
        f'the call no longer raises, and compiles with "{nearest.name}"',
        only_shown=not nearest.clear,
    )
