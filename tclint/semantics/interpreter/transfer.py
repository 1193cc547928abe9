"""How many dimensions and which dtype results have: the table of operations, applied to a call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from tclint.records import record
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.operators import (
    DEFAULT,
    INT64,
    binary,
    derived,
    named_dtype,
    product_rank,
)
from tclint.semantics.lattice import options, present
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    DataScalar,
    DType,
    External,
    Guess,
    NumpyScalar,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
)
from tclint.torch_facts.dtypes import DTYPES, PARTS, WHOLES
from tclint.torch_facts.operations import Overload, Parameter, Rule, overloads

_NUMBERS: Final = {"int": "inlo", "bool": "bino", "float": "no", "complex": "no", "str": "so"}
"""The kinds of parameters that take a constant of a type."""
_MISSING: Final = Static("missing")

_Fact = TypeVar("_Fact", int, DType)
Bound = dict[str, Value]
Widening = Callable[[DType | None], DType | None]


@record(frozen=True)
class Given:
    """The rank and the dtype of one result, None where it is not known."""

    rank: int | None
    dtype: DType | None


@record(frozen=True)
class Answer:
    """The results of a call; ``each`` where the only one stands for all members of a list."""

    results: tuple[Given, ...]
    each: bool = False


def answer(key: str, arguments: Arguments, widened: Widening) -> Answer | None:
    """What a call gives, as far as all overloads that it may mean agree.

    No result where they do not agree how many there are; None for what is in no table. The dtypes
    of tensors are first ``widened``, as autocast does.
    """
    rows = overloads(key)
    found: list[Answer] = []
    for overload in rows:
        bound = bind(overload, arguments, typed=len(rows) > 1)
        holds = bound is not None and condition_holds(overload.condition, bound)
        if bound is None or holds is False:
            continue
        found.append(applied(overload, bound, widened))
        if holds and overload.condition:
            break  # what stands behind it is for all other cases
    if len(found) < 2:
        return found[0] if found else None
    if any((len(one.results), one.each) != (len(found[0].results), found[0].each) for one in found):
        return Answer(())
    results = zip(*(one.results for one in found), strict=True)
    return Answer(tuple(map(_agreed, results)), found[0].each)


def _agreed(given: tuple[Given, ...]) -> Given:
    first = given[0]
    rank = first.rank if all(one.rank == first.rank for one in given) else None
    dtype = first.dtype if all(one.dtype == first.dtype for one in given) else None
    return Given(rank, dtype)


def bind(overload: Overload, arguments: Arguments, *, typed: bool = True) -> Bound | None:
    """The arguments by the parameters of an overload; None where they are none of its calls.

    Only where there are several are they told apart by what they take (``typed``).
    """
    places = [one for one in overload.parameters if not one.by_name]
    given = arguments.positional
    last = places[-1].kind if places else ""
    if len(given) > len(places) and (last == "T" or (last == "l" and len(places) == 2)):
        kept = len(places) - 1  # `x.view(2, 3)`, `torch.einsum("ij,jk->ik", x, y)`
        given = (*given[:kept], Sequence("tuple", items=given[kept:]))
    if len(given) > len(places):
        return None
    bound = {one.name: value for one, value in zip(places, given, strict=False)}
    names = {one.name for one in overload.parameters}
    for keyword, value in arguments.keywords.items():
        name = "dim" if keyword == "axis" else keyword  # numpy's word
        if name in bound or name not in names:
            return None
        bound[name] = value
    for one in overload.parameters:
        value = bound.get(one.name, _MISSING)
        if value is _MISSING:
            if not arguments.exact:
                bound[one.name] = UNKNOWN
            elif not one.optional:
                return None
        elif typed and not any(_takes(one, option) for option in options(value)):
            return None
    return bound


def _takes(parameter: Parameter, value: Value) -> bool:
    """Whether a parameter takes a value, as far as that is known."""
    kind = parameter.kind
    if value is UNKNOWN or kind == "o":
        return True
    if value is NONE:
        return parameter.optional
    match value:
        case Tensor():
            return kind == "t" or value.guess is Guess.UNFOUNDED
        case Static(type=None):
            return kind not in "tT"
        case Static(type=name):
            return kind in _NUMBERS.get(name or "", "")
        case SymInt() | DataScalar() | NumpyScalar():
            return kind in "inl"
        case Sequence():
            members = value.items if value.items is not None else (value.element,)
            wanted = Parameter("", {"T": "t", "l": "i"}.get(kind, ""))
            return kind in "Tl" and all(
                any(_takes(wanted, option) for option in options(one)) for one in members
            )
        case External():
            return kind == "d" and named_dtype(value) is not None
    return False


def applied(overload: Overload, bound: Bound, widened: Widening) -> Answer:
    """What an overload gives for its arguments."""
    results = (
        Given(
            _settled(one.rank, bound, lambda rule: rank_by(rule, bound)),
            _settled(one.dtype, bound, lambda rule: dtype_by(rule, bound, widened)),
        )
        for one in overload.results
    )
    return Answer(tuple(results), overload.each)


def _settled(
    rules: tuple[Rule, ...], bound: Bound, value: Callable[[Rule], _Fact | None]
) -> _Fact | None:
    """What the first rule that applies gives, or all those that may apply."""
    if len(rules) == 1 and not rules[0].condition:
        return value(rules[0])
    found: list[_Fact | None] = []
    for rule in rules:
        holds = condition_holds(rule.condition, bound)
        if holds is False:
            continue
        found.append(value(rule))
        if holds:
            break
    return found[0] if found and all(one == found[0] for one in found) else None


def condition_holds(condition: tuple[str, ...], bound: Bound) -> bool | None:
    """Whether a rule's condition holds; None where that is not known."""
    if not condition:
        return True
    value = bound.get(condition[0], _MISSING)
    if len(condition) == 1:
        if value is _MISSING or value is NONE:
            return False
        return None if value is UNKNOWN or NONE in options(value) else True
    if value is _MISSING:
        return False
    known = isinstance(value, Static) and value.known
    return str(value.value) == condition[1] if known else None  # type: ignore[attr-defined]


