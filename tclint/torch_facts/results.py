"""Rank and dtype of results, as found by calling torch on samples.

Names are tensor methods (``sum``) or dotted functions (``torch.sum``). The facts hold for calls
with tensor arguments alone: callers check that no ``dim=``, ``dtype=``, ``reduction=`` is given.
"""

from __future__ import annotations

from functools import cache

from tclint.records import record
from tclint.torch_facts.table import canonical, section


@record(frozen=True)
class CallResult:
    """The result of a call with one tensor.

    ``rank`` is ``"same"``, ``"zero"``, ``"one"``, ``"two"``, a shift such as ``"-1"``, or
    ``"varies"``. ``dtype`` is ``"same"``, a dtype's name, ``"float"`` (floats stay, integers and
    bools become the default float, nothing complex comes out), ``"inexact"`` (the same, but
    complex numbers stay complex), ``"sum"`` (floats stay, the others become int64), or
    ``"varies"``.
    """

    rank: str
    dtype: str


def call_result(name: str) -> CallResult | None:
    """What the call with one tensor gives; None when it is no such call."""
    packed: str | None = section("unary").get(canonical(name))
    return unpack(packed)


@cache
def unpack(packed: str | None) -> CallResult | None:
    """Read ``"rank dtype"``."""
    if packed is None:
        return None
    rank, _, dtype = packed.partition(" ")
    return CallResult(rank, dtype)


def reduces_to_scalar(name: str) -> bool:
    """True for calls whose result has no dimensions: ``x.sum()``, ``F.mse_loss(x, y)``."""
    result = call_result(name)
    if result is not None and result.rank == "zero":
        return True
    return canonical(name) in section("mean_losses")


def reduces_along_dim(name: str) -> bool:
    """True for reductions that take ``dim=`` and ``keepdim=``: one dimension less, or as many.

    Those with two results (``max``, ``median``) give both in that rank.
    """
    return canonical(name) in section("along_dim")


def preserves_rank_and_dtype(name: str) -> bool:
    """True for pointwise functions of one tensor that give such a tensor again."""
    return call_result(name) == unpack("same same")


def binary_dtype(name: str) -> str | None:
    """The dtype rule of a call with two tensors that broadcasts them, else None.

    ``"bool"``, ``"promote"`` (torch's promotion), ``"float"`` (promotion, then at least the
    default float) or ``"varies"``.
    """
    rule: str | None = section("binary").get(canonical(name))
    return rule
