"""Gradients that are switched on or off for a passing tensor: done by eager code only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Advice, Change, Decline
from tclint.lint.rewrite import AddArgument, Repair, Replace, Rewrite
from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import External, Function, Object, Tensor, Unknown, Value

from ..facts.known import certain_tensor
from ..facts.origins import is_made_here
from ..wording import short
from .proved import NO_TORCH

_MESSAGE: Final = "Set `requires_grad` in eager code only"
_CHANGES: Final = (
    "in compiled code the tensor keeps its `requires_grad`: a result requires no gradient where "
    "no parameter or input behind it does"
)
_KEEPING: Final = (ast.Return, ast.Tuple, ast.List, ast.Dict, ast.Yield, ast.Lambda)
_LOOKS: Final = frozenset({"grad", "requires_grad", "retain_grad", "register_hook", "backward"})
_ASSUMED: Final = "the fix assumes that `{}` neither keeps `{}` nor takes gradients of it"
WAY_OUT: Final = (
    "set it before compiled code is called; inside, use `.detach()` to stop gradients, or "
    "`torch.func.grad` to take them with respect to any tensor"
)


def switch_in_eager(site: Site, owner: ast.expr, tensor: Tensor) -> Repair | Decline:
    """Put the statement that switches the gradients of ``owner`` under ``not is_compiling()``."""
    statement = site.statement
    alone = isinstance(statement, (ast.Assign, ast.Expr))
    if not alone or not isinstance(owner, ast.Name) or not is_made_here(site, owner, tensor):
        return Advice(WAY_OUT)
    reads = site.loads(owner.id)
    rebound = len(site.stores(owner.id)) > 1
    if any(_is_asked(site, read) or _gets_out(site, read, rebound=rebound) for read in reads):
        return Advice(f"the gradient of `{owner.id}` may be used later; {WAY_OUT}")
    spelled = site.spell("torch.compiler.is_compiling")
    if spelled is None:
        return NO_TORCH
    outer = site.parent(statement)
    if isinstance(outer, ast.If) and outer.body == [statement] and not outer.orelse:
        rewrite = Replace(outer.test, f"$test and not {spelled}()", {"test": outer.test})
    else:
        template = f"if not {spelled}():\n    $statement"
        rewrite = Replace(statement, template, {"statement": statement})
    trusted = sorted({site.text(function) for function in _trusted(site, owner.id)})
    told = [_ASSUMED.format(function, owner.id) for function in trusted]
    return Repair(_MESSAGE, (rewrite,), Change.BEHAVIOUR, "; ".join([_CHANGES, *told]))


def switch_call_in_eager(
    site: Site, call: ast.Call, owner: ast.expr, tensor: Tensor
) -> Repair | Decline:
    """Make the ``requires_grad_()`` inside an expression ask whether the code is compiled."""
    if not is_made_here(site, owner, tensor):
        return Advice(WAY_OUT)
    if _is_leaf_seen(site, call) or (isinstance(owner, ast.Name) and _is_read_again(site, owner)):
        return Advice(f"the gradient of `{short(site, call)}` may be used later; {WAY_OUT}")
    spelled = site.spell("torch.compiler.is_compiling")
    if spelled is None:
        return NO_TORCH
    rewrite: Rewrite
    match call.args, call.keywords:
        case [], []:
            rewrite = AddArgument(call, f"not {spelled}()")
        case ([ast.Constant(value=True) as on], []) | (
            [],
            [ast.keyword(value=ast.Constant(value=True) as on)],
        ):
            rewrite = Replace(on, f"not {spelled}()")
        case _:
            return Advice(WAY_OUT)
    return Repair(_MESSAGE, (rewrite,), Change.BEHAVIOUR, _CHANGES)


CALLERS = Bound(4, "calls up to see who may keep a tensor", hides=False)


def _is_leaf_seen(site: Site, value: ast.expr, depth: int = CALLERS.most) -> bool:
    """True where somebody may keep the tensor itself, or ask for its gradient.

    What a function returns is followed to those that call it in compiled code.
    """
    parent = site.parent(value)
    match parent:
        case ast.Assign(targets=[ast.Name()]):
            made = site.flow.holder(value)
            reads = [] if made is None else site.flow.reads(made)
            return any(_is_asked(site, read) or _is_leaf_seen(site, read, depth) for read in reads)
        case ast.Return():
            callers = site.body.calls.items()
            if not depth:
                CALLERS.cut()
            if not depth or not callers or len(site.chain) == 1:
                return True
            return any(_is_leaf_seen(caller, call, depth - 1) for call, (caller, _) in callers)
        case ast.Call(func=function) if function is not value:
            return _may_take_gradients(site, function)
        case ast.keyword():
            outer = site.parent(parent)
            return not isinstance(outer, ast.Call) or _may_take_gradients(site, outer.func)
        case ast.Attribute(attr=attribute):
            return attribute in _LOOKS
    return not isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript))


def _is_read_again(site: Site, owner: ast.Name) -> bool:
    """True where the variable that is switched on has another use: its gradient may be meant."""
    return len(site.loads(owner.id)) > 1


def _is_asked(site: Site, read: ast.expr) -> bool:
    """True where the tensor's gradient is asked for."""
    parent = site.parent(read)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _LOOKS and isinstance(parent.ctx, ast.Load)
    calls = (outer for outer in site.ancestors(read) if isinstance(outer, ast.Call))
    return any((site.dotted(call.func) or "").startswith("torch.autograd.") for call in calls)


