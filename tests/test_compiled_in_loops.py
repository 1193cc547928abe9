"""Compiled functions in loops: which texts and sizes count as new ones in each step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

FILE = """\
import torch


def step(x, name=""):
    {body}


def run(x, names, batches):
    compiled = torch.compile(step{options})
{loop}
"""
ASKS = "return x * 2 if name else x"


def codes(root: Path, loop: str, body: str = ASKS, options: str = "") -> list[str]:
    path = root / "program.py"
    lines = "\n".join(f"    {line}" for line in loop.split("|"))
    path.write_text(FILE.format(body=body, options=options, loop=lines), encoding="utf-8")
    config = Config(root, select=("TCL229", "TCL230"), weak=True)
    return [result.diagnostic.code for result in check_files([path], config).results]


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ('for i, x in enumerate(batches):|    compiled(x, f"step {i}")', True),
        ("for i in range(100):|    y = compiled(x, name=str(i))", True),
        ('for i in range(9):|    if i:|        compiled(x, f"{i + 1}")', True),
        ('for i in range(8):|    compiled(x, f"step {i}")', False),
        ('for i in [1, 2, 3]:|    compiled(x, f"step {i}")', False),
        ('for i in names:|    compiled(x, f"step {len(names)}")', False),
        ("for name in names:|    compiled(x, name)", False),
        ('compiled(x, f"step {len(names)}")', False),
        ('for i in names:|    def later():|        compiled(x, f"step {i}")', False),
        ('for i in names:|    step(x, f"step {i}")', False),
        ('for i in names:|    compiled(*batches, f"step {i}")', False),
    ],
)
def test_a_text_is_new_where_the_loop_is_in_it(tmp_path: Path, loop: str, found: bool) -> None:
    assert codes(tmp_path, loop) == ["TCL229"] * found


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ("return x, name", False),
        ("return show(x, name)", False),
        ("label = name; return x", False),
        ("return x", False),
        ("return {name: x}", True),
        ("return x * len(name.strip())", True),
        ('return x if name == "a" else x * 2', True),
        ('return {f"{name}!": x}', True),
    ],
)
def test_a_text_counts_where_its_value_is_asked_for(tmp_path: Path, body: str, asks: bool) -> None:
    loop = 'for i in names:|    compiled(x, f"step {i}")'
    assert codes(tmp_path, loop, body) == ["TCL229"] * asks


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for i in range(100):|    compiled(x[:i])", True),
        ("for i in range(100):|    compiled(x[:, i:])", True),
        ("for i in range(100):|    compiled(torch.zeros(i + 1, 3))", True),
        ("while len(x) < 99:|    x = torch.cat((x, compiled(x)))", True),
        ("for i in range(8):|    compiled(x[:i])", False),
        ("for i in range(100):|    compiled(x[i])", False),
        ("for i in range(100):|    compiled(x[i : i + 4])", False),
        ("for i in range(100):|    compiled(x[:3])", False),
        ("for y in batches:|    x = torch.cat([y, y])|    compiled(x)", False),
        ("x = torch.cat([x, x])|compiled(x)", False),
    ],
)
def test_a_size_is_new_where_the_loop_makes_it(tmp_path: Path, loop: str, found: bool) -> None:
    assert codes(tmp_path, loop, options=", dynamic=False") == ["TCL230"] * found
    assert codes(tmp_path, loop, options=", dynamic=None") == []
    assert codes(tmp_path, loop) == []
