"""Every example of every rule does what it says."""

from pathlib import Path

import pytest

from house_rules import RULES
from tclint.lint.rule import Example, Rule
from tclint.testing import check_example, examples_of

CASES = [
    pytest.param(rule, example, id=f"{rule.code}-{type(example).__name__}-{number}")
    for rule in (cls() for cls in RULES)
    for number, example in enumerate(examples_of(rule))
]


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule: Rule, example: Example, tmp_path: Path) -> None:
    """Report what is to be reported, fix what can be fixed, and nothing else."""
    check_example(rule, example, tmp_path)
