"""Calls of torch with all kinds of arguments, and the ranks and dtypes that they give.

torch's own tests have samples of the arguments of its operations. What a call of theirs reaches, a
function or a method of torch, is called with them, and again with one argument changed: a tensor of
another rank or dtype, another number, a keyword that was not given. Most of these calls fail, and
those that work tell what a result follows from. Some functions check too little, and write where
they should not: each operation is tried in a process of its own.
"""

from __future__ import annotations

import inspect
import itertools
import math
import os
import pickle
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves, tree_map_only

from scripts.torch_facts.behaviour import FAILURES, SHAPES
from tclint.records import record
from tclint.semantics import values
from tclint.torch_facts.dtypes import DTYPES
from tclint.torch_facts.table import canonical

KINDS = (torch.float32, torch.int64, torch.complex64, torch.bool)
_MOST = 60
"""Samples of an operation and a dtype."""
_CHANGED = 12
"""So many of them, of those that differ, are changed."""
_LARGEST = 1_000_000
_OTHERS = (torch.float64, torch.int64, torch.float16, torch.bool, torch.complex64)
_CONVERTED = (
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.bfloat16,
    torch.complex32,
    torch.complex128,
)
_ADDED = {
    "keepdim": (True,),
    "dtype": (torch.float64,),
    "reduction": ("none", "sum"),
    "inplace": (True,),
}

Function = Callable[..., object]
Named = dict[str, Any]
Heard = tuple[str, Function, tuple[Any, ...], Named]


@record(frozen=True)
class Call:
    """A call that worked, and the ranks and dtypes of the tensors that it gave.

    None of them where the call was made for its effects alone, with tensors of a rare dtype.
    ``listed`` where they are members of a list, whose length says nothing. ``effects`` are what it
    did besides: ``shares`` an argument's memory, ``writes`` an argument, ``draws`` random numbers,
    ``checks`` the numbers in its arguments: it raises for others, or ``computes`` with any.
    """

    positional: tuple[values.Value, ...]
    keywords: tuple[tuple[str, values.Value], ...]
    results: tuple[tuple[int, values.DType | None], ...]
    listed: bool
    effects: frozenset[str]


class _Listener(TorchFunctionMode):
    """Hears which functions of torch are called, except by other functions of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Heard] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        name = resolve_name(func)
        if name is not None and name.startswith("torch.") and "__" not in name:
            self.heard.append((name, func, tuple(args), dict(given)))
        return func(*args, **given)


def sampled(operations: Mapping[str, Function]) -> dict[str, list[Call]]:
    """Calls by the function (dotted) or the method of tensors (bare).

    Those of ``operations`` that torch's tests have under another name are called with one tensor,
    with two, and with a tensor and numbers.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    resolve_name(torch.add)  # collects the names of all functions, here for all processes
    found: dict[str, set[Call]] = defaultdict(set)
    for operation in op_db:
        told = _in_child(lambda: _of(operation, changed=True))  # noqa: B023
        told = told or _in_child(lambda: _of(operation, changed=False)) or {}  # noqa: B023
        for key, calls in told.items():
            found[key] |= calls
    found["torch.einsum"] |= {*_called(torch.einsum, ("ij->ji", torch.ones(2, 3)), {})}
    others = {name: one for name, one in operations.items() if name not in found}
    for name, function in others.items():
        if not name.endswith("_"):  # what writes in place gives its tensor
            found |= _in_child(lambda: {name: {*_plain(function)}})  # noqa: B023
    return {key: sorted(calls, key=repr) for key, calls in found.items() if calls}


def _plain(function: Function) -> Iterator[Call]:
    for shape, dtype in itertools.product(SHAPES, KINDS):
        first, other = (torch.ones(shape, dtype=dtype) for _ in range(2))
        for given in ((first,), (first, other), ([first, other],), (first, 1), (first, 0, 1)):
            yield from _called(function, given, {})
            for arguments, keywords in _changed(function, given, {}):
                yield from _called(function, arguments, keywords)


