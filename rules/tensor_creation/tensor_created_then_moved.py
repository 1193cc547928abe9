"""TCL310: a tensor is created on the host and then moved."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tclint.diagnostics import Change, Confidence, Decline, Effect
from tclint.lint.rewrite import AddArgument, Repair, Replace, Rewrite
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorFactory
from tclint.semantics.lattice import is_number, options
from tclint.semantics.values import Sequence

from ..lib.judge.verdict import Changes, Refused, Verdict, combine
from ..lib.rewrite.proved import repair_as_proved
from .buffers import is_constant_data
from .placement import FROM_DATA, Target, is_device, keyword, number_type, target
from .python_data import fits, is_empty, is_one_number, is_surely_number, is_varying_data, number_of

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
_FLOATS = frozenset("float double half float16 float32 float64 bfloat16".split())
_LONGS = frozenset({"long", "int64"})
_INTEGERS = 2**63
_FLOAT32 = 3.4028234663852886e38
_FLOAT16 = 65504
_HALVES = frozenset({"half", "float16"})
_SIGNED = frozenset("int8 short int16 int int32".split()) | _LONGS | _FLOATS
_TINY = 127  # every dtype holds these, but for the sign
_SMALL = 256  # every floating-point dtype of torch's with at least 16 bits holds these exactly
_DEVICE_MATTERS = frozenset({"requires_grad", "pin_memory", "out", "generator"})
_OTHER_NUMBERS = "the device's generator draws different numbers than the CPU's"
_OTHER_ROUNDING = "the device computes the values and may round the last bit differently"
_OTHER_MESSAGE = "a number that the dtype cannot hold raises with a different message"
_OTHER_NUMBER = (
    "a numpy float, or one outside the range of float32, gives a different tensor or raises"
)
_FROM_HOST = (
    "with `device=` its data is still copied from the host; create the tensor once, outside of "
    "the step"
)
# Not `expand`: the copy that `.to(...)` makes of an expanded tensor is no view.
_KEEPING: Final = frozenset(
    "unsqueeze squeeze view reshape repeat transpose permute flatten t contiguous "
    "float double half bfloat16 int long bool".split()
)


class TensorCreatedThenMoved(Rule[TensorFactory]):
    """A tensor is created on the host and then moved to a device."""

    code = "TCL310"
    name = "tensor-created-then-moved"
    summary = "Creating a tensor on the host and moving it makes the CPU wait"
    instead = "Create the tensor on the device: `device=x.device`"
    on = TensorFactory
    effects = (Effect.HOST_SYNC, Effect.DEVICE_COPY)

    def check(self, event: TensorFactory) -> Finding | None:
        """Report a factory call whose result goes to another device, at once or once shaped."""
        event = _moved_later(event)
        device = keyword(event.call, "device")
        where = target(event) if device is None else None
        if device is not None and is_one_number(event) and is_device(event.site, device):
            event, where = replace(event, moved=None), Target(device)  # a `.to` after it stays
        if where is None or is_constant_data(event) or not _can_be_made_on_device(event):
            return None
        name = event.site.text(event.call.func)
        message = f"`{name}(...)` is created on the host and then copied: the CPU waits for it"
        fix = Decline(where.why) if isinstance(where, Refused) else _make_on_device(event, where)
        confidence = Confidence.LOW if is_varying_data(event) else None
        return Finding(message, fix, event.moved or event.call, confidence=confidence)


def _moved_later(event: TensorFactory) -> TensorFactory:
    """The event with the `.to(...)` or `.cuda()` that comes after `.unsqueeze(0)` and its like."""
    if event.moved is not None:
        return event
    node: ast.expr = event.call
    while True:
        attribute = event.site.parent(node)
        call = event.site.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if not isinstance(attribute, ast.Attribute) or not isinstance(call, ast.Call):
            return event
        if call.func is not attribute:
            return event
        if attribute.attr in ("to", "cuda") and node is not event.call:
            return replace(event, moved=call, destination=_destination(call))
        if attribute.attr not in _KEEPING:
            return event
        node = call


def _destination(call: ast.Call) -> ast.expr | None:
    if call.args:
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)


def _can_be_made_on_device(event: TensorFactory) -> bool:
    """True for factories that take ``device=`` and data that Python holds, if there is any."""
    if is_empty(event):
        return False
    if event.function == "torch.tensor":
        return True
    if event.function in FROM_DATA:
        return bool(event.call.args) and _is_list(event, event.call.args[0])
    return event.function.removeprefix("torch.") in _SIZED


def _is_list(event: TensorFactory, node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return True
    return all(isinstance(o, Sequence) for o in options(event.site.value(node)))


def _make_on_device(event: TensorFactory, where: Target) -> Repair | Decline:
    """Give the factory the device, and take the move away."""
    for given in event.call.keywords:
        if given.arg is None or given.arg in _DEVICE_MATTERS:
            return Decline(f"`{given.arg or '**'}` may mean something else on a device")
    if where.converts and (_is_shaped(event) or not _converts_alike(event)):
        return Decline(
            "created directly with the other dtype, its values could be rounded differently"
        )
    rewrites: list[Rewrite] = []
    if event.function in FROM_DATA:
        filled = _filled(event, where)
        if filled is None:
            return Decline(_FROM_HOST)
        rewrites += filled
    if event.moved is not None:
        moved = event.moved.func
        made = moved.value if isinstance(moved, ast.Attribute) else event.call
        rewrites.append(Replace(event.moved, "$made", {"made": made}))
        rewrites += where.arguments(event.call)
    return repair_as_proved(
        combine(_judge(event, where)), "Create it on the device", tuple(rewrites)
    )


def _is_shaped(event: TensorFactory) -> bool:
    """True where something stands between the factory and the move."""
    moved = event.moved
    return moved is not None and getattr(moved.func, "value", None) is not event.call


def _converts_alike(event: TensorFactory) -> bool:
    """True when the values are the same, made with a dtype at once or converted afterwards."""
    if is_one_number(event):
        value = getattr(number_of(event), "value", None)
        return type(value) is int and abs(value) <= _SMALL
    return event.function.removeprefix("torch.") in _ZEROS_AND_ONES | _RANDOM


def _filled(event: TensorFactory, where: Target) -> list[Rewrite] | None:
    """The rewrites that fill a tensor of one element with its number; None for more data."""
    site, call = event.site, event.call
    if not is_one_number(event):
        return None
    data, number = call.args[0], number_of(event)
    function = _filler(event, where, number)
    spelled = site.spell(f"torch.{function}")
    if spelled is None:
        return None
    is_scalar = number is data
    rewrites: list[Rewrite] = [Replace(call.func, spelled)]
    if function == "full":
        rewrites.append(AddArgument(call, "()" if is_scalar else "(1,)"))
        if number is not None and not is_scalar:
            rewrites.append(Replace(data, "$number", {"number": number}))
    else:
        rewrites.append(Replace(data, "()" if is_scalar else "1"))
    # In TorchScript, which may get the module elsewhere, `torch.full` makes integers of booleans.
    if _is_bool_by_value(event, where, number):
        rewrites.append(AddArgument(call, str(site.spell("torch.bool")), keyword="dtype"))
    elif function != "full" and _is_integer_by_value(event, where, number):
        rewrites.append(AddArgument(call, str(site.spell("torch.long")), keyword="dtype"))
    return rewrites


def _filler(event: TensorFactory, where: Target, number: ast.expr | None) -> str:
    """`zeros` and `ones` for literals, where a dtype of None cannot mean another one to them."""
    value = number.value if isinstance(number, ast.Constant) else None
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        return "full"
    given = where.dtype or keyword(event.call, "dtype")
    if type(value) is not float and given is not None and not _is_dtype(event, given):
        return "full"
    return "ones" if value else "zeros"


def _is_dtype(event: TensorFactory, node: ast.expr) -> bool:
    is_of_torch = (event.site.dotted(node) or "").startswith("torch.")
    return is_of_torch or (isinstance(node, ast.Attribute) and node.attr == "dtype")


def _is_bool_by_value(event: TensorFactory, where: Target, number: ast.expr | None) -> bool:
    """True where only the number says that the tensor holds booleans."""
    if number is None or where.converts or keyword(event.call, "dtype") is not None:
        return False
    return number_type(event.site, number) == "bool"


def _is_integer_by_value(event: TensorFactory, where: Target, number: ast.expr | None) -> bool:
    """True where only the number says that the tensor holds integers."""
    if where.converts or keyword(event.call, "dtype") is not None:
        return False
    return isinstance(number, ast.Constant) and type(number.value) is int


def _judge(event: TensorFactory, where: Target) -> Iterator[Verdict]:
    """What may differ afterwards; nothing when both ways give the same bits."""
    name = event.function.removeprefix("torch.")
    number = number_of(event)
    if number is not None and not is_surely_number(event.site, number):
        yield Changes(f"the fix assumes that `{event.site.text(number)}` is a Python number")
    elif number is not None and not fits(event.site, number):
        yield Changes(_OTHER_NUMBER)
    elif number is not None and not _holds(event, number):
        yield Changes(_OTHER_MESSAGE)
    if name in _RANDOM:
        yield Changes(_OTHER_NUMBERS)
    if name in _ROUNDED or (name == "arange" and not _whole(event)):
        yield Changes(_OTHER_ROUNDING, Change.ROUNDING)
    if where.like is not None:
        yield Changes(
            f"where `{event.site.text(where.like)}` is of a subclass of `Tensor`, `.to(...)` makes "
            "the tensor one of it too"
        )
    if where.device is not None and not where.sure:
        yield Changes(
            f"the fix assumes that `{event.site.text(where.device)}` is a device, not a dtype or "
            "a tensor"
        )


def _holds(event: TensorFactory, number: ast.expr) -> bool:
    """True when the factory's dtype surely has the number, or something near it."""
    given = keyword(event.call, "dtype")
    values = {getattr(option, "value", None) for option in options(event.site.value(number))}
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return not _may_be_huge(number, values)
    dtype = (event.site.dotted(given) or "").removeprefix("torch.")
    least = -_TINY if dtype in _SIGNED else 0
    numbers = [value for value in values if isinstance(value, (int, float))]
    if len(numbers) == len(values) and all(least <= value <= _TINY for value in numbers):
        return True
    if dtype in _HALVES and any(_FLOAT16 < abs(value) < math.inf for value in numbers):
        return False
    whole = dtype in _LONGS and number_type(event.site, number) != "float"
    return (dtype in _FLOATS or whole) and not _may_be_huge(number, values)


def _may_be_huge(number: ast.expr, values: set[object]) -> bool:
    """True for numbers that a fill refuses: beyond 64 bits or float32; powers may be any."""
    floats = [value for value in values if isinstance(value, float)]
    powers = (ast.Pow, ast.LShift)
    raised = any(isinstance(p, ast.BinOp) and isinstance(p.op, powers) for p in ast.walk(number))
    integers = [value for value in values if isinstance(value, int)]
    beyond = any(abs(value) >= _INTEGERS for value in integers)
    beyond = beyond or any(_FLOAT32 < abs(value) < math.inf for value in floats)
    return beyond or (raised and not integers)


def _whole(event: TensorFactory) -> bool:
    """True when all bounds of a range are surely integers."""
    bounds = [*event.call.args, *(k.value for k in event.call.keywords if k.arg in _BOUNDS)]
    return all(is_number(event.site.value(bound), "int") for bound in bounds)
