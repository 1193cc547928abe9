"""Make a tensor on its device, instead of on the host."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import AddArgument, Repair, Replace, Rewrite
from tclint.semantics.events import TensorFactory
from tclint.semantics.site import Site
from tclint.semantics.values import Sequence, SymInt, options

from .placement import FROM_DATA, Target, number_type

_EXACT = frozenset(
    "zeros ones empty full eye scalar_tensor tril_indices triu_indices arange".split()
)
_BOUNDS = ("start", "end", "step")
_ROUNDED = frozenset(
    "linspace logspace range bartlett_window blackman_window hamming_window hann_window "
    "kaiser_window".split()
)
_RANDOM = frozenset("rand randn randint randperm".split())
_SIZED = _EXACT | _ROUNDED | _RANDOM
_ZEROS_AND_ONES = frozenset("zeros ones eye empty".split())
_SMALL = 256  # every floating-point dtype of torch's with at least 16 bits holds these exactly
_DEVICE_MATTERS = frozenset({"requires_grad", "pin_memory", "out", "generator"})
_OTHER_NUMBERS = "the device's generator draws other numbers than the CPU's"
_OTHER_ROUNDING = "the device computes the values and may round the last bit in another way"
_OTHER_NUMBER = "a float of numpy's, or one beyond float32, makes another tensor or raises"
_LARGEST = 3.4e38
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
    for keyword in event.call.keywords:
        if keyword.arg is None or keyword.arg in _DEVICE_MATTERS:
            return Decline(f"`{keyword.arg or '**'}` may mean something else on a device")
    if where.converts and not _converts_alike(event):
        return Decline("made with the other dtype at once, its values could be rounded differently")
    rewrites: list[Rewrite] = []
    if event.function in FROM_DATA:
        spelled = event.site.spell("torch.full")
        if not is_number(event) or spelled is None:
            return Decline(_FROM_HOST)
        rewrites = [Replace(event.call.func, spelled), AddArgument(event.call, "()")]
    if event.moved is not None:
        rewrites.append(Replace(event.moved, "$factory", {"factory": event.call}))
        rewrites += where.arguments(event.call)
    changes = "; ".join(_changes(event, where))
    level = Applicability.UNSAFE if changes else Applicability.SAFE
    return Repair("Create it on the device", tuple(rewrites), level, changes)


def is_number(event: TensorFactory) -> bool:
    """True for ``torch.tensor`` of one Python number."""
    arguments = event.call.args
    if event.function != "torch.tensor" or len(arguments) != 1:
        return False
    return number_type(event.site, arguments[0]) is not None


def _converts_alike(event: TensorFactory) -> bool:
    """True when the values are the same, made with a dtype at once or converted afterwards."""
    if is_number(event):
        value = getattr(event.call.args[0], "value", None)
        return type(value) is int and abs(value) <= _SMALL
    return event.function.removeprefix("torch.") in _ZEROS_AND_ONES | _RANDOM


def _changes(event: TensorFactory, where: Target) -> Iterator[str]:
    """What may differ afterwards; nothing when both ways give the same bits."""
    name = event.function.removeprefix("torch.")
    if event.function in FROM_DATA and not _fits(event.site, event.call.args[0]):
        yield _OTHER_NUMBER
    if name in _RANDOM:
        yield _OTHER_NUMBERS
    if name in _ROUNDED or (name == "arange" and not _whole(event)):
        yield _OTHER_ROUNDING
    if where.like is not None and not where.sure:
        yield f"`{event.site.text(where.like)}` has to be a tensor"


def _fits(site: Site, node: ast.expr) -> bool:
    """True for a number that `torch.full` takes as `torch.tensor` does.

    A float may be numpy's, which is one of Python's by type and would keep its dtype; one that
    float32 cannot hold becomes infinite or raises.
    """
    if number_type(site, node) != "float":
        return True
    values = {getattr(option, "value", None) for option in options(site.value(node))}
    return all(
        isinstance(value, float) and (abs(value) <= _LARGEST or not math.isfinite(value))
        for value in values
    )


def _whole(event: TensorFactory) -> bool:
    """True when all bounds of a range are surely integers."""
    bounds = [*event.call.args, *(k.value for k in event.call.keywords if k.arg in _BOUNDS)]
    return all(
        number_type(event.site, bound) == "int"
        or all(isinstance(o, SymInt) for o in options(event.site.value(bound)))
        for bound in bounds
    )


def _is_list(event: TensorFactory, node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return True
    return all(isinstance(o, Sequence) for o in options(event.site.value(node)))