def rank_by(rule: Rule, bound: Bound) -> int | None:
    """The rank by a rule; None where it is not known."""
    words, shift = rule.words, rule.shift
    given = [bound.get(word, _MISSING) for word in words]
    match rule.how:
        case "constant":
            return int(words[0])
        case "rank":
            return _shifted(_rank(given[0]), shift)
        case "members":
            return _shifted(_only(map(_rank, _members(given[0]))), shift)
        case "broadcast":
            return _most([_rank(one) for one in given if one not in (_MISSING, NONE)])
        case "matmul":
            return product_rank(_rank(given[0]), _rank(given[1]))
        case "length":
            return _shifted(_length(given[0]), shift)
        case "longer":
            return _most([_rank(given[0]), _length(given[1])])
        case "reduced":
            return _reduced(*given)
        case "flattened":
            return _flattened(*given)
        case "equation":
            return _of_equation(given[0])
    return None


def dtype_by(rule: Rule, bound: Bound, widened: Widening) -> DType | None:
    """The dtype by a rule; None where it is not known."""
    if rule.how == "constant":
        return DType(rule.words[0], DTYPES[rule.words[0]])
    given = [one for word in rule.words if (one := bound.get(word, NONE)) is not NONE]
    if rule.how == "argument":
        return named_dtype(given[0]) if given else None
    if rule.how == "same" and not _is_alike(given):
        return None
    dtype = _promoted(given, widened)
    if rule.how in ("same", "promoted") or dtype is None:
        return dtype
    return made_of(rule.how, dtype)


