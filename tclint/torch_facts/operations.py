"""What a call of torch gives, by overload: the rank and the dtype of each of its results.

The table is measured: ``python -m scripts.torch_facts`` calls every function and method of torch
with all kinds of arguments, and writes the simplest rules that hold for all of these calls.

An overload is written like ``input:t dim:l? keepdim:b? *dtype:d? -> reduced input dim keepdim | if
dtype argument dtype; sum input``: its parameters, then for each result the rank and the dtype. A
list of results of any length is one result behind ``each``. Of several rules the first counts whose
condition holds. An overload with ``if return_indices=True`` is only for calls with that.

==============================  ==========================================================
rank                            the result has
``constant 2``                  two dimensions
``rank x +1``                   one more than ``x``
``broadcast x y``               as many as the larger
``matmul x y``                  those of a matrix product
``length size``                 as many as ``size`` has entries (a number is one)
``longer x size``               as many as ``x``, or as ``size`` has entries if those are more
``reduced x dim keepdim``       those of ``x`` without ``dim``; without ``dim`` none
``members tensors +1``          one more than each of ``tensors``
``flattened x start end``       those of ``x`` without the dimensions between ``start`` and ``end``
``equation text``               those that the equation of an ``einsum`` leaves
==============================  ==========================================================

==============================  ==========================================================
dtype                           the result has
``constant int64``              that one
``same x``                      that of ``x``; of a list, if all its members have it
``promoted x y``                the one that these promote to; of lists, their members
``floating x y``                the same, and the default dtype where that is integers
``inexact x y``                 the same; it may be complex where nothing is known of them
``sum x y``                     the same, and int64 where that is integers
``real x y``                    that of the parts of what they promote to, if it is complex
``complex x y``                 the one whose parts have what they promote to
``argument dtype``              the one that ``dtype`` names
==============================  ==========================================================
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tclint.records import record
from tclint.torch_facts.table import canonical, section

_OF_FLOATS: Final = frozenset({"floating", "inexact", "promoted", "real", "same", "sum"})
"""Rules by which the dtype of floats stays."""


@record(frozen=True)
class Parameter:
    """A parameter of an overload.

    ``kind`` is ``t`` for a tensor, ``T`` for several, ``i`` for an int, ``n`` for a number, ``b``
    for a bool, ``s`` for a string, ``l`` for several ints, ``d`` for a dtype, ``o`` for any other.
    """

    name: str
    kind: str
    optional: bool = False
    by_name: bool = False


@record(frozen=True)
class Rule:
    """How a rank or a dtype follows from arguments, where ``condition`` holds.

    The condition is ``("dtype",)`` where that argument is given, and ``("reduction", "none")``
    where it is this constant.
    """

    how: str
    words: tuple[str, ...] = ()
    shift: int = 0
    condition: tuple[str, ...] = ()


@record(frozen=True)
class Result:
    """The rules of one result, the first that applies counts; none where nothing is known."""

    rank: tuple[Rule, ...]
    dtype: tuple[Rule, ...]


@record(frozen=True)
class Overload:
    """An overload; ``each`` where its only result stands for all members of a list.

    With a ``condition`` it is for the calls alone for which that holds.
    """

    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    each: bool = False
    condition: tuple[str, ...] = ()


@lru_cache(maxsize=2048)
def overloads(key: str) -> tuple[Overload, ...]:
    """The overloads of a function (dotted) or of a tensor's method (bare, itself the first)."""
    table = section("operations")
    packed = table.get(key)
    if packed is None and key.startswith("torch."):
        name = canonical(key)
        packed = table.get(name) or table.get(name.removeprefix("torch."))
    return tuple(map(unpacked, packed)) if packed else ()


def takes_tensors(key: str) -> bool:
    """Whether a function takes several tensors at once, as ``torch.cat`` does."""
    return any(one.kind == "T" for row in overloads(key) for one in row.parameters)


def takes_number(key: str) -> bool:
    """Whether an argument of a function may be any number, whole or not."""
    return any(one.kind == "n" for row in overloads(key) for one in row.parameters)


@lru_cache(maxsize=512)
def keeps_floats(key: str) -> bool:
    """Whether a call with one tensor of floats gives one of their dtype."""
    rows = [one for one in overloads(key) if one.parameters[:1] and one.parameters[0].kind == "t"]
    told = [row.results[0].dtype[-1:] for row in rows]
    return bool(told) and all(rule and rule[0].how in _OF_FLOATS for rule in told)


def unpacked(text: str) -> Overload:
    """Read an overload."""
    given, _, told = text.partition(" -> ")
    given, _, condition = given.partition(" if ")
    each = told.startswith("each ")
    results = told.removeprefix("each ").split(" , ")
    parameters = tuple(map(_parameter, given.split()))
    return Overload(parameters, tuple(map(_result, results)), each, _condition(condition))


def _parameter(text: str) -> Parameter:
    name, _, kind = text.partition(":")
    return Parameter(name.lstrip("*"), kind[0], kind.endswith("?"), name.startswith("*"))


def _result(text: str) -> Result:
    rank, _, dtype = text.partition(" | ")
    return Result(rules(rank), rules(dtype))


def rules(text: str) -> tuple[Rule, ...]:
    """Read ``if dtype argument dtype; same input``."""
    return tuple(_rule(part.split()) for part in text.split("; ") if part != "?")


def _rule(words: list[str]) -> Rule:
    condition: tuple[str, ...] = ()
    if words[0] == "if":
        condition = _condition(words[1])
        del words[:2]
    how, *rest = words
    shift = int(rest.pop()) if rest and rest[-1][0] in "+-" else 0
    return Rule(how, tuple(rest), shift, condition)


def _condition(text: str) -> tuple[str, ...]:
    name, _, wanted = text.partition("=")
    return ((name, wanted) if wanted else (name,)) if name else ()
