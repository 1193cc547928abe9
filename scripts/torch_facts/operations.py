"""The rules by which the ranks and dtypes of results follow from arguments, for each overload.

Of all rules that `tclint.torch_facts.operations` knows, the simplest is taken that gives what torch
gave for every sampled call of the overload. Where there is none, the calls are divided by whether
an argument is given, or by a constant; what no rule tells then is not known.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

import torch
from torch import Tensor

from scripts.torch_facts.sampled import Call
from tclint.semantics import values
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.transfer import (
    DEFAULT,
    Bound,
    bind,
    condition_holds,
    dtype_by,
    rank_by,
)
from tclint.torch_facts import function_returns, method_returns
from tclint.torch_facts.operations import Overload, Parameter, Rule, rules

Fact = TypeVar("Fact", int, values.DType)
NAMESPACES = ("fft", "linalg", "special")
_FEWEST = 2
"""Fewer calls prove no rule."""
_FEWEST_FOR_A_RANK = 12
"""Fewer calls do not prove that a result always has so many dimensions."""
_OFTEN = 0.3
"""The share of calls of which a rule has to say something."""
_SHIFTS = ("", " +1", " -1", " +2", " -2")
_UNKNOWN = "?"


@dataclass(frozen=True)
class _Seen:
    """A call of an overload: its arguments, and the rank and the dtype of one of its results."""

    bound: Bound
    rank: int
    dtype: values.DType | None


def operations(calls: dict[str, list[Call]]) -> dict[str, list[str]]:
    """The overloads of each function and method, as the table has them."""
    found: dict[str, list[str]] = {}
    for key, made in sorted(calls.items()):
        rows = [row for row in _rows(key, made) if not row.endswith("-> ? | ?")]
        rows = [row for row in rows if re.search(r":[tT]", row)]  # else it makes a tensor of none
        if rows and found.get(key.removeprefix("torch.")) != rows:
            found[key] = rows
    return found


def _rows(key: str, calls: list[Call]) -> Iterator[str]:
    groups: dict[int, _Group] = defaultdict(list)
    overloads = signatures(key)
    for call in filter(attrgetter("results"), calls):
        given = Arguments(call.positional, dict(call.keywords))
        bounds = (bind(one, given, typed=len(overloads) > 1) for one in overloads)
        number, bound = next(((n, b) for n, b in enumerate(bounds) if b is not None), (-1, None))
        if bound is not None:
            groups[number].append((bound, call))
    each = _gives_a_list(key)
    for number, group in sorted(groups.items()):
        overload = overloads[number]
        parameters = " ".join(map(_written, overload.parameters))
        if each or overload.each or any(call.listed for _, call in group):
            seen = [_Seen(bound, *one) for bound, call in group for one in call.results]
            yield f"{parameters} -> each {_told(overload, seen)}"
        else:
            for condition, members in _by_count(overload, group):
                yield f"{parameters}{condition} -> {_columns(overload, members)}"


_Group = list[tuple[Bound, Call]]


def _gives_a_list(key: str) -> bool:
    kind = function_returns(key) if "." in key else method_returns(key)
    return kind == "tensors"


def _columns(overload: Overload, group: _Group) -> str:
    columns = (
        [_Seen(bound, *call.results[place]) for bound, call in group]
        for place in range(len(group[0][1].results))
    )
    return " , ".join(_told(overload, column) for column in columns)


def _by_count(overload: Overload, group: _Group) -> Iterator[tuple[str, _Group]]:
    """The calls by how many results they have, with the condition that tells it."""
    counts = {len(call.results) for _, call in group}
    if len(counts) == 1:
        yield "", group
        return
    for one in overload.parameters:
        condition = (one.name, "True")
        parts: dict[bool | None, _Group] = {True: [], False: [], None: []}
        for bound, call in group:
            parts[condition_holds(condition, bound)].append((bound, call))
        alike = all(len({len(call.results) for _, call in part}) == 1 for part in
                    (parts[True], parts[False]))  # fmt: skip
        if alike and not parts[None]:
            yield f" if {'='.join(condition)}", parts[True]
            yield "", parts[False]
            return


def _written(one: Parameter) -> str:
    return f"{'*' if one.by_name else ''}{one.name}:{one.kind}{'?' if one.optional else ''}"


def _told(overload: Overload, seen: list[_Seen]) -> str:
    if len(seen) < _FEWEST:
        return f"{_UNKNOWN} | {_UNKNOWN}"
    rank = _induced(overload, seen, [*_ranks(overload)], _gives_rank)
    dtype = _induced(overload, seen, [*_dtypes(overload, seen)], _gives_dtype)
    return f"{rank} | {dtype}"


def _induced(
    overload: Overload,
    seen: list[_Seen],
    candidates: list[str],
    gives: Callable[[Rule, _Seen], bool | None],
    depth: int = 2,
) -> str:
    """The simplest rules for what was seen; ``?`` where there are none."""
    for rule in candidates:
        if _holds(rule, seen, gives):
            return rule
    for condition in _conditions(overload, seen) if depth else ():
        holds = [condition_holds(condition, one.bound) for one in seen]
        if None in holds:
            continue
        inside = [one for one, yes in zip(seen, holds, strict=True) if yes]
        outside = [one for one, yes in zip(seen, holds, strict=True) if not yes]
        if min(len(inside), len(outside)) < _FEWEST:
            continue
        first = _induced(overload, inside, candidates, gives, 0)
        rest = _UNKNOWN
        if first != _UNKNOWN:
            rest = _induced(overload, outside, candidates, gives, depth - 1)
        if rest != _UNKNOWN:
            return f"if {'='.join(condition)} {first}; {rest}"
    return _UNKNOWN


def _holds(rule: str, seen: list[_Seen], gives: Callable[[Rule, _Seen], bool | None]) -> bool:
    """Whether a rule says something of most calls, and of none what is not so."""
    (parsed,) = rules(rule)
    fixed = parsed.how == "constant" and parsed.words[0].isdigit() and parsed.words != ("0",)
    if fixed and len(seen) < _FEWEST_FOR_A_RANK:
        return False
    count = 0
    for one in seen:
        told = gives(parsed, one)
        if told is False:
            return False
        count += told is True
    return count >= _OFTEN * len(seen)


def _gives_rank(rule: Rule, one: _Seen) -> bool | None:
    given = rank_by(rule, one.bound)
    return None if given is None else given == one.rank


def _gives_dtype(rule: Rule, one: _Seen) -> bool | None:
    given = dtype_by(rule, one.bound, lambda dtype: dtype)
    if given is None and rule.how == "argument":
        return False
    if given is None or one.dtype is None or given.symbol.startswith("~"):
        return None
    return (values.DType("float32", "float") if given == DEFAULT else given) == one.dtype


def _conditions(overload: Overload, seen: list[_Seen]) -> Iterator[tuple[str, ...]]:
    for one in overload.parameters:
        if one.optional:
            yield (one.name,)
    for one in overload.parameters:
        if one.kind in "bso":
            given = {v for s in seen if isinstance(v := s.bound.get(one.name), values.Static)}
            words = {str(v.value) for v in given if v.known and " " not in str(v.value)}
            yield from ((one.name, word) for word in sorted(words - {"", "None"}))


def _ranks(overload: Overload) -> Iterator[str]:
    tensors, lists, sizes = (_named(overload, kind) for kind in ("t", "T", "l"))
    for name in tensors:
        yield f"rank {name}"
    for several in _groups(tensors):
        yield f"broadcast {' '.join(several)}"
    yield from (f"matmul {one} {other}" for one, other in itertools.pairwise(tensors))
    yield from (f"members {name}{shift}" for name in lists for shift in _SHIFTS)
    yield "constant 0"
    yield from (f"rank {name}{shift}" for name in tensors for shift in _SHIFTS[1:])
    yield from (f"constant {count}" for count in range(1, 6))
    dims = [one.name for one in overload.parameters if one.name in ("dim", "dims")]
    kept = "keepdim" if "keepdim" in [one.name for one in overload.parameters] else ""
    names = [one.name for one in overload.parameters]
    if "start_dim" in names and tensors:
        yield f"flattened {tensors[0]} start_dim end_dim"
    for name, dim in itertools.product(tensors[:1], dims):
        yield f"reduced {name} {dim} {kept}".rstrip()
    for size in (*sizes, *_named(overload, "o"), *lists):
        yield f"length {size}"
        yield from (f"longer {name} {size}" for name in tensors[:1])
    yield from (f"equation {name}" for name in _named(overload, "s") if name == "equation")


def _dtypes(overload: Overload, seen: list[_Seen]) -> Iterator[str]:
    lists = _named(overload, "T")
    tensors = [*_named(overload, "t"), *lists]
    numbers = [*_named(overload, "n"), *_named(overload, "o")]
    for name in tensors:
        yield f"{'promoted' if name in lists else 'same'} {name}"
    yield from (f"same {name}" for name in lists)
    yield from (f"argument {name}" for name in _named(overload, "d"))
    for how in ("promoted", "floating", "sum"):
        for several in (
            *((name,) for name in tensors),
            *_groups(tensors),
            *_beside(tensors, numbers),
        ):
            complexes = how == "floating" and any(_is_complex(one) for one in seen)
            yield f"{'inexact' if complexes else how} {' '.join(several)}"
    for several in (*((name,) for name in tensors), *_groups(tensors)):
        yield from (f"{how} {' '.join(several)}" for how in ("real", "complex"))
    yield from (
        f"constant {name}"
        for name in sorted({one.dtype.symbol for one in seen if one.dtype is not None})
    )


def _is_complex(one: _Seen) -> bool:
    return one.dtype is not None and one.dtype.category == "complex"


def _groups(names: list[str]) -> Iterator[tuple[str, ...]]:
    for count in range(2, len(names) + 1):
        yield from itertools.combinations(names, count)


def _beside(tensors: list[str], numbers: list[str]) -> Iterator[tuple[str, ...]]:
    yield from itertools.product(tensors[:1], numbers)
    if len(numbers) > 1:
        yield from ((*tensors[:1], *pair) for pair in itertools.combinations(numbers, 2))


def _named(overload: Overload, kind: str) -> list[str]:
    return [one.name for one in overload.parameters if one.kind == kind]


def signatures(key: str) -> list[Overload]:
    """The overloads of a function or method; of one in Python the only one."""
    module, _, name = key.rpartition(".")
    owner = importlib.import_module(module) if module else Tensor
    function = getattr(owner, name, None)
    if name.startswith("max_pool") or "adaptive_max_pool" in name:
        function = getattr(owner, f"_{name}", function)  # one of two, by `return_indices`
    if inspect.isfunction(function):
        parameters = inspect.signature(function).parameters.values()
        if all(one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
            returns = str(inspect.signature(function).return_annotation)
            each = "List" in returns or "..." in returns
            return [Overload(tuple(map(_in_python, parameters)), (), each)]
    space = module.removeprefix("torch.")
    operator = f"{space}_{name}" if space in NAMESPACES else name
    return [_of_schema(schema) for schema in _schemas().get(operator, ())]


def _of_schema(schema: Any) -> Overload:
    parameters = (
        Parameter(
            "input" if one.name == "self" else one.name,
            _SETTINGS.get(one.name) or kind_of(str(one.type)),
            one.has_default_value() or isinstance(one.type, torch._C.OptionalType),
            one.kwarg_only,
        )
        for one in schema.arguments
    )
    returns = [str(one.type) for one in schema.returns]
    return Overload(tuple(parameters), (), returns == ["List[Tensor]"])


def _in_python(one: inspect.Parameter) -> Parameter:
    optional = one.default is not one.empty
    name = "input" if one.name == "self" else one.name
    kind = _SETTINGS.get(name) or ("t" if name == "input" else kind_of(str(one.annotation)))
    return Parameter(name, kind, optional, one.kind is one.KEYWORD_ONLY)


def kind_of(annotation: str) -> str:
    """The letter of `Parameter.kind` for a type."""
    text = re.sub(r"Optional\[(.*)\]", r"\1", annotation).replace("torch.", "").strip("'\"")
    if "Tensor" in text:
        several = re.search(r"List|Sequence|Tuple|\[\]", text, re.IGNORECASE)
        return "T" if several else "o" if "|" in text.replace("| None", "") else "t"
    if re.search(r"BroadcastingList|List\[int|int\[|Sequence\[int|_size|Size\b", text):
        return "l"
    words = {"int": "i", "SymInt": "i", "float": "n", "number": "n", "Scalar": "n", "bool": "b"}
    named = re.fullmatch(r"(?:<class ')?(\w+)(?:'>)?(?: \| None)?", text)
    word = named[1] if named else ""
    return words.get(word) or {"str": "s", "dtype": "d", "_dtype": "d", "DType": "d"}.get(word, "o")


def _schemas() -> dict[str, list[Any]]:
    if not _SCHEMAS:
        for schema in torch._C._jit_get_all_schemas():
            written = "out" in schema.overload_name.split("_") or any(
                one.is_out for one in schema.arguments
            )
            if schema.name.startswith("aten::") and not written:
                _SCHEMAS[schema.name.removeprefix("aten::")].append(schema)
    return _SCHEMAS


_SETTINGS = {"dtype": "d", "out_dtype": "d", "layout": "o", "memory_format": "o"}
"""What schemas take for numbers."""
_SCHEMAS: dict[str, list[Any]] = defaultdict(list)
