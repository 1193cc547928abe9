"""TCL220: a module counts its calls in an integer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.values import DType, Static, SymInt, Tensor

from ..lib.judge.init_end import first_argument
from ..lib.judge.numbers import COUNTED, Number
from ..lib.judge.verdict import Changes, Refused, Verdict, combine
from ..lib.rewrite.number_as_tensor import Way
from ..lib.rewrite.proved import NO_TORCH, repair_as_proved
from .attributes import is_attribute_of, is_integer_literal
from .emptied import only_records

_COUNT: Final = Number(Tensor(0, DType("int64", "int")), COUNTED)
_COUNTING: Final = (ast.Add, ast.Sub, ast.Mult, ast.LShift)
_CHANGES: Final = (
    "code outside sees `{name}` as a 0-d tensor instead of an int, and it moves with the module; "
    "a module that is built on the meta device has to fill it in afterwards"
)


class CounterInForward(Rule[ModuleWrite]):
    """Compiled code increments an integer attribute of a module."""

    code = "TCL220"
    name = "counter-in-forward"
    summary = "Counting in an integer attribute recompiles on each call"
    instead = (
        "Count in a buffer, a tensor that `forward` adds to, or count where the module is called"
    )
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report integers that are counted."""
        if not _is_counted(event) or not _is_integer(event) or event.site.settings.numbers_may_vary:
            return None
        name = event.site.text(event.target)
        return Finding(
            f"`{name}` is compiled in as a constant: each call with a new value recompiles",
            _count_in_buffer(event),
            confidence=Confidence.LOW if only_records(event.site) else None,
        )


def _is_counted(event: ModuleWrite) -> bool:
    """True where the new number is computed from the old one, and does not come round again."""
    match event.site.statement:
        case ast.AugAssign(target=target, op=op):
            return target is event.target and isinstance(op, _COUNTING)
        case ast.Assign(targets=[target], value=value):
            return target is event.target and _counts(event.site, value, ast.unparse(target))
    return False


def _counts(site: Site, value: ast.expr, old: str) -> bool:
    """True for ``self.n + 1``, also as ``min(self.n + 1, 9)``, in a choice or a local variable."""
    match value:
        case ast.BinOp(left, op, right) if isinstance(op, _COUNTING):
            sides = (left, right)
            return any(ast.unparse(s) == old or _counts(site, s, old) for s in sides)
        case ast.IfExp(body=body, orelse=orelse):
            return _counts(site, body, old) or _counts(site, orelse, old)
        case ast.Call(func=ast.Name(id="int" | "max" | "min"), args=arguments):
            return any(_counts(site, argument, old) for argument in arguments)
        case ast.Name(id=name):
            stores = site.stores(name)
            bound = site.parent(stores[0]) if len(stores) == 1 else None
            return isinstance(bound, ast.Assign) and _counts(site, bound.value, old)
    return False


def _is_integer(event: ModuleWrite) -> bool:
    kinds = list(options(event.value))
    return all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type == "int")
        for kind in kinds
    )


def _count_in_buffer(event: ModuleWrite) -> Repair | Decline:
    """Register a buffer in place of the number in ``__init__``; the counting stays as it is."""
    site, name = event.site, event.attribute
    if not _is_step(site.statement):
        return Decline(f"`{name}` is not counted by a plain `+` or `-`")
    cls, step = site.cls, event.target.value
    init = cls.methods.get("__init__") if cls else None
    if cls is None or init is None or not isinstance(step, ast.Name) or site.function is None:
        return Decline(f"`__init__` of the class does not set `{name}`")
    start = _start(init, name)
    if start is None:
        return Decline(f"`__init__` does not set `{name}` to a literal integer")
    spelled = site.spell("torch.tensor")
    if spelled is None:
        return NO_TORCH
    obstacle = _elsewhere(site, cls, site.function, init, name)
    if obstacle:
        return Decline(obstacle)
    own = first_argument(init)
    template = f'{own}.register_buffer("{name}", {spelled}($start), persistent=False)'
    rewrites = [Replace(start, template, {"start": start.value}), *_rebound(event)]
    verdict = combine([Changes(_CHANGES.format(name=name)), _judge(event, step.id)])
    return repair_as_proved(verdict, "Count in a non-persistent buffer", tuple(rewrites))


