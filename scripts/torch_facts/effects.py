"""What calls do besides giving a result: whose memory that is, what they write, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeGuard

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from scripts.torch_facts.behaviour import FAILURES
from scripts.torch_facts.sampled import Call, storage
from tclint.semantics import values
from tclint.torch_facts.table import canonical

_INFINITE = float("inf")
_NUMBERS = torch.tensor([0.0, 1.0, -1.0, 1e30, 1e-40, _INFINITE, -_INFINITE, float("nan")])

Function = Callable[..., object]


def effects(calls: Mapping[str, Sequence[Call]]) -> dict[str, str]:
    """The effects that any call of a function or method has: ``"shares"``, ``"draws writes"``.

    ``inplace`` for what a call with ``inplace=True`` alone does, ``checks-mode`` for what only
    calls with a string check, such as ``div(rounding_mode="floor")``. A function that does the
    same as the method of its name has no row of its own.
    """
    found = {key: " ".join(sorted(_effects(several))) for key, several in calls.items()}
    return {key: told for key, told in found.items() if found.get(_method(key)) != told}


def _effects(calls: Sequence[Call]) -> set[str]:
    plain = [call for call in calls if not _is_in_place(call)]
    found = {word for call in plain for word in call.effects} - {"computes"}
    found |= {"inplace"} if len(plain) < len(calls) else set()
    without = {word for call in plain if not _has_string(call) for word in call.effects}
    if "computes" in without and "checks" not in without:
        found = {"checks-mode" if word == "checks" else word for word in found}
    return found


def _is_in_place(call: Call) -> bool:
    return any(name == "inplace" and one == values.constant(True) for name, one in call.keywords)


def _has_string(call: Call) -> bool:
    given = [*call.positional, *(one for _, one in call.keywords)]
    return any(isinstance(one, values.Static) and one.type == "str" for one in given)


def gradients(pointwise: Mapping[str, Function]) -> dict[str, str]:
    """What autograd does for functions of one tensor; what has no gradient has no row.

    ``keeps-argument`` and ``keeps-result`` for what it keeps, ``finite`` where 0 from behind stays
    0 for whatever number went in.
    """
    found = {key: {*_gradients(function)} for key, function in pointwise.items()}
    told = {key: " ".join(sorted(*ways)) for key, ways in found.items() if len(ways) == 1}
    return {key: words for key, words in told.items() if told.get(_method(key)) != words}


def _method(key: str) -> str:
    """The method of a function's name; nothing for a method."""
    return canonical(key).removeprefix("torch.") if key.startswith("torch.") else ""


def _gradients(function: Function) -> Iterator[frozenset[str]]:
    for numbers in (_NUMBERS, _NUMBERS.view(2, 2, 2)):
        leaf = numbers.clone().requires_grad_()
        given, kept = leaf * 1, list[Tensor]()
        with saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):  # noqa: B023
            result = _result(function, given)
        if _has_gradient(result) and result is not given:
            places = {*map(storage, kept)}
            both = {"keeps-argument": given, "keeps-result": result}
            found = {name for name, one in both.items() if storage(one) in places}
            result.backward(torch.zeros_like(result))
            is_finite = leaf.grad is not None and not leaf.grad.isnan().any()
            yield frozenset(found | {"finite"} if is_finite else found)


def _has_gradient(result: object) -> TypeGuard[Tensor]:
    return isinstance(result, Tensor) and result.requires_grad


def _result(function: Function, given: Tensor) -> object:
    try:
        return function(given)
    except (*FAILURES, NotImplementedError):
        return None
