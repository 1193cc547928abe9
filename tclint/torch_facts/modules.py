"""The layers of ``torch.nn``."""

from __future__ import annotations

from functools import lru_cache

from tclint.torch_facts.results import CallResult, unpack
from tclint.torch_facts.table import canonical, section


def is_module(dotted: str) -> bool:
    """True for the name of a class of ``torch.nn`` that is a module."""
    return _facts(dotted) is not None


def has_parameters(dotted: str) -> bool | None:
    """Whether the layer, made with its default options, has parameters; None for containers."""
    facts = _facts(dotted)
    return facts[0] if facts else None


def module_returns(dotted: str) -> str | None:
    """What calling the layer returns."""
    facts = _facts(dotted)
    return facts[1] if facts else None


def module_result(dotted: str) -> CallResult | None:
    """Rank and dtype of calling the layer with one tensor."""
    facts = _facts(dotted)
    return unpack(facts[2]) if facts else None


@lru_cache(maxsize=4096)
def _facts(dotted: str) -> tuple[bool | None, str, str | None] | None:
    package, _, name = canonical(dotted).rpartition(".")
    if package != "torch.nn":
        return None
    facts: tuple[bool | None, str, str | None] | None = section("modules").get(name)
    return facts