def _trusted(site: Site, name: str) -> Iterator[ast.expr]:
    """The functions that get the tensor and whose code nobody knows."""
    for read in site.loads(name):
        function = _given_to(site, read)
        if function is not None and _is_unknown(site, function):
            yield function


def _given_to(site: Site, read: ast.expr) -> ast.expr | None:
    """The function that is called with the tensor."""
    outer = site.parent(read)
    call = site.parent(outer) if isinstance(outer, ast.keyword) else outer
    return call.func if isinstance(call, ast.Call) and call.func is not read else None


def _is_unknown(site: Site, function: ast.expr) -> bool:
    """True for a function that is an argument or an attribute of `self`: not `kept.append`."""
    match function:
        case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
            called = options(site.value(function))
            return _may_take_gradients(site, function) and all(
                isinstance(one, Unknown) for one in called
            )
    return False


def _gets_out(site: Site, read: ast.expr, *, rebound: bool) -> bool:
    """True where somebody may keep the tensor, or take gradients with respect to it.

    A variable that is bound again may hold another tensor where it is returned or named anew.
    """
    function = _given_to(site, read)
    if function is not None:
        return _may_take_gradients(site, function) and not _is_unknown(site, function)
    parent = site.parent(read)
    match parent:
        case ast.Assign(targets=[ast.Subscript(value=owner)]):
            return certain_tensor(site, owner) is None
        case ast.Assign(targets=[ast.Attribute()]):
            return True
        case ast.Assign():
            return not rebound
        case ast.keyword():
            return True
    return isinstance(parent, _KEEPING) and not rebound


def _may_take_gradients(site: Site, function: ast.expr) -> bool:
    """True for a function that keeps tensors (`append`), or whose code speaks of gradients."""
    if (site.dotted(function) or "").startswith(("torch.", "builtins.")):
        return False
    if isinstance(function, ast.Attribute) and certain_tensor(site, function.value) is not None:
        return False
    return not all(map(_ignores_gradients, options(site.value(function))))


def _ignores_gradients(called: Value) -> bool:
    if isinstance(called, Object) and called.cls is None:
        return called.is_module
    if isinstance(called, Function):
        return not _speaks_of_gradients(called.info.node)
    if isinstance(called, Object) and called.cls is not None:
        return not _speaks_of_gradients(called.cls.node)
    return isinstance(called, External)


def _speaks_of_gradients(code: ast.AST) -> bool:
    names = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(code))
    return any(name in _LOOKS for name in names)
