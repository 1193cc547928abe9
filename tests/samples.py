"""Cases of which ``make test`` runs a sample, and ``make test-all`` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


def one_in(count: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """The cases for a parametrised test: one of so many is for ``make test``, too."""
    every = [_as_parameters(case) for case in cases]
    slow = pytest.mark.slow(0)  # many, and none of them long
    return [
        case if number % count == 0 else case._replace(marks=[*case.marks, slow])
        for number, case in enumerate(every)
    ]


def _as_parameters(case: Any) -> ParameterSet:
    if isinstance(case, type(pytest.param())):
        return case
    return pytest.param(*case) if isinstance(case, tuple) else pytest.param(case)
