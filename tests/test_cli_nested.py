"""Folders below the start of a run that have configurations of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_runs import tclint

CODE = """\
import torch


@torch.compile
def f(x):
    print(x)
    return x.item()
"""
PRINT, ITEM = "TCL120", "TCL101"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("top.py", "a/one.py", "a/deep/two.py", "b/three.py", "b/skip/four.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CODE, encoding="utf-8")
    (tmp_path / "tclint.toml").write_text(f'select = ["{PRINT}", "{ITEM}"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text(f'[tool.tclint]\nselect = ["{ITEM}"]\n')
    (tmp_path / "a" / "deep" / "pyproject.toml").write_text('[project]\nname = "deep"\n')
    (tmp_path / "b" / "tclint.toml").write_text(
        f'extend = "../tclint.toml"\nignore = ["{ITEM}"]\nexclude = ["skip"]\n'
    )
    return tmp_path


def seen(folder: Path, *arguments: str) -> list[tuple[str, str]]:
    """The files and codes that a run reports."""
    done = tclint("check", "--output-format=concise", "-q", *arguments, cwd=folder)
    assert done.returncode in {0, 1}, done.stderr
    lines = (line.split(" ", 2) for line in done.stdout.splitlines())
    return [(place.partition(":")[0].replace("\\", "/"), code) for place, code, _ in lines]


NEAREST = [
    ("a/deep/two.py", ITEM),
    ("a/one.py", ITEM),
    ("b/three.py", PRINT),
    ("top.py", PRINT),
    ("top.py", ITEM),
]


def test_the_nearest_configuration_holds_for_each_file(tree: Path) -> None:
    assert sorted(seen(tree), key=NEAREST.index) == NEAREST
    assert sorted(seen(tree), key=NEAREST.index) == NEAREST, "remembered"


def test_it_holds_for_files_that_are_named_from_above(tree: Path) -> None:
    assert seen(tree, "b/three.py", "a/one.py") == [("a/one.py", ITEM), ("b/three.py", PRINT)]
    assert seen(tree, "b/skip/four.py") == [("b/skip/four.py", PRINT)], "named, thus not excluded"
    assert seen(tree, "--force-exclude", "b/skip/four.py", "top.py") == [
        ("top.py", PRINT),
        ("top.py", ITEM),
    ]


def test_a_configuration_that_is_named_holds_for_all(tree: Path) -> None:
    everywhere = seen(tree, "--config", "a/pyproject.toml")
    assert {code for _, code in everywhere} == {ITEM}
    assert len(everywhere) == 5
    assert ("b/skip/four.py", ITEM) in seen(tree, "--isolated")


def test_the_command_line_comes_before_all_of_them(tree: Path) -> None:
    assert {code for _, code in seen(tree, "--select", PRINT)} == {PRINT}


def test_fixes_follow_it_too(tree: Path) -> None:
    done = tclint("fix", "--diff", cwd=tree)
    assert "+++ b/b/three.py" in done.stdout
    assert "+++ b/top.py" in done.stdout
    assert "one.py" not in done.stdout


def test_a_mistake_in_one_of_them_names_it(tree: Path) -> None:
    (tree / "b" / "tclint.toml").write_text('selct = ["TCL1"]\n')
    done = tclint("check", cwd=tree)
    assert done.returncode == 2
    assert str(tree / "b" / "tclint.toml") in done.stderr
    assert "did you mean 'select'?" in done.stderr
