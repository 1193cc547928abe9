"""Which calls compute each element of their result from the elements at its place alone.

torch tags its operators so. A function of torch may run several of them, and others for other
arguments (``max(x)`` reduces, ``max(x, y)`` does not): so it is called, and every operator that
runs below has to be tagged. What has no tag is taken apart by torch's own decomposition.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from scripts.torch_facts.behaviour import FAILURES, Operation

FORMS = ("t", "tt", "ttt", "tn", "nt", "tnn", "tnt", "ttn")
"""The arguments by their places: ``t`` is a tensor, ``n`` a number, a dtype or the like."""
_SHAPES = ((), (3,), (3, 5), (2, 3, 4))
_NUMBERS = (0.5, 1, torch.float64)
_DTYPES = (torch.float32, torch.int32, torch.bool)
_NEUTRAL = frozenset(
    "_to_copy alias clone convert_element_type detach full_like lift_fresh ones_like to "
    "zeros_like".split()
)
"""Operators without a tag that copy a tensor, or fill one like it with a number."""
_DRAWING = frozenset({"generator", "train", "training"})
"""Parameters of functions that draw random numbers, if only when told to."""


class _OtherwiseError(Exception):
    """An operator that is not pointwise, or that writes to what it is given."""


class _Watch(TorchDispatchMode):
    """Raises where an operator runs that may compute an element from others."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        name = func._schema.name.partition("::")[2]
        random = torch.Tag.nondeterministic_seeded in func.tags
        if random or func._schema.is_mutable or name.startswith("empty"):
            raise _OtherwiseError
        tensors = any(isinstance(one, Tensor) for one in (*args, *given.values()))
        if torch.Tag.pointwise in func.tags or name in _NEUTRAL or not tensors:
            return func(*args, **given)
        if func not in decomposition_table:
            raise _OtherwiseError
        with self:
            return decomposition_table[func](*args, **given)


def pointwise(operations: Mapping[str, Operation]) -> dict[str, str]:
    """The forms in which each call is pointwise: ``"tt tn"``. Layers have one form."""
    conversions = {"to": torch.Tensor.to, "type": torch.Tensor.type}
    asked = {**operations, **conversions, **_layers()}
    found: dict[str, str] = {}
    for name, call in sorted(asked.items()):
        if name.endswith("_") or _may_draw(call):
            continue
        forms = [form for form in FORMS if _is_pointwise(call, form)]
        if forms:
            found[name] = " ".join(forms)
    return found


def _layers() -> dict[str, Operation]:
    """The layers of torch that are made without arguments and have no parameters."""
    found: dict[str, Operation] = {}
    for name in torch.nn.modules.__all__:
        try:
            layer = getattr(torch.nn, name)()
        except FAILURES:
            continue
        empty = isinstance(layer, torch.nn.Sequential)  # it is what it is made of
        if isinstance(layer, torch.nn.Module) and not layer.state_dict() and not empty:
            found[f"torch.nn.{name}"] = layer
    return found


def _may_draw(operation: Operation) -> bool:
    try:
        return not _DRAWING.isdisjoint(inspect.signature(operation).parameters)
    except (TypeError, ValueError):  # built in: its operators are tagged
        return False


def _is_pointwise(operation: Operation, form: str) -> bool:
    """True where calls of this form work, and all that do are pointwise."""
    ranks = set()
    for shape, arguments in _calls(form):
        try:
            result = _watched(operation, arguments)
        except FAILURES:  # not a call that torch takes
            continue
        except _OtherwiseError:
            return False
        if not isinstance(result, Tensor) or result.shape != shape:
            return False
        ranks.add(len(shape))
    return ranks == {len(shape) for shape in _SHAPES}


def _calls(form: str) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
    for shape in _SHAPES:
        for number in _NUMBERS if "n" in form else (0.5,):
            for first in _DTYPES:
                for rest in _DTYPES if form.count("t") > 1 else (first,):
                    kinds = iter([first, *[rest] * len(form)])
                    yield (
                        shape,
                        [
                            torch.ones(shape, dtype=next(kinds)) if one == "t" else number
                            for one in form
                        ],
                    )


def _watched(operation: Operation, arguments: list[Any]) -> object:
    with warnings.catch_warnings(), _Watch():
        warnings.simplefilter("ignore")
        return operation(*arguments)
