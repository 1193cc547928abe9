"""Torch itself says what each style of ``side-effects`` prints, and that no graph breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint.rule import PRELUDE

pytest.importorskip("torch", reason="the proofs run torch.compile")

from .proof.run import run_compiled, run_eager

TWICE = "[(torch.ones(2),), (torch.zeros(2),)]"


def fixed(root: Path, code: str, style: str) -> str:
    path = root / "example.py"
    path.write_text(PRELUDE + code)
    config = Config(root, Settings(side_effects=style), select=("TCL12",), compiled=("*:f",))
    (changed,) = fix_files([path], config, unsafe=True).changed
    return changed.after.removeprefix(PRELUDE)


PRINTS = [
    'print("y", y)',
    'print(f"y {y.sum():.3f} {{}}", "{", 3)',
    'print(f"{y!r}")',
    "print(y.sum(), None, 1.5)",
    "print(y.shape[0], y.dtype)",
    "print()",
]


@pytest.mark.parametrize("line", PRINTS)
def test_graph_print_shows_what_print_shows(tmp_path: Path, line: str) -> None:
    before = f"\ndef f(x: torch.Tensor):\n    y = x * 2\n    {line}\n    return y + 1\n"
    after = fixed(tmp_path, before, "graph-print")
    text = run_eager(before, TWICE).text
    assert run_eager(after, TWICE).text == text
    compiled = run_compiled(after, TWICE)
    assert compiled.compilation.reasons == []
    assert compiled.text == text


EMITS = ['print("a", 3, sep="-")', 'logger.warning("a %d", 3)', 'warnings.warn("a", stacklevel=1)']


@pytest.mark.parametrize("line", EMITS)
def test_trace_time_emits_as_before_in_eager_and_breaks_nothing(tmp_path: Path, line: str) -> None:
    before = f"\ndef f(x: torch.Tensor):\n    y = x * 2\n    {line}\n    return y + 1\n"
    after = fixed(tmp_path, before, "trace-time")
    assert run_compiled(before, TWICE).compilation.reasons
    compiled = run_compiled(after, TWICE)
    assert compiled.compilation.reasons == []
    if line.startswith("print"):
        assert run_eager(after, TWICE).text == run_eager(before, TWICE).text == "a-3\na-3\n"
        assert compiled.text == "a-3\n"


def test_decision_under_the_guard_leaves_no_break(tmp_path: Path) -> None:
    before = """
def f(x: torch.Tensor):
    y = x * 2
    if torch.isnan(y).any():
        if not y.max() < 9:
            logger.warning("bad")
    return y + 1
"""
    after = fixed(tmp_path, before, "guard")
    assert "GB0170" in run_compiled(before, TWICE).compilation.gb_ids
    assert run_compiled(after, TWICE).compilation.reasons == []
