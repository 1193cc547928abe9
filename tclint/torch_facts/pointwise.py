"""Which calls compute each element of their result from the elements at its place alone."""

from __future__ import annotations

from functools import lru_cache

from tclint.torch_facts.table import section


def is_pointwise(key: str, form: str) -> bool:
    """Whether a function (dotted), a method of tensors (bare) or a layer (dotted) does so.

    ``form`` are its arguments by their places: ``t`` for a tensor, ``n`` for any other. A method's
    tensor and what a layer is called with count. ``max(x, y)`` is pointwise, ``max(x, 1)`` is not.
    """
    return form in _forms(key)[0].split()


def computes_floats(key: str, form: str) -> bool:
    """Whether it gives floating-point tensors of one dtype a new one of it, with a gradient."""
    return form in _forms(key)[1].split()


@lru_cache(maxsize=1024)
def _forms(key: str) -> tuple[str, str]:
    told: str = section("pointwise").get(key, "|")
    forms, _, computing = told.partition("|")
    return forms, computing
