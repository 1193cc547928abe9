"""TCL221: the first call of a module builds a tensor that the others find."""

from __future__ import annotations

import ast
import copy
from typing import Final

from tclint.diagnostics import Change, Decline, Effect
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.syntax import start_of
from tclint.semantics.values import Sequence, Static, Tensor, Value

from ..lib.judge.init_end import first_argument, why_no_place
from .attributes import guard_of, is_made_when_missing, set_to_none

_MAKERS: Final = frozenset(
    "tensor zeros ones full eye arange linspace logspace tril triu outer cat stack "
    "hann_window hamming_window blackman_window".split()
)
_KEPT: Final = (
    "it is created in `__init__`, with the default dtype and device at that time, whether a call "
    "needs it or not"
)
_MOVED: Final = "as a non-persistent buffer it moves with the module and takes its dtype"


class LazyTensorInForward(Rule[ModuleWrite]):
    """The first call builds a tensor and keeps it on the module for later calls."""

    code = "TCL221"
    name = "lazy-tensor-in-forward"
    summary = "A tensor that the first call builds makes the second call recompile"
    instead = "Build it in `__init__`, or call the module once before it is compiled"
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report tensors that are set where there may have been none before."""
        if not _holds_tensor(event.value) or not is_made_when_missing(event):
            return None
        return Finding(
            f"`{event.site.text(event.target)}` is created by the first call: the second call "
            "recompiles",
            _build_in_init(event, guard_of(event)),
        )


def _holds_tensor(value: Value) -> bool:
    """True for a tensor, and for a tuple that holds one: ``(n, cos, sin)``."""
    for option in options(value):
        parts = option.items if isinstance(option, Sequence) and option.items else (option,)
        if any(isinstance(kind, Tensor) for part in parts for kind in options(part)):
            return True
    return False


def _build_in_init(event: ModuleWrite, guard: ast.If | None) -> Repair | Decline:
    """Move the assignment to the end of ``__init__``; an input's device makes it a buffer."""
    if guard is None:
        return Decline("the test depends on more than whether the tensor exists")
    site, name, statement = event.site, event.attribute, event.site.statement
    cls, function = site.cls, site.function
    if cls is None or function is None or not isinstance(statement, ast.Assign):
        return Decline("no method of the module sets it by a plain assignment")
    init = cls.methods.get("__init__")
    if init is None or isinstance(init.node, ast.Lambda):
        return Decline(f"`{cls.name}` has no `__init__` of its own")
    made, moved = _without_device(site, statement.value, first_argument(function))
    obstacle = (
        why_no_place(site, cls, init, function)
        or _why_not_static(site, made, first_argument(function))
        or _elsewhere(cls, init, event, guard)
    )
    if obstacle:
        return Decline(obstacle)
    own = first_argument(init)
    if "$" in made or own != first_argument(function):
        return Decline("the two methods have different names for `self`")
    build = f"{own}.{name} = {made}"
    if moved:
        build = f'{own}.register_buffer("{name}", {made}, persistent=False)'
    rewrites: list[Rewrite] = [Replace(guard, ""), Insert(init.node.body[-1], build, after=True)]
    empty = set_to_none(init, name)
    if empty is init.node.body[-1]:
        rewrites[1] = Replace(empty, build)
    elif empty is not None:
        rewrites.append(Replace(empty, ""))
    changes = f"{_KEPT}; {_MOVED}" if moved else _KEPT
    return Repair("Build it in `__init__`", tuple(rewrites), Change.BEHAVIOUR, changes)


def _without_device(site: Site, node: ast.expr, own: str) -> tuple[str, bool]:
    """The expression's text, without ``device=`` where an input says which one."""
    plain = copy.deepcopy(node)
    moved = False
    for call in ast.walk(plain):
        if isinstance(call, ast.Call):
            kept = [k for k in call.keywords if k.arg != "device" or not _is_input(k.value, own)]
            moved = moved or len(kept) < len(call.keywords)
            call.keywords = kept
    return (ast.unparse(plain) if moved else site.text(node)), moved


def _is_input(device: ast.expr, own: str) -> bool:
    """True for ``x.device`` of a local variable."""
    owner = device.value if isinstance(device, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id != own


def _why_not_static(site: Site, text: str, own: str) -> str:
    """What keeps the expression from being made ahead of the first call."""
    known = {ast.unparse(n): n for n in ast.walk(site.statement) if isinstance(n, ast.Attribute)}
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Call):
            dotted = site.dotted(node.func) or ""
            if not dotted.startswith("torch.") or dotted.rpartition(".")[2] not in _MAKERS:
                return f"`{ast.unparse(node.func)}` may give something else in `__init__`"
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == own:
            value = site.value(known[ast.unparse(node)])
            fixed = all(isinstance(kind, Static) for kind in options(value))
            if not fixed or node.attr == "training":
                return f"`{ast.unparse(node)}` may change after `__init__`"
        elif isinstance(node, ast.Name) and node.id != own and not _is_global(site, node):
            return f"`{node.id}` is known only when the module is called"
    return ""


def _is_global(site: Site, name: ast.Name) -> bool:
    known = name.id in site.module.imports or name.id in site.module.assigned
    return known and site.dotted(name) is not None


def _elsewhere(cls: ClassInfo, init: FunctionInfo, event: ModuleWrite, guard: ast.If) -> str:
    """Where else the attribute is set, so that the first call may find it unset again."""
    empty = set_to_none(init, event.attribute)
    own = [event.target, *(empty.targets if empty else [])]
    asked_here = {*ast.walk(guard.test)}
    for node in ast.walk(cls.node):
        if not isinstance(node, ast.Attribute) or node.attr != event.attribute:
            continue
        if isinstance(node.ctx, ast.Load):
            if node not in asked_here and _finds_it_missing(event, node, guard):
                return f"line {node.lineno} may find that `{event.attribute}` is not created yet"
        elif not any(node is known for known in own):
            return f"line {node.lineno} also sets `{event.attribute}`"
    if any(_names_it(statement, event.attribute) for statement in cls.node.body):
        return f"the class body defines `{event.attribute}`"
    if isinstance(guard.test, ast.Compare):
        return "" if empty else f"`__init__` does not set `{event.attribute}` to None"
    return f"`__init__` sets `{event.attribute}`, so it is never built here" if empty else ""


def _finds_it_missing(event: ModuleWrite, read: ast.Attribute, guard: ast.If) -> bool:
    """True for a read above the guard, and for another question whether the tensor is there."""
    site = event.site
    inside = any(node is read for node in ast.walk(site.body.scope))
    if inside and start_of(read) < start_of(guard):
        return True
    texts = site.module.file.lines[read.lineno - 1 : read.end_lineno]
    return any(f"{read.attr} is " in text for text in texts)


def _names_it(statement: ast.stmt, name: str) -> bool:
    """True for `name = ...` and the like in the body of a class."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == name
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))