def _in_child(work: Callable[[], dict[str, set[Call]]]) -> dict[str, set[Call]]:
    """What a function gives in a process of its own; nothing where that dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with warnings.catch_warnings(), os.fdopen(writing, "wb") as pipe:
            warnings.simplefilter("ignore")
            pickle.dump(work(), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    calls = pickle.loads(told) if status == 0 else {}
    return {key: {*map(_restored, several)} for key, several in calls.items()}


def _restored(call: Call) -> Call:
    """A call from another process, with the values of which there is one."""
    keywords = tuple((name, _single(value)) for name, value in call.keywords)
    positional = tuple(map(_single, call.positional))
    return Call(positional, keywords, call.results, call.listed, call.effects)


def _single(value: values.Value) -> values.Value:
    if isinstance(value, values.Sequence):
        return values.Sequence(value.type, items=tuple(map(_single, value.items or ())))
    there = (one for one in (values.NONE, values.UNKNOWN) if one == value)
    return next(there, value)


def _of(operation: Any, *, changed: bool) -> dict[str, set[Call]]:
    found: dict[str, set[Call]] = defaultdict(set)
    seen: set[object] = set()
    counts: Counter[object] = Counter()
    for dtype in KINDS:
        for name, function, arguments, keywords in _samples(operation, dtype):
            key = canonical(name).removeprefix("torch.Tensor.")
            if _is_new(seen, key, arguments, keywords):
                if key not in found:
                    for given, named in _converted(arguments, keywords):
                        found[key] |= {
                            replace(call, results=()) for call in _called(function, given, named)
                        }
                counts[key, dtype] += 1
                few = changed and counts[key, dtype] <= _CHANGED
                made = _called(function, arguments, keywords)
                more = {_checks(function, arguments, keywords)} if few else set()
                found[key] |= {replace(one, effects=one.effects | more) for one in made}
                for given, named in _changed(function, arguments, keywords) if few else ():
                    if _is_new(seen, key, given, named):
                        found[key] |= {*_called(function, given, named)}
    return found


def _samples(operation: Any, dtype: torch.dtype) -> Iterator[Heard]:
    samples = operation.sample_inputs("cpu", dtype) if dtype in operation.dtypes else ()
    for sample in itertools.islice(samples, _MOST):
        yield from heard(operation, sample)


def heard(operation: Any, sample: Any) -> Iterator[Heard]:
    """The calls that a sample of one of torch's tests makes: as a function, as a method."""
    names = (operation, *operation.aliases)
    spellings = [one for name in names for one in (name.op, name.method_variant)]
    for spelling in filter(None, spellings):
        yield from _heard(spelling, sample)


def _is_new(seen: set[object], key: str, arguments: tuple[Any, ...], keywords: Named) -> bool:
    named = tuple((name, value_of(value)) for name, value in sorted(keywords.items()))
    kind = key, tuple(map(value_of, arguments)), named
    return kind not in seen and not seen.add(kind)  # type: ignore[func-returns-value]


def _heard(spelling: Function, sample: Any) -> list[Heard]:
    listener = _Listener()
    try:
        with listener:
            spelling(sample.input, *sample.args, **sample.kwargs)
    except (*FAILURES, NotImplementedError):
        return []
    return listener.heard


