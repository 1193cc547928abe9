"""Which rules run, and where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.diagnostics import Applicability, Confidence, Worth
from tclint.lint.engine import check_files
from tclint.lint.registry import load_rules
from tclint.lint.selection import (
    applicability_of,
    file_ignores,
    is_selected,
    is_shown,
    longest_prefix,
    selected_rules,
)
from tests.report_samples import item
from tests.semantics_probe import put

ROOT = Path("/project")


@pytest.mark.parametrize(
    ("code", "prefixes", "length"),
    [
        ("TCL101", (), -1),
        ("TCL101", ("TCL2",), -1),
        ("TCL101", ("ALL",), 0),
        ("TCL101", ("ALL", "TCL1"), 4),
        ("TCL101", ("TCL1", "TCL101", "T"), 6),
    ],
)
def test_the_longest_prefix_counts(code: str, prefixes: tuple[str, ...], length: int) -> None:
    assert longest_prefix(code, prefixes) == length


@pytest.mark.parametrize(
    ("settings", "selected"),
    [
        pytest.param({}, True, id="nothing said"),
        pytest.param({"select": ("TCL1",)}, True, id="selected"),
        pytest.param({"select": ("TCL2",)}, False, id="something else selected"),
        pytest.param({"select": ("TCL2",), "extend_select": ("TCL101",)}, True, id="extended"),
        pytest.param({"extend_select": ("TCL2",)}, True, id="extended by something else"),
        pytest.param({"ignore": ("TCL1",)}, False, id="ignored"),
        pytest.param({"ignore": ("ALL",)}, False, id="all ignored"),
        pytest.param({"select": ("TCL1",), "ignore": ("TCL1",)}, False, id="a draw"),
        pytest.param(
            {"select": ("TCL101",), "ignore": ("TCL1",)}, True, id="more exactly selected"
        ),
        pytest.param({"select": ("ALL",), "ignore": ("TCL101",)}, False, id="more exactly ignored"),
        pytest.param(
            {"ignore": ("TCL1",), "extend_select": ("TCL101",)}, True, id="brought back exactly"
        ),
    ],
)
def test_selection(settings: dict[str, tuple[str, ...]], selected: bool) -> None:
    assert is_selected("TCL101", Config(ROOT, **settings)) is selected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({}, False),
        ({"weak": True}, True),
        ({"select": ("TCL210",)}, True),
        ({"extend_select": ("TCL210",)}, True),
        ({"select": ("TCL2",)}, False),
    ],
)
@pytest.mark.parametrize(
    "why", [{"confidence": Confidence.LOW}, {"worth": Worth.HINT}], ids=["unsure", "a hint"]
)
def test_weak_findings_are_shown_to_who_asks(
    why: dict[str, Any], settings: dict[str, Any], shown: bool
) -> None:
    found = item(ROOT).diagnostic
    strong = replace(found, code="TCL210", confidence=Confidence.MEDIUM, worth=Worth.LOW)
    config = Config(ROOT, **settings)
    assert is_shown(strong, config)
    assert is_shown(replace(strong, **why), config) == shown


@pytest.mark.parametrize(
    ("settings", "offered", "applied"),
    [
        ({}, "unsafe", "unsafe"),
        ({"extend_safe_fixes": ("TCL1",)}, "unsafe", "safe"),
        ({"extend_unsafe_fixes": ("ALL",)}, "safe", "unsafe"),
        ({"extend_safe_fixes": ("TCL101",), "extend_unsafe_fixes": ("TCL1",)}, "safe", "safe"),
        ({"extend_safe_fixes": ("TCL1",)}, "display", "display"),
    ],
)
def test_fixes_can_be_trusted_more_or_less(
    settings: dict[str, Any], offered: str, applied: str
) -> None:
    config = Config(ROOT, **settings)
    assert applicability_of("TCL101", Applicability(offered), config) == Applicability(applied)
    assert applicability_of("TCL101", None, config) is None


def test_without_a_selection_all_rules_run() -> None:
    assert selected_rules(load_rules(), Config(ROOT)) == load_rules()


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("tests/*", "tests/test_a.py", True),
        ("tests", "tests/deep/test_a.py", True),
        ("*.py", "src/a.py", True),
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/b.py", False),
        ("tests", "src/tests.py", False),
        ("!src/**", "tests/a.py", True),
        ("!src/**", "src/a.py", False),
    ],
)
def test_files_can_ignore_rules(tmp_path: Path, pattern: str, path: str, ignored: bool) -> None:
    test = file_ignores(Config(tmp_path, per_file_ignores=((pattern, ("TCL1",)),)))
    assert test(tmp_path / path, "TCL101") is ignored
    assert not test(tmp_path / path, "TCL201")


def test_an_ignored_file_still_helps_others(tmp_path: Path) -> None:
    files = {
        "helper.py": "def g(x):\n    return x.item()\n",
        "main.py": (
            "import torch\nfrom helper import g\n@torch.compile\n"
            "def f(x: torch.Tensor):\n    g(x)\n    return x.item()\n"
        ),
    }
    config = Config(tmp_path, per_file_ignores=(("helper.py", ("ALL",)),))
    results = check_files(put(tmp_path, files), config).results
    assert [r.diagnostic.path.name for r in results] == ["main.py"]