def made_of(how: str, dtype: DType) -> DType | None:
    """The dtype that a rule makes of another."""
    match how, dtype.category:
        case "real", "complex":
            part = PARTS.get(dtype.symbol)
            return None if part is None else DType(part, "float")
        case "real", _:
            return None if dtype.category is None else dtype
        case "complex", "complex":
            return dtype
        case "complex", _:
            whole = WHOLES.get(dtype.symbol)
            return None if whole is None else DType(whole, "complex")
        case _, "float" | "complex":
            return dtype
        case _, None:
            return derived(dtype, how, "float" if how == "floating" else None)
    return INT64 if how == "sum" else DEFAULT


def _is_alike(values: list[Value]) -> bool:
    """Whether all tensors of a list have the same dtype."""
    if isinstance(values[0] if values else None, Tensor):
        return True
    members = [one for value in values if isinstance(value, Sequence) for one in _members(value)]
    return len({one.dtype for one in members if isinstance(one, Tensor)}) < 2


def _promoted(values: list[Value], widened: Widening) -> DType | None:
    """The dtype that tensors and numbers promote to, those in lists as well."""
    if len(values) == 1 and isinstance(values[0], Tensor):
        return widened(values[0].dtype)
    whole: Value | None = None
    for value in values:
        for one in _members(value) if isinstance(value, Sequence) else [value]:
            for option in present(one):
                part = option
                if isinstance(part, Tensor):
                    part = part.changed(dtype=widened(part.dtype))
                whole = part if whole is None else binary(ast.Add(), whole, part)
    return whole.dtype if isinstance(whole, Tensor) else None


def _rank(value: Value) -> int | None:
    """How many dimensions a value has in all ways that lead to it; a number has none."""
    return _only(_rank_of(option) for option in present(value))


def _rank_of(value: Value) -> int | None:
    if isinstance(value, Tensor):
        return value.rank
    if value in (_MISSING, NONE):
        return None
    return 0 if isinstance(value, (Static, SymInt, DataScalar, NumpyScalar)) else None


def _members(value: Value) -> Iterator[Value]:
    for option in present(value):
        if not isinstance(option, Sequence):
            yield UNKNOWN
        else:
            yield from (option.element,) if option.items is None else option.items


def _length(value: Value) -> int | None:
    if isinstance(value, Sequence):
        return None if value.items is None else len(value.items)
    is_number = isinstance(value, SymInt) or (isinstance(value, Static) and value.type == "int")
    return 1 if is_number else None


def _only(ranks: Iterable[int | None]) -> int | None:
    """The rank that all of them are."""
    found = set(ranks)
    return found.pop() if len(found) == 1 else None


def _most(ranks: list[int | None]) -> int | None:
    known = [rank for rank in ranks if rank is not None]
    return max(known) if known and len(known) == len(ranks) else None


def _shifted(rank: int | None, shift: int) -> int | None:
    return None if rank is None else max(rank + shift, 0)


def _reduced(tensor: Value, dim: Value = NONE, keepdim: Value = _MISSING) -> int | None:
    rank = _rank(tensor)
    kept = False if keepdim is _MISSING else keepdim.value if isinstance(keepdim, Static) else None
    if kept or rank == 0:
        return rank
    if kept is None:
        return None
    if dim in (NONE, _MISSING):
        return 0
    count = _length(dim)  # none at all means all of them, or none
    return max(rank - count, 0) if count and rank is not None else None


def _flattened(tensor: Value, first: Value, last: Value) -> int | None:
    rank = _rank(tensor)
    ends = [0 if first is _MISSING else _integer(first), -1 if last is _MISSING else _integer(last)]
    if rank is None or None in ends:
        return None
    start, end = (end + rank if end < 0 else end for end in ends if end is not None)
    return max(rank - (end - start), 1)


def _integer(value: Value) -> int | None:
    return value.value if isinstance(value, Static) and isinstance(value.value, int) else None


def _of_equation(value: Value) -> int | None:
    text = value.value if isinstance(value, Static) and value.type == "str" else None
    if not isinstance(text, str) or "." in text:
        return None
    inputs, arrow, output = text.replace(" ", "").partition("->")
    return len(output) if arrow else sum(inputs.count(one) == 1 for one in {*inputs} - {","})
