"""The table of ruff's features names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROW = re.compile(
    r"\| (?P<theirs>.+?) \| (?P<here>yes|no|more) \| (?P<ours>.+?) \|(?P<test>[^|]*)\|"
)
TEXT = (ROOT / "docs" / "ruff-features.md").read_text(encoding="utf-8")
ROWS = [match for line in TEXT.splitlines() if (match := ROW.fullmatch(line))]


def test_every_line_of_the_tables_is_understood() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("| ")]
    heads = [line for line in lines if line.startswith(("| ruff | here |", "| --- |"))]
    assert len(ROWS) == len(lines) - len(heads)
    assert len(ROWS) > 50


@pytest.mark.parametrize("row", ROWS, ids=[row["theirs"] for row in ROWS])
def test_what_is_there_is_tested_and_what_is_not_says_why(row: re.Match[str]) -> None:
    test = row["test"].strip().strip("`")
    if row["here"] == "no":
        assert (test, bool(row["ours"])) == ("", True)
        return
    file, _, name = test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
