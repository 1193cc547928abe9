"""Make a tensor on its device, instead of on the host."""

from __future__ import annotations

import ast

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import TensorFactory
from tclint.semantics.values import Sequence, SymInt, options

from .placement import FROM_DATA, Target, arguments, number_type

_EXACT = frozenset(
    "zeros ones empty full eye scalar_tensor tril_indices triu_indices arange".split()
)
_ROUNDED = frozenset(
    "linspace logspace range bartlett_window blackman_window hamming_window hann_window "
    "kaiser_window".split()
)
_RANDOM = frozenset("rand randn randint randperm".split())
_SIZED = _EXACT | _ROUNDED | _RANDOM
_DEVICE_MATTERS = frozenset({"requires_grad", "pin_memory", "out", "generator"})
_OTHER_NUMBERS = "the device's generator draws other numbers than the CPU's"
_OTHER_ROUNDING = "the device computes the values and may round the last bit in another way"
_FROM_HOST = (
    "its data is copied from the host with `device=` just the same; "
    "make the tensor once, outside of the step"
)


def can_be_made_on_device(event: TensorFactory) -> bool:
    """True for factories that take ``device=`` and data that Python holds."""
    if event.function == "torch.tensor":
        return True
    if event.function in FROM_DATA:
        return bool(event.call.args) and _is_list(event, event.call.args[0])
    return event.function.removeprefix("torch.") in _SIZED


def make_on_device(event: TensorFactory, where: Target) -> Repair | Decline:
    """Give the factory the device, and take the move away."""
    assert event.moved is not None
    for keyword in event.call.keywords:
        if keyword.arg is None or keyword.arg in _DEVICE_MATTERS:
            return Decline(f"`{keyword.arg or '**'}` may mean something else on a device")
    texts, parts = arguments(event.call)
    factory = "$factory"
    if event.function in FROM_DATA:
        spelled = event.site.spell("torch.full")
        number = event.function == "torch.tensor" and len(event.call.args) == 1
        if not number or number_type(event.site, event.call.args[0]) is None or spelled is None:
            return Decline(_FROM_HOST)
        factory = spelled
        texts.insert(0, "()")
    else:
        parts["factory"] = event.call.func
    if where.node is not None:
        parts["device"] = where.node
    template = f"{factory}({', '.join([*texts, 'device=' + where.written('device')])})"
    changes = _changes(event)
    level = Applicability.UNSAFE if changes else Applicability.SAFE
    rewrite = Replace(event.moved, template, parts)
    return Repair("Create it on the device", (rewrite,), level, changes)


def _changes(event: TensorFactory) -> str:
    """What may differ afterwards; empty when both ways give the same bits."""
    name = event.function.removeprefix("torch.")
    if name in _RANDOM:
        return _OTHER_NUMBERS
    if name in _ROUNDED or (name == "arange" and not _whole(event)):
        return _OTHER_ROUNDING
    return ""


def _whole(event: TensorFactory) -> bool:
    """True when all bounds of a range are surely integers."""
    bounds = [*event.call.args, *(k.value for k in event.call.keywords if k.arg in _BOUNDS)]
    return all(
        number_type(event.site, bound) == "int"
        or all(isinstance(o, SymInt) for o in options(event.site.value(bound)))
        for bound in bounds
    )


_BOUNDS = ("start", "end", "step")


def _is_list(event: TensorFactory, node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return True
    return all(isinstance(o, Sequence) for o in options(event.site.value(node)))
