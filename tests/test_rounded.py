"""Numbers in reports."""

from __future__ import annotations

import pytest

from tclint.report.rounded import rounded


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1503.8, 4, "1504"),
        (15038.0, 4, "15038"),
        (1040.232, 3, "1040"),
        (999.7, 3, "1000"),
        (153.2, 2, "153"),
        (12.34, 3, "12.3"),
        (0.01234, 2, "0.012"),
        (0.0, 4, "0"),
    ],
)
def test_large_numbers_are_no_powers_of_ten(value: float, digits: int, text: str) -> None:
    assert rounded(value, digits) == text
