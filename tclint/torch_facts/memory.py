"""What calls of torch do to memory: whose the result's is, what they write, what autograd keeps.

Measured: ``python -m scripts.torch_facts`` calls every function and method with all kinds of
arguments. What has no row may do anything; so may a call with ``out=`` or ``inplace=``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tclint.torch_facts.host import dynamic_shape
from tclint.torch_facts.table import canonical, section

READING_FUNCTIONS: Final = frozenset(
    "bool complex float hasattr id int isinstance len print repr str type".split()
)
"""Builtins that give no tensor and keep nothing."""
_ALIKE: Final = {"cuda": "cpu", "type": "to"}
"""Methods without samples, and those that do the same."""
_ADDRESS: Final = "data_ptr"
_MEMBERS: Final = ("indices", "values")
"""What ``x.max(dim=1)`` gives, and its like."""


@lru_cache(maxsize=4096)
def effects(key: str) -> frozenset[str] | None:
    """What a function (dotted) or a method (bare) may do besides giving a result; None if unknown.

    ``shares``: the result may have the memory of an argument. ``writes``: an argument is written;
    ``inplace``: only with that argument. ``draws``: random numbers are drawn. ``checks``: it
    raises for some numbers in its arguments; ``checks-mode``: only where a string says how.
    """
    told = _row("effects", _ALIKE.get(key, key))
    return None if told is None else frozenset(told.split())


def writes_nothing(key: str) -> bool:
    """Whether a call writes none of its arguments, whose memory it may give."""
    return (told := effects(key)) is not None and not told & {"writes", "inplace"}


def allocates(key: str) -> bool:
    """Whether the result of a call always has memory of its own, and nothing is written."""
    return writes_nothing(key) and "shares" not in (effects(key) or ())


def is_view(key: str) -> bool:
    """Whether a call writes nothing, and may give the memory of an argument."""
    return writes_nothing(key) and not allocates(key)


def only_computes(key: str) -> bool:
    """Whether a call may be dropped, repeated or made early: what it gives is all that it does."""
    told = effects(key)
    safe = {"shares", "inplace", "checks-mode"}
    return told is not None and told <= safe and dynamic_shape(key) is None


@lru_cache(maxsize=1024)
def gives_no_tensor(method: str) -> bool:
    """Whether a method of tensors only tells something about one."""
    code = section("methods").get(method, "other")
    return method != _ADDRESS and not {"tensor", "tensors", "other", "none"} & {*_kinds(code)}


def shares_as_attribute(name: str) -> bool:
    """Whether an attribute of a tensor, or of several that a call gives, has the same memory."""
    code: str = section("attributes").get(name, "")
    return code == "tensor" or name in _MEMBERS


def describes(name: str) -> bool:
    """Whether an attribute of a tensor holds nothing of its memory."""
    code = section("attributes").get(name)
    return code is not None and "tensor" not in _kinds(code)


def gradient(key: str) -> frozenset[str] | None:
    """What autograd does for a call with one tensor; None if unknown.

    It ``keeps-argument`` or ``keeps-result``; ``finite``: 0 from behind stays 0 whatever number
    went in.
    """
    told = _row("gradients", key)
    return None if told is None else frozenset(told.split())


def _kinds(code: str) -> list[str]:
    return [kind.partition("*")[0] for kind in code.split("|")]


def _row(table: str, key: str) -> str | None:
    rows: dict[str, str] = section(table)
    if key in rows or not key.startswith("torch."):
        return rows.get(key)
    name = canonical(key)
    return rows.get(name, rows.get(name.removeprefix("torch.")))
