"""Which arguments torch needs as Python numbers: a tensor that is given there is read."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tclint.records import record
from tclint.torch_facts.members import is_tensor_member
from tclint.torch_facts.table import section


@record(frozen=True)
class Numbers:
    """The places and names of arguments that are numbers, or several of them.

    From ``onward`` on, all are: ``x.view(2, 3)``. A method's places do not count its tensor.
    """

    places: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    onward: int | None = None

    def at(self, place: int) -> bool:
        """Whether the argument at a place is a number."""
        return place in self.places or (self.onward is not None and place >= self.onward)


NO_NUMBERS: Final = Numbers()


_MULTIPLIED: Final = frozenset({"add_", "addcdiv_", "addcmul_", "torch.addcdiv"})
"""Dynamo computes them of other operations, which take a tensor for `alpha` and `value`."""


@lru_cache(maxsize=1024)
def numbers_of(key: str) -> Numbers:
    """The numbers among the arguments of a function (dotted) or of a tensor's method (bare)."""
    told: str | None = section("numbers").get(key)
    if told is None:
        return NO_NUMBERS
    places, _, names = told.partition("|")
    if key in _MULTIPLIED:
        return NO_NUMBERS
    if names == "alpha":  # a tensor there is that of an old form: `add(number, tensor)`
        places = ""
    exact = [int(place) for place in places.split() if not place.endswith("+")]
    onward = [int(place[:-1]) for place in places.split() if place.endswith("+")]
    return Numbers(frozenset(exact), frozenset(names.split()), onward[0] if onward else None)


_SCALE: Final = "scale", Numbers(frozenset({2}), frozenset({"scale_factor"}))
_DRAWN: Final[dict[str, tuple[str, Numbers]]] = {
    "repeat_interleave": ("repeats", Numbers(frozenset({0}), frozenset({"repeats"}))),
    "torch.repeat_interleave": ("repeats", Numbers(frozenset({1}), frozenset({"repeats"}))),
    "torch.nn.functional.interpolate": _SCALE,
    "torch.nn.functional.upsample": _SCALE,
    "torch.nn.functional.upsample_bilinear": _SCALE,
    "torch.nn.functional.upsample_nearest": _SCALE,
    "torch.nn.init.normal_": ("torch", Numbers(frozenset({1, 2}), frozenset({"mean", "std"}))),
    "torch.nn.init.uniform_": ("torch", Numbers(frozenset({1, 2}), frozenset({"a", "b"}))),
    "torch.normal": ("torch", Numbers(frozenset({0, 1}), frozenset({"mean", "std"}))),
}


def drawn_numbers_of(key: str) -> tuple[str, Numbers] | None:
    """The arguments where no number may stand that `random` drew, and what they are for.

    Tensors may stand there. `torch.normal` takes such numbers where its size is given.
    """
    return _DRAWN.get(key)


_NUMBER_FIRST: Final = frozenset(
    "add addmm bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor div "
    "divide float_power floor_divide mul multiply polygamma pow remainder sub subtract "
    "true_divide xlogy".split()
)
_OF_TENSORS: Final = ("torch.nn.functional.", "torch.linalg.")


def needs_tensor_first(dotted: str) -> bool:
    """Whether a function of torch raises where its first argument is no tensor.

    ``torch.as_tensor`` takes arrays, and ``torch.mul(2, x)`` a number. Measured with torch 2.13.
    """
    if dotted.startswith(_OF_TENSORS):
        return True
    owner, _, name = dotted.rpartition(".")
    return owner == "torch" and is_tensor_member(name) and name not in _NUMBER_FIRST
