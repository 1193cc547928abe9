"""Does a number that stays where it was read from meet only tensors that are there, too?

A number meets tensors on any device. A 0-d tensor of a GPU meets none of the CPU's, and takes what
it meets of those without dimensions to the GPU; one of a subclass makes others of that class. So
what it meets has to come from the same tensor as the number, or the fix is unsafe and says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Final

from tclint.semantics.callees import Callee
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Tensor

from ..facts.device_origins import Devices, Origins
from ..facts.known import certain_tensor
from .verdict import PROVED, Changes, Verdict, combine

_TOGETHER: Final = "the fix assumes that `{}` has the device and the class of {}"


class Whereabouts:
    """Where a number is that was read from ``source``, and in a function that it is handed to."""

    def __init__(
        self,
        site: Site,
        source: ast.expr,
        text: str = "",
        given: Mapping[str, Origins] | None = None,
        origins: Origins | None = None,
    ) -> None:
        """``origins`` are those of a number that the function is ``given`` with other values."""
        self.apart: dict[str, None] = {}
        self._site = site
        self._devices = Devices(site, given)
        self._source = source
        self._text = text or site.text(source)
        self._origins = origins

    def verdict(self) -> Verdict:
        """Whether all that the number's tensor meets is certainly where it is."""
        if not self.apart:
            return PROVED
        others = ", ".join(f"`{text}`" for text in self.apart)
        return Changes(_TOGETHER.format(self._text, others))

    def meets_at(self, use: ast.expr) -> None:
        """A use of the number: what does it meet there?"""
        others, is_operator = _met_by(self._site, use)
        self.meets(use, others, is_operator=is_operator)

    def meets(self, use: ast.AST, others: Iterable[ast.expr], *, is_operator: bool) -> None:
        """The number's tensor meets ``others`` where ``use`` stands."""
        for other in others:
            kinds = options(self._site.value(other))
            if any(isinstance(kind, (Tensor, DataScalar)) for kind in kinds):
                self._meets(use, other, is_operator)

    def inside(self, callee: Callee, call: ast.Call) -> Whereabouts:
        """The same in a function that gets the number from a call."""
        given = {}
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            name = callee.parameter(call, argument)
            if name is not None:
                given[name] = self._lasting(self._devices.exact(argument), call)
        origins = self._lasting(self._here(), call)
        found = Whereabouts(callee.site, self._source, self._text, given, origins)
        found.apart = self.apart
        return found

    def _here(self) -> Origins:
        return self._devices.exact(self._source) if self._origins is None else self._origins

    def _lasting(self, origins: Origins, use: ast.AST) -> Origins:
        if self._origins is not None:
            return origins  # the function runs while the number is what it is
        return self._devices.lasting(origins, self._source, use)

    def _meets(self, use: ast.AST, other: ast.expr, is_operator: bool) -> None:
        there = self._devices.met(other) if is_operator else self._devices.exact(other)
        if there.isdisjoint(self._lasting(self._here(), use)):
            self.apart[self._site.text(other)] = None


def judge_chosen(site: Site, tests: Iterable[ast.expr], ways: Iterable[ast.expr]) -> Verdict:
    """Judge that tests without dimensions may choose between tensors with `torch.where`.

    A branch chooses between tensors on any device.
    """
    devices = Devices(site)
    tensors = [way for way in ways if any(isinstance(k, Tensor) for k in options(site.value(way)))]
    return combine(
        Changes(_TOGETHER.format(site.text(test), f"`{site.text(way)}`"))
        for test in tests
        for way in tensors
        if devices.exact(test).isdisjoint(devices.met(way))
    )


def are_together(site: Site, tensors: Iterable[ast.expr]) -> bool:
    """True for tensors that are certainly on one device, or on the CPU and without dimensions."""
    devices = Devices(site)
    return bool(frozenset.intersection(*map(devices.met, tensors)))


def _met_by(site: Site, use: ast.expr) -> tuple[list[ast.expr], bool]:
    """What a use computes with, and whether an operator does."""
    outer = site.parent(use)
    match outer:
        case ast.BinOp(left=left, right=right):
            return [right if left is use else left], True
        case ast.Compare(left=left, comparators=others):
            return [one for one in (left, *others) if one is not use], True
        case ast.AugAssign(target=target, value=value):
            return [value if target is use else target], True
        case ast.Assign(targets=[ast.Subscript(value=owner)]):
            return [owner], False
        case ast.Subscript(value=owner):
            return [owner], False
    call = site.parent(outer) if isinstance(outer, ast.keyword) else outer
    return _arguments(site, call, use) if isinstance(call, ast.Call) else [], False


def _arguments(site: Site, call: ast.Call, use: ast.expr) -> list[ast.expr]:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute) and certain_tensor(site, call.func.value) is not None:
        given.append(call.func.value)
    return [one for one in given if one is not use]