def _is_step(statement: ast.stmt) -> bool:
    """True for ``self.n += 1`` and ``self.n = self.n + 1``."""
    match statement:
        case ast.AugAssign(op=op):
            return isinstance(op, ast.Add | ast.Sub)
        case ast.Assign(targets=[target], value=ast.BinOp(left, ast.Add() | ast.Sub(), _)):
            return ast.unparse(left) == ast.unparse(target)
    return False


def _start(init: FunctionInfo, name: str) -> ast.Assign | None:
    """``self.n = 0`` among the statements of ``__init__`` itself, behind ``super().__init__()``."""
    assert not isinstance(init.node, ast.Lambda)
    ready = False
    for statement in init.node.body:
        called = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(called, ast.Call) and getattr(called.func, "attr", "") == "__init__":
            ready = True
        if not ready or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        if is_attribute_of(statement.targets[0], first_argument(init), name):
            return statement if is_integer_literal(statement.value) else None
    return None


def _elsewhere(
    site: Site, cls: ClassInfo, function: FunctionInfo, init: FunctionInfo, name: str
) -> str:
    """Where else the number is used, so that the proof would not be whole; empty for nowhere."""
    for node in ast.walk(site.module.tree):
        known = isinstance(node, ast.Attribute) and node.attr == name
        if known and not _holds(function.node, node) and not _holds(init.node, node):
            return f"line {getattr(node, 'lineno', 0)} also uses `{name}`"
        if isinstance(node, ast.Constant) and node.value == name:
            return f"line {node.lineno} names `{name}` in a string"
    uses = [n for n in ast.walk(init.node) if isinstance(n, ast.Attribute) and n.attr == name]
    if len(uses) != 1:
        return f"`__init__` uses `{name}` more than once"
    if any(isinstance(n, ast.Name) and n.id == name for n in _class_level(cls)):
        return f"`{name}` is set at class level"
    return ""


def _holds(outer: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(outer))


def _class_level(cls: ClassInfo) -> Iterator[ast.AST]:
    for statement in cls.node.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            yield from ast.walk(statement)


def _judge(event: ModuleWrite, own: str) -> Verdict:
    """Judge a tensor where the function uses the number."""
    site, way = event.site, Way(event.site, changed=True)
    for node in ast.walk(site.body.scope):
        if not isinstance(node, ast.Attribute) or node.attr != event.attribute:
            continue
        if not is_attribute_of(node, own, event.attribute):
            return Refused(f"`{site.text(node)}` is an attribute of another object")
        if isinstance(node.ctx, ast.Load):
            if node is not getattr(getattr(site.statement, "value", None), "left", None):
                way.use(node, _COUNT)
        elif node is not event.target:
            return Refused(f"`{event.attribute}` is also set elsewhere in the function")
    verdict = way.verdict()
    if way.rewrites and not isinstance(verdict, Refused):
        return Refused("Python functions are called with the number")
    return verdict


def _rebound(event: ModuleWrite) -> Iterator[Replace]:
    """`self.n = self.n + 1` for `self.n += 1`, which would write into a tensor that is in use.

    Autograd may have kept it for the backward pass, and so may the code that reads it here.
    """
    site, statement = event.site, event.site.statement
    used = (
        node is not event.target
        and isinstance(node, ast.Attribute)
        and node.attr == event.attribute
        for node in ast.walk(site.body.scope)
    )
    if isinstance(statement, ast.AugAssign) and any(used):
        sign = "+" if isinstance(statement.op, ast.Add) else "-"
        target = site.text(statement.target)
        yield Replace(statement, f"{target} = {target} {sign} $step", {"step": statement.value})
