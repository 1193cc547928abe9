"""The examples of all rules, as cases for parametrised tests."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import pytest

from tclint.lint.registry import load_rules
from tclint.testing import examples_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet

    from tclint.lint.rule import Example, Rule

_COMPILES = re.compile(r"\btorch\.compile\b|(?<!\bre)\.compile\(")


def compiles_itself(code: str) -> bool:
    """True when an example calls ``torch.compile``; else its ``f`` is compiled for it."""
    return _COMPILES.search(code) is not None


def cases(
    *kinds: type[Example], where: Callable[[Rule, Any], bool] = lambda rule, example: True
) -> list[ParameterSet]:
    """One case for each example of the given kinds, named after its rule and title.

    ``where`` keeps the examples that a test has something to say about.
    """
    found = []
    for rule, number, example in _examples():
        if isinstance(example, kinds) and where(rule, example):
            kind = type(example).__name__.lower()
            name = example.title.replace(" ", "-") or str(number)
            found.append(pytest.param(rule, example, id=f"{rule.code}-{kind}-{name}"))
    return found


@functools.cache
def _examples() -> list[tuple[Rule, int, Example]]:
    """Every example beside its rule and its number on the page, read once for all tests."""
    return [
        (rule, number, example)
        for rule in load_rules()
        for number, example in enumerate(examples_of(rule), 1)
    ]
