"""Which calls compute each element of their result from the elements at its place alone."""

from __future__ import annotations

from tclint.torch_facts.table import section


def is_pointwise(key: str, form: str) -> bool:
    """Whether a function (dotted), a method of tensors (bare) or a layer (dotted) does so.

    ``form`` are its arguments by their places: ``t`` for a tensor, ``n`` for any other. A method's
    tensor and what a layer is called with count. ``max(x, y)`` is pointwise, ``max(x, 1)`` is not.
    """
    return form in _forms(key)


def has_operands(key: str) -> bool:
    """Whether a pointwise call takes more than a tensor: others, or numbers."""
    return any(len(form) > 1 for form in _forms(key))


def _forms(key: str) -> list[str]:
    told: str = section("pointwise").get(key, "")
    return told.split()