def _called(
    function: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Iterator[Call]:
    result, effects = _with_effects(function, arguments, keywords)
    if isinstance(result, torch.linalg.LinAlgError):  # there is no solution for these numbers
        mode = FakeTensorMode()
        given, named = tree_map_only(Tensor, mode.from_tensor, (arguments, keywords))
        result = _result(function, given, named)
    several = result if isinstance(result, (tuple, list)) else (result,)
    if not several or not all(_is_plain(one) for one in several):
        return
    yield Call(
        tuple(map(value_of, arguments)),
        tuple((name, value_of(value)) for name, value in sorted(keywords.items())),
        tuple((one.dim(), dtype_of(one)) for one in several),
        isinstance(result, list),
        effects,
    )


def _with_effects(
    function: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[object, frozenset[str]]:
    """What a call with copies of the tensors gives, and what it did besides."""
    copies, named = tree_map_only(Tensor, torch.clone, (arguments, keywords))
    given = _tensors((copies, named))
    versions, drawn = [one._version for one in given], torch.default_generator.get_state()
    result = _result(function, copies, named)
    memory, made = {*map(storage, given)}, _tensors(result)
    effects = {
        "shares": any(storage(one) in memory for one in made)
        or any(one is other for one in made for other in given),
        "writes": versions != [one._version for one in given],
        "draws": not torch.equal(drawn, torch.default_generator.get_state()),
    }
    return result, frozenset(name for name, happened in effects.items() if happened)


def _tensors(values_given: object) -> list[Tensor]:
    return [one for one in tree_leaves(values_given) if isinstance(one, Tensor)]


def _checks(function: Function, arguments: tuple[Any, ...], keywords: Named) -> str:
    """Whether the same call raises where its tensors hold other numbers: it checks, or computes."""
    for number in (0, -1, 1_000_000, math.nan):
        given, named = tree_map_only(
            Tensor,
            lambda one: _filled(one, number),  # noqa: B023
            (arguments, keywords),
        )
        if isinstance(_result(function, given, named), Exception):
            return "checks"
    return "computes"


def _filled(tensor: Tensor, number: float) -> Tensor:
    """A tensor of the same kind that holds the number, or the nearest that it can hold."""
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        return torch.full_like(tensor, number)
    if math.isnan(number) or tensor.dtype == torch.bool:
        return tensor.clone()
    limits = torch.iinfo(tensor.dtype)
    return torch.full_like(tensor, min(max(int(number), limits.min), limits.max))


def storage(tensor: Tensor) -> int:
    """Where its memory is; of a tensor of no layout, and of a fake one, nothing that meets it."""
    try:
        return tensor.untyped_storage().data_ptr() or -id(tensor)
    except (RuntimeError, NotImplementedError):
        return -id(tensor)


def _result(function: Function, arguments: tuple[Any, ...], keywords: Named) -> object:
    """What a call gives, or the error that it ends with."""
    try:
        return function(*arguments, **keywords)
    except (*FAILURES, NotImplementedError, OverflowError) as error:
        return error


def _is_plain(result: object) -> bool:
    return isinstance(result, Tensor) and result.layout == torch.strided


Given = tuple[tuple[Any, ...], dict[str, Any]]


def _changed(
    function: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Iterator[Given]:
    """The arguments with another one in one place."""
    for place, one in enumerate(arguments):
        for other in _other(one):
            yield (*arguments[:place], other, *arguments[place + 1 :]), keywords
    for name, one in keywords.items():
        yield from ((arguments, {**keywords, name: other}) for other in _other(one))
    yield tree_map_only(Tensor, lambda one: one[None], arguments), keywords
    yield tree_map_only(Tensor, _as_double, (arguments, keywords))
    for name in _added(function) - keywords.keys():
        yield from ((arguments, {**keywords, name: other}) for other in _ADDED[name])


def _converted(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[Given]:
    """The same call with tensors of every other dtype."""
    for dtype in _CONVERTED:
        yield tree_map_only(Tensor, lambda one: one.to(dtype), (arguments, keywords))  # noqa: B023


def _as_double(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _added(function: Function) -> set[str]:
    try:
        return {*_ADDED} & {*inspect.signature(function).parameters}
    except (TypeError, ValueError):  # built in
        return {"keepdim", "dtype"}


def _other(value: object) -> Iterator[object]:
    if isinstance(value, Tensor) and value.layout == torch.strided:
        plain = value.detach()
        yield plain[None]
        if plain.numel():
            yield plain.reshape(-1)[0]
        if plain.dim():
            yield plain[0] if plain.shape[0] else plain.sum(0)
        yield from (plain.to(dtype) for dtype in _OTHERS if dtype != plain.dtype)
    elif type(value) in (list, tuple) and value:
        for other in _other(value[0]):  # type: ignore[index]
            yield type(value)([other, *value[1:]])  # type: ignore[call-arg, index]
    elif isinstance(value, bool):
        yield not value
    elif type(value) is int and abs(value) < _LARGEST:
        yield from {value + 1, value - 1, 0, 1, 2, -1} - {value}
        yield float(value)
    elif type(value) is float and math.isfinite(value):
        yield int(value)


def dtype_of(tensor: Tensor) -> values.DType | None:
    """The dtype of a tensor, as the analysis has it."""
    name = str(tensor.dtype).removeprefix("torch.")
    return values.DType(name, DTYPES[name]) if name in DTYPES else None


def value_of(given: object) -> values.Value:
    """What the analysis knows of an argument that is written out."""
    if isinstance(given, Tensor):
        return values.Tensor(given.dim(), dtype_of(given))
    if isinstance(given, (tuple, list)):
        return values.Sequence(type(given).__name__, items=tuple(map(value_of, given)))
    if isinstance(given, torch.dtype):
        return values.External(str(given))
    if given is None or isinstance(given, (bool, int, float, str, complex)):
        return values.constant(given)
    return values.UNKNOWN
