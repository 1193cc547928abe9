"""Asserts on tensors: a fix takes them into the graph whole, or leaves them alone and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs are run and compiled")

import torch

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

from .dynamo import breaks, loaded

# Tests that become whole in one go; `a` and `b` are tensors, `n` is a size, `seen` counts calls.
REPAIRED = (
    "(a > 0).all() and (b > 0).all()",
    "(a > 0).all() and (b > 0).all() and (a < 9).all()",
    "(a > 0).all() or (a < -9).all()",
    "0 < a.min() < 9",
    "0 < a.min() <= a.max() < 9",
    "-n < a.max() < 9",
    "not (a < 0).any()",
    "not (a < 0).any() and not (b < 0).any()",
    "not ((a < 0).any() or (b < 0).any())",
    "not ((a < 0).any() and (a < -9).any())",
    "not 5 < a.max() < 9",
    "n == 3 and (a > 0).all() and (b > 0).all()",
    "n == 4 or (a > 0).all()",
    "n == 4 or (a > 0).all() or (a < -9).all()",
    "not (n == 4 and (a < 0).any())",
    "((a > 0).all() and (b > 0).all()) and 0 < a.max() < 9",
    "(a > 0).all() or ((a < -9).all() and not (a == 3).any())",
    "((a > 0).all() and (a < 9).all()) or (a < -9).all()",
    "(a > 0).all() and n == 3 and a.sum() > 1 and n < 5",
    "a.max().item() < 9",
    "a.max().item() < 9 and not (b < 0).any().item()",
    "bool((a > 0).all()) and bool((b > 0).all())",
    "not bool((a < 0).any())",
    "not (bool((a < 0).any()) or bool((b < 0).any()))",
    "torch.allclose(a, b) and (a > 0).all()",
    "a.mean().item() < 2.7",
    "(a > 0).all() and a.mean().item() < 2.7",
    "a.sum().item() > 0",
    "(a > 0).sum() == a.numel() and (b > 0).sum() == b.numel()",
    "torch.isfinite(a).all() and torch.isfinite(b).all()",
    "(a == b).all() or a.isnan().any()",
    "not a.isnan().any() and not a.isinf().any()",
    "not not (a > 0).all()",
    "not (not (a > 0).all() or (b < 0).any())",
)
# Tests of which some part may raise, write, or be something else than a tensor: they stay.
DECLINED = (
    "(a > 0).all() or a.mean() > 0",
    "(a > 0).all() or (a / b.max() < 2).all()",
    "(a > 0).all() or (b > 0).all()",
    "(a > 0).all() or a[5] > 0",
    "(a > 0).all() or seen(a)",
    "a.sum() > 0 or a.abs().sum() > 0",
    "a.sum() or b.sum() or a.sum()",
    "0 < seen(a).min() < 9",
    "0 < a.sum().item() < 9",
    "a.sum().item() * 2 < 99 and (b > 0).all()",
    "(a > 0).all() or n == 3",
    "((a == 1).all() and (b < 9).all()) or (b > 0).all()",
    "int(a.sum()) == 3",
)
MESSAGES = ("", ', "bad"', ', f"bad {a.min()} of {n}"', ", MESSAGE", ', "bad %s" % (a,)', ", 42")
PROGRAM = """\
import torch

MESSAGE = "from afar"
CALLS = []


def seen(t):
    CALLS.append(len(CALLS))
    return t.sum() > 0


def f(a: torch.Tensor, b: torch.Tensor):
    n = a.shape[0]
    assert {test}{message}
    return a * 2 + b
"""
INPUTS = [
    (torch.ones(3), torch.ones(3)),
    (-torch.ones(3), torch.ones(3)),
    (torch.ones(3), -torch.ones(3)),
    (-10 * torch.ones(3), torch.ones(3)),
    (6 * torch.ones(3), torch.ones(3)),
    (torch.full((3,), 2.7), torch.ones(3)),
    (torch.tensor([1.0, float("nan"), 3.0]), torch.ones(3)),
    (torch.ones(4), torch.ones(4)),
    (torch.ones(3, dtype=torch.long), torch.ones(3, dtype=torch.long)),
    (torch.ones(3, dtype=torch.bool), torch.zeros(3, dtype=torch.bool)),
    (torch.ones(3, dtype=torch.complex64), torch.ones(3)),
    (torch.ones(3, dtype=torch.half), torch.ones(3)),
    (torch.zeros(0), torch.zeros(0)),
    (torch.ones(2, 3), torch.ones(3)),
    (torch.tensor(1.0), torch.tensor(2.0)),
]  # fmt: skip


def fixed(folder: Path, text: str) -> tuple[str, list[str]]:
    """A program after `fix`, and the graph breaks that `check` finds in it then."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, scope="all")
    run = fix_files([path], config)
    after = run.changed[0].after if run.changed else text
    left = check_files([path], config, {path: after}).results
    breaking = [r.diagnostic for r in left if r.diagnostic.effect is Effect.GRAPH_BREAK]
    return after, [diagnostic.code for diagnostic in breaking]


def outcome(text: str, inputs: tuple[Any, ...]) -> str:
    """What a program does eagerly: its result, or its exception, and what was called."""
    function = loaded(text)
    try:
        result = repr(function(*inputs))
    except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError) as error:
        result = f"{type(error).__name__}: {error}"
    return f"{result} after {len(function.__globals__['CALLS'])} calls"


@pytest.mark.parametrize("test", (*REPAIRED, *DECLINED))
def test_a_fixed_assert_does_the_same_in_eager_code(test: str, tmp_path: Path) -> None:
    for message in MESSAGES:
        text = PROGRAM.format(test=test, message=message)
        after, _ = fixed(tmp_path, text)
        for inputs in INPUTS:
            assert outcome(after, inputs) == outcome(text, inputs), after


@pytest.mark.parametrize("message", MESSAGES[1:3])
@pytest.mark.parametrize("test", REPAIRED)
def test_a_fixed_assert_stays_in_the_graph(test: str, message: str, tmp_path: Path) -> None:
    after, left = fixed(tmp_path, PROGRAM.format(test=test, message=message))
    assert left == []
    assert not breaks(after, *INPUTS[0]), after


@pytest.mark.parametrize("test", DECLINED)
def test_an_assert_that_cannot_be_fixed_whole_is_left_alone_and_told(
    test: str, tmp_path: Path
) -> None:
    text = PROGRAM.format(test=test, message=MESSAGES[2])
    after, left = fixed(tmp_path, text)
    assert (after, bool(left)) == (text, True)
    assert breaks(text, *INPUTS[0])


@pytest.mark.slow
@pytest.mark.parametrize("test", REPAIRED)
def test_a_fixed_assert_fails_in_compiled_code_where_it_fails_in_eager_code(
    test: str, tmp_path: Path
) -> None:
    text = PROGRAM.format(test=test, message=MESSAGES[2])
    after, _ = fixed(tmp_path, text)
    for inputs in INPUTS[:7]:
        torch._dynamo.reset()
        compiled = torch.compile(loaded(after), backend="eager", dynamic=False)
        failed = False
        try:
            compiled(*inputs)
        except (RuntimeError, AssertionError):
            failed = True
        assert failed is ("Error" in outcome(text, inputs)), (inputs, after)
