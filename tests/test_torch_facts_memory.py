"""The tables of memory, held against torch: does a result share memory with an argument?"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

pytest.importorskip("torch", reason="the tables are held against torch itself")

import torch

from tclint.torch_facts.memory import (
    ALLOCATING_FUNCTIONS,
    ALLOCATING_METHODS,
    DESCRIPTIONS,
    KEEPING_NO_ARGUMENT,
    KEEPING_RESULT,
    READING_METHODS,
    VIEW_METHODS,
    WRITING_NOTHING,
)
from tests.samples import one_in

_DTYPES = "float32 float64 float16 bfloat16 int64 uint8 bool complex64".split()
_SHAPES = ((), (1,), (3,), (0,), (1, 1), (3, 3), (1, 3), (2, 3, 3))
_OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"dim": 0}, {"dim": -1}, {"dim": 0, "keepdim": True}, {"dim": ()}, {"decimals": 0},
    {"min": 0}, {"max": 9}, {"min": -9, "max": 9}, {"nan": 0.0}, {"dim": 0, "dtype": torch.float32},
    {"reduction": "none"}, {"k": 1}, {"diagonal": -9}, {"p": 1},
)  # fmt: skip
_OTHERS: tuple[Callable[[Any], tuple[Any, ...]], ...] = (
    lambda x: (),
    lambda x: (0,),
    lambda x: (1,),
    lambda x: (x,),
    lambda x: (torch.ones((), dtype=x.dtype),),
    lambda x: (torch.zeros_like(x),),
    lambda x: (torch.ones(x.shape, dtype=torch.bool), 1),
    lambda x: (torch.ones(x.shape, dtype=torch.bool), x),
    lambda x: (torch.ones(x.shape, dtype=torch.bool),),
    lambda x: (x, x),
    lambda x: (0, torch.zeros(x.shape, dtype=torch.int64)),
    lambda x: (0, torch.arange(x.shape[0] if x.dim() else 1)),
    lambda x: (torch.zeros(x.shape, dtype=torch.int64),),
    lambda x: ([x],),
)
_CALLS = [*((_OTHERS[0], options) for options in _OPTIONS), *((o, {}) for o in _OTHERS[1:])]


def _tensors(value: object) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _tensors(member)


@dataclass(frozen=True, slots=True)
class _Call:
    """What to call a function with, and which calls are refused alike."""

    arguments: tuple[Any, ...]
    options: dict[str, Any]
    tensors: list[Any]
    memory: set[int]
    kind: tuple[Any, ...]
    text: str


@functools.cache
def _calls(*, leads: bool) -> list[_Call]:
    """Every combination, made once: the functions in the tables write nothing."""
    made = []
    for number, (dtype, shape) in enumerate(itertools.product(_DTYPES, _SHAPES)):
        x = torch.ones(shape).to(getattr(torch, dtype))
        for way, (others, options) in enumerate(_CALLS):
            arguments = (x, *others(x)) if leads else others(x)
            tensors = [*_tensors(arguments)]
            if number and not tensors:
                continue  # The same call as for the first tensor, which is no part of it.
            memory = {t.untyped_storage().data_ptr() for t in tensors} - {0}
            # Types are refused alike for all tensors but those that can stand for a number.
            numbers = [(t.dtype, t.shape) for t in tensors if t.numel() == 1]
            text = f"{dtype} {shape} {arguments[1:]} {options}"
            made.append(_Call(arguments, options, tensors, memory, (way, *numbers), text))
    return made


def _sharing(function: Callable[..., Any], *, leads: bool) -> tuple[int, list[str]]:
    """How many calls gave tensors, and those whose result has the memory of an argument."""
    calls, shared = 0, []
    refused = set()
    for call in _calls(leads=leads):
        if call.kind in refused:
            continue
        try:
            given = [*_tensors(function(*call.arguments, **call.options))]
        except TypeError:
            refused.add(call.kind)
            continue
        except Exception:  # noqa: BLE001 (most combinations are no calls at all)
            continue
        calls += len(given)
        same = any(t.untyped_storage().data_ptr() in call.memory for t in given)
        if same or any(t is a for t in given for a in call.tensors):
            shared.append(call.text)
    return calls, shared


@pytest.mark.parametrize("name", one_in(8, sorted(ALLOCATING_METHODS)))
def test_an_allocating_method_never_shares_memory_with_its_tensor(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls, shared = _sharing(getattr(torch.Tensor, name), leads=True)
    assert calls > 0
    assert shared == []


@pytest.mark.parametrize("name", one_in(8, sorted(ALLOCATING_FUNCTIONS)))
def test_an_allocating_function_never_shares_memory_with_an_argument(name: str) -> None:
    function: Any = torch
    for part in name.split(".")[1:]:
        function = getattr(function, part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls, shared = _sharing(function, leads=True)
        more_calls, more_shared = _sharing(function, leads=False)
    # One that wants other arguments than these is looked at below.
    assert calls + more_calls > 0 or name in _SPECIAL
    assert shared + more_shared == []


def _convolution(kind: str, rank: int) -> Any:
    image = torch.ones(1, 1, *[2] * rank)
    return getattr(torch.nn.functional, f"{kind}{rank}d")(image, image[..., :1])


def _indexed(name: str, *last: str) -> Any:
    places = torch.tensor([0, 1])
    return getattr(torch, name)(torch.ones(3), 0, places, torch.ones(2), *last)


_SPECIAL: dict[str, Callable[[], Any]] = {
    "torch.full": lambda: torch.full((2,), 1.0),
    "torch.nn.functional.pad": lambda: torch.nn.functional.pad(torch.ones(3), (0, 0)),
    "torch.linspace": lambda: torch.linspace(0, 1, 3),
    "torch.logspace": lambda: torch.logspace(0, 1, 3),
    "torch.randint": lambda: torch.randint(0, 2, (3,)),
    "torch.tril_indices": lambda: torch.tril_indices(2, 2),
    "torch.triu_indices": lambda: torch.triu_indices(2, 2),
    "torch.randint_like": lambda: torch.randint_like(torch.ones(2), 3),
    "torch.normal": lambda: torch.normal(torch.zeros(2), torch.ones(2)),
    "torch.multinomial": lambda: torch.multinomial(torch.ones(3), 1),
    "torch.index_fill": lambda: torch.index_fill(torch.ones(3), 0, torch.tensor([0, 1]), 2.0),
    **{
        f"torch.{name}": partial(_indexed, name, *last)
        for name, *last in (
            ("index_add",),
            ("index_copy",),
            ("scatter",),
            ("scatter_add",),
            ("scatter_reduce", "sum"),
        )
    },
    **{
        f"torch.nn.functional.{kind}{rank}d": partial(_convolution, kind, rank)
        for kind in ("conv", "conv_transpose")
        for rank in (1, 2, 3)
    },
    "torch.nn.functional.layer_norm": lambda: torch.nn.functional.layer_norm(torch.ones(3), (3,)),
    "torch.nn.functional.nll_loss": lambda: torch.nn.functional.nll_loss(
        torch.ones(2, 3), torch.zeros(2, dtype=torch.int64)
    ),
}


@pytest.mark.parametrize("name", sorted(_SPECIAL))
def test_a_function_with_arguments_of_its_own_gives_new_memory_each_time(name: str) -> None:
    one, other = _SPECIAL[name](), _SPECIAL[name]()
    assert one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr()


@pytest.mark.parametrize("name", sorted(WRITING_NOTHING))
def test_no_form_of_a_function_writes_its_arguments(name: str) -> None:
    forms = getattr(torch.ops.aten, name.removeprefix("torch."))
    for form in forms.overloads():
        arguments = getattr(forms, form)._schema.arguments
        written = [a for a in arguments if a.alias_info is not None and a.alias_info.is_write]
        assert all(a.is_out for a in written), form


@pytest.mark.parametrize("name", sorted(VIEW_METHODS | READING_METHODS | DESCRIPTIONS))
def test_every_name_is_one_of_tensors(name: str) -> None:
    assert hasattr(torch.Tensor, name)


@pytest.mark.parametrize("name", sorted(READING_METHODS))
def test_a_reading_method_gives_no_tensor(name: str) -> None:
    for arguments in ((), (torch.ones(1),)):
        try:
            value = getattr(torch.ones(1), name)(*arguments)
        except TypeError:
            continue
        assert not [*_tensors(value)]


@pytest.mark.parametrize("name", sorted(KEEPING_NO_ARGUMENT))
def test_autograd_keeps_what_the_table_says(name: str) -> None:
    assert not _keeps(name, 0)
    assert _keeps(name, 1) == (name in KEEPING_RESULT)


@pytest.mark.parametrize("name", ["abs", "clamp", "erf", "log", "nan_to_num", "sin", "square"])
def test_autograd_keeps_the_argument_of_what_is_not_in_the_table(name: str) -> None:
    assert name not in KEEPING_NO_ARGUMENT
    assert _keeps(name, 0)


def _keeps(name: str, place: int) -> bool:
    """True where a write into the argument, or the result, makes the backward pass raise."""
    given = torch.tensor([0.1, 0.2], requires_grad=True) * 1
    result = getattr(torch, name)(given, *([2] if name == "clamp" else []))
    with torch.no_grad():
        (given, result)[place].add_(0)
    try:
        result.sum().backward()
    except RuntimeError:
        return True
    return False
