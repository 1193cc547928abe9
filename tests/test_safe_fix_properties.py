"""The examples of all rules, disturbed and laid out otherwise: safe fixes change nothing."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.rule import PRELUDE, Bad, Untouched

from .proof.cases import cases
from .proof.equal import difference
from .proof.mutants import disturbed, laid_out
from .proof.run import Outcome, run_eager

_SHAPES = (
    ("(4, 3)", "float32", ".requires_grad_()"),
    ("(4, 3)", "float32", ".requires_grad_().mul(1)"),
    ("(4, 3)", "float64", ".mul(3)"),
    ("(3, 4)", "float16", ""),
    ("(2, 3, 4)", "float32", ""),
    ("(5,)", "int64", ""),
    ("()", "float32", ""),
    ("(0, 3)", "float32", ""),
    ("(4, 3)", "bool", ""),
    ("(4, 3)", "float32", ".mul(float('nan'))"),
    ("(4, 3)", "float32", ".mul(float('inf'))"),
    ("(4, 3)", "bfloat16", ".mul(5)"),
    ("(1, 1)", "float32", ".expand(4, 3)"),
)
VARIED = (
    "["
    + ", ".join(
        f"((torch.randn({shape}) * 4).to(torch.{dtype}){then},)" for shape, dtype, then in _SHAPES
    )
    + "]"
)
# What goes by the clock, and warnings: of deprecated names, which fixes replace, and of numbers
# that were read from tensors with gradients.
_SAID = re.compile(
    r"(?m)^.*(deprecated|it/s|Triggered internally|to a scalar).*\n?|^Consider using .*\n?"
)
_BY_THE_CLOCK = re.compile(r"\btime\.|tqdm")


def _can_be_run(_: object, example: Any) -> bool:
    fixable = isinstance(example, Untouched) or example.fixed is not None
    return fixable and not _BY_THE_CLOCK.search(example.code)


EXAMPLES = [case.values[1] for case in cases(Bad, Untouched, where=_can_be_run)]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str, str]:
    """An example in a changed form, the source of its inputs, and the file's line end."""
    example: Any = draw(st.sampled_from(EXAMPLES))
    chance = random.Random(draw(st.integers(0, 2**32)))
    code = laid_out(disturbed(example.code, chance), chance)
    try:
        compile(code, "example.py", "exec")
    except SyntaxError:
        assume(False)
    inputs = [example.inputs, getattr(example, "fails_on", None)]
    # A loop need not end for other numbers than its example's.
    if example.inputs.count("torch.") == 1 and "while " not in example.code:
        inputs.append(VARIED)
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return code, draw(st.sampled_from([one for one in inputs if one])), end


def _fixed(code: str, root: Path, end: str) -> str:
    path = root / "example.py"
    path.write_text(PRELUDE + code, encoding="utf-8", newline=end)
    run = fix_files([path], Config(root=root, compiled=("*:f",)))
    assert not [e for e in run.remaining.errors if "were reverted" in e.message], code
    if not run.changed:
        return code
    after = run.changed[0].after.replace(end, "\n")
    assert "\r" not in after and (
        end == "\n" or after.count("\n") == run.changed[0].after.count(end)
    )
    return after.removeprefix(PRELUDE)


def _unlike(before: Outcome, after: Outcome) -> str | None:
    texts = [_SAID.sub("", one.text.replace("\r", "\n")) for one in (before, after)]
    return (
        difference(before.results, after.results)
        or difference([type(e) for e in before.raised], [type(e) for e in after.raised], "raised")
        or difference(*texts, "output")
        or difference(before.state, after.state, "state")
    )


def check(program: tuple[str, str, str], root: Path) -> None:
    """Fix the program, run it before and after, and fix it again."""
    code, inputs, end = program
    fixed = _fixed(code, root, end)
    if fixed != code:
        found = _unlike(run_eager(code, inputs), run_eager(fixed, inputs))
        assert found is None, f"{found}\n{code}\n{fixed}"
        assert _fixed(fixed, root, end) == fixed, fixed


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs())
def test_eager_code_stays_the_same(program: tuple[str, str, str], tmp_path: Path) -> None:
    check(program, tmp_path)
