"""Asserts on tensors: a fix takes them into the graph whole, or leaves them alone and says so."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs are run and compiled")

import torch

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

from .dynamo import breaks, loaded, skip_before

# Tests that become whole in one go; `a` and `b` are tensors, `n` is a size, `seen` counts calls.
REPAIRED = (
    "(a > 0).all() and (b > 0).all()",
    "(a > 0).all() and (b > 0).all() and (a < 9).all()",
    "not (a < 0).any()",
    "not (a < 0).any() and not (b < 0).any()",
    "not ((a < 0).any() or (b < 0).any())",
    "n == 3 and (a > 0).all() and (b > 0).all()",
    "n == 4 or (a > 0).all()",
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
    "not a.isnan().any() and not a.isinf().any()",
    "not not (a > 0).all()",
    "not (not (a > 0).all() or (b < 0).any())",
)
# Tests that are left to their author: alternatives and chains, and what may raise or write.
DECLINED = (
    "(a > 0).all() or (a < -9).all()",
    "0 < a.min() < 9",
    "0 < a.min() <= a.max() < 9",
    "-n < a.max() < 9",
    "not ((a < 0).any() and (a < -9).any())",
    "not 5 < a.max() < 9",
    "n == 4 or (a > 0).all() or (a < -9).all()",
    "((a > 0).all() and (b > 0).all()) and 0 < a.max() < 9",
    "(a > 0).all() or ((a < -9).all() and not (a == 3).any())",
    "((a > 0).all() and (a < 9).all()) or (a < -9).all()",
    "(a == b).all() or a.isnan().any()",
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
MESSAGES = (
    "", ', "bad"', ', f"bad, got {a.min()} of {n}"', ", MESSAGE", ', "bad %s" % (a,)', ", 42",
)  # fmt: skip
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


CAUGHT = (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError)


def fixed(folder: Path, text: str, *, unsafe: bool = False) -> tuple[str, list[str]]:
    """A program after `fix`, and the graph breaks that `check` finds in it then."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, scope="all")
    run = fix_files([path], config, unsafe=unsafe)
    after = run.changed[0].after if run.changed else text
    left = check_files([path], config, {path: after}).results
    breaking = [r.diagnostic for r in left if r.diagnostic.effect is Effect.GRAPH_BREAK]
    return after, [diagnostic.code for diagnostic in breaking]


def outcome(text: str, inputs: tuple[Any, ...]) -> str:
    """What a program does eagerly: its result, or its exception, and what was called."""
    function = loaded(text)
    try:
        result = repr(function(*inputs))
    except CAUGHT as error:
        result = f"{type(error).__name__}: {error}"
    calls = vars(sys.modules[function.__module__])["CALLS"]
    return f"{result} after {len(calls)} calls"


@pytest.mark.parametrize("test", (*REPAIRED, *DECLINED))
def test_a_fixed_assert_does_the_same_in_eager_code(test: str, tmp_path: Path) -> None:
    for message in MESSAGES:
        text = PROGRAM.format(test=test, message=message)
        after, _ = fixed(tmp_path, text)
        for inputs in INPUTS:
            assert outcome(after, inputs) == outcome(text, inputs), after


@pytest.mark.parametrize("test", REPAIRED)
def test_an_unsafe_fix_of_the_message_keeps_what_is_asserted(test: str, tmp_path: Path) -> None:
    text = PROGRAM.format(test=test, message=MESSAGES[2])
    after, _ = fixed(tmp_path, text, unsafe=True)
    for inputs in INPUTS[:7]:
        before, now = (outcome(code, inputs).partition(" after ") for code in (text, after))
        assert before[0].split(": bad")[0] == now[0].split(": bad")[0]
        assert before[2] == now[2]


@pytest.mark.parametrize("message", MESSAGES[1:3])
@pytest.mark.parametrize("test", REPAIRED)
def test_a_fixed_assert_stays_in_the_graph(test: str, message: str, tmp_path: Path) -> None:
    text = PROGRAM.format(test=test, message=message)
    after, left = fixed(tmp_path, text, unsafe=True)
    assert left == []
    assert after.count("is_compiling") == text.count("is_compiling")
    assert not breaks(after, *INPUTS[0]), after


@pytest.mark.parametrize("test", DECLINED)
def test_an_assert_that_cannot_be_fixed_whole_is_left_alone_and_told(
    test: str, tmp_path: Path
) -> None:
    text = PROGRAM.format(test=test, message=MESSAGES[2])
    after, left = fixed(tmp_path, text, unsafe=True)
    assert (after, bool(left)) == (text, True)
    assert breaks(text, *INPUTS[0])


@pytest.mark.slow
@pytest.mark.parametrize("test", REPAIRED)
def test_a_fixed_assert_fails_in_compiled_code_where_it_fails_in_eager_code(
    test: str, tmp_path: Path
) -> None:
    text = PROGRAM.format(test=test, message=MESSAGES[2])
    after, _ = fixed(tmp_path, text, unsafe=True)
    for inputs in INPUTS[:7]:
        torch._dynamo.reset()
        compiled = torch.compile(loaded(after), backend="eager", dynamic=False)
        failed = False
        try:
            compiled(*inputs)
        except (RuntimeError, AssertionError):
            failed = True
        assert failed is ("Error" in outcome(text, inputs)), (inputs, after)


# Asserts in all kinds of places and spellings, of `x` and `y`.
PLACED = (
    ("for i in range(2):\n    assert (x > 0).all() and (y > 0).all(), f'bad {i}'"),
    ("with torch.no_grad():\n    assert (x > 0).all() and (y > 0).all(), f'bad {x}'"),
    "if x.ndim == 1: assert (x > 0).all() and (y > 0).all(), f'bad {x}'",
    "z = 1; assert (x > 0).all() and (y > 0).all(), f'bad {z}'",
    "assert (x > 0).all() and (y > 0).all(), f'bad {x}'; z = 1",
    "assert (x > 0).all() and (y > 0).all(), f'bad {x}'  # why",
    ("assert (\n    (x > 0).all()  # first\n    and (y > 0).all()\n), f'bad {x}'"),
    ("assert (\n    (x > 0).all()\n    and (y > 0).all()\n), (\n    'long '\n    f'bad {x}'\n)"),
    ("if x.ndim == 7:\n    pass\nelse:\n    assert (x > 0).all() and (y > 0).all(), f'bad {x}'"),
    (
        "if x.ndim == 7:\n"
        "    pass\n"
        "elif x.ndim == 1:\n"
        "    assert (x > 0).all() and (y > 0).all(), f'bad {x}'"
    ),
    (
        "def g(x, y):\n"
        "    assert (x > 0).all() and (y > 0).all(), f'bad {x}'\n"
        "    return x\n"
        "x = g(x, y)"
    ),
    (
        "try:\n"
        "    assert (x > 0).all() and (y > 0).all(), f'bad {x}'\n"
        "except AssertionError:\n"
        "    x = x + 1"
    ),
    ("try:\n    assert (x > 0).all() and (y > 0).all(), f'bad {x}'\nfinally:\n    x = x + 1"),
    ("g = lambda: (x > 0).all()\nassert g() and (y > 0).all(), f'bad {x}'"),
    "assert (m := x.min()) > 0 and m < 9, f'bad {m}'",
    ("assert (m := x.min()) > 0 and m < 9\nx = x + m"),
    ("assert (x > 0).all() or (m := x.min()) > -99\nx = x + 1"),
    ("if torch.compiler.is_compiling():\n    assert (x > 0).all() and (y > 0).all(), f'bad {x}'"),
    (
        "if not torch.compiler.is_compiling():\n"
        "    assert (x > 0).all() and (y > 0).all(), f'bad {x}'"
    ),
    (
        "if not torch.compiler.is_compiling():\n"
        "    return x\n"
        "assert (x > 0).all() and (y > 0).all(), f'bad {x}'"
    ),
    ("if torch.compiler.is_compiling():\n    assert (x > 0).all() or (x < -5).all(), f'bad {x}'"),
    ("if torch.compiler.is_compiling():\n    assert x.max().item() < 0.1 + 3, f'bad {x}'"),
    ("if torch.compiler.is_compiling():\n    assert (x > 0).all(), 42"),
    ("if torch.compiler.is_compiling():\n    if (x < 0).any():\n        raise ValueError('bad')"),
    "assert not (x < 0).any() and x.max().item() < 9.5, f'bad {x.max().item():.2f}'",
    "assert 0 < x.min() < 9, 'bad %f' % x.min()",
    "assert not (0 < -x.min() < 9), 'bad {}'.format(x.min())",
    ("msg = 'bad'\nassert (x > 0).all() and (y > 0).all(), msg"),
    "assert isinstance(x, torch.Tensor) and (x > 0).all() and (y > 0).all(), f'bad {x}'",
    "assert y is not None and (y > 0).all() and (x > 0).all(), f'{y}'",
    "assert x.min() == y.min() == x.max(), f'{x}'",
    "assert 0 < x.shape[0] < 9 and (x > 0).all() and (y > 0).all()",
    "assert x.sum() in (3, 4)",
    "assert x is not y and (x > 0).all() and (y > 0).all(), f'{x}'",
    "assert torch.all(x > 0) and torch.any(y > 0), f'{x}'",
    "assert ((x > 0).all() if x.ndim == 1 else (y > 0).all()) and (y > 0).all(), f'bad {x}'",
    "assert (x > 0).all() * (y > 0).all(), f'bad {x}'",
    "assert (x > 0).all() and (y > 0).all(), f'costs $5 {x} {{}}'",
    'assert (x > 0).all() and (y > 0).all(), f"it\'s \\"{x}\\""',
    "assert not bool((x < 0).any()) or bool((y > 0).all()), f'bad {x}'",
    "assert ((x > 0).all() and ((y > 0).all()))",
    "assert len(x.tolist()) > 2, f'bad {x}'",
    "assert any([x.max() > 0]) and (y > 0).all(), f'bad {x}'",
    "assert (x > 0).all() if x.ndim == 1 else True",
    "assert not (torch.isnan(x).any() or torch.isinf(x).any()), f'bad {x}'",
    "assert (x > 0).all() and (y > 0).all(), ('bad', x)",
    "assert x.sum().item() == 3.0 and (y > 0).all(), f'bad {x}'",
    "assert (x > 0).all() and (y > 0).all(), 'a' * 120 + str(x)",
)
SPELLED = """\
import torch
from torch import nn

CALLS = []
LIMIT = 9


class Bounds:
    def __init__(self):
        self.high = torch.tensor(9.0)

    @property
    def low(self):
        CALLS.append("low")
        return torch.tensor(-1.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("least", torch.tensor(0.0))
        self.bounds = Bounds()

    @property
    def most(self):
        CALLS.append("most")
        return torch.tensor(9.0)

    def forward(self, x, y, flag=True):
        assert {test}
        return x * 2 + y


f = Net()
"""
TESTS = (
    "self.least < x.min() < 9, f'bad {self.training}'",
    "-9 < x.min() < self.most, f'bad {x}'",
    "x.min() < self.most < 99, f'bad {x}'",
    "-9 < self.bounds.low < x.min()",
    "(x > 0).all() and not (y < 0).any(), f'bad {self.training}'",
    "not flag or (x > 0).all() and (y > 0).all()",
    "(flag or (x > 0).all()) and (y > 0).all(), f'{x}'",
    "not (flag and (x < 0).any()), 'bad'",
    "not (flag and (x < 0).any() and (y < 0).any()), f'{x}'",
    "LIMIT > x.max() > 0, f'{x}'",
    "not flag or (x > 0).all() or (x < -5).all()",
    "self.training and (x > 0).all() and (y > 0).all()",
)


@pytest.mark.parametrize("body", (*PLACED, *TESTS))
def test_check_says_what_breaks_after_fixing_and_eager_code_is_the_same(
    body: str, tmp_path: Path
) -> None:
    skip_before((2, 13))
    if body in TESTS:
        text = SPELLED.replace("{test}", body)
    else:
        text = SPELLED.partition("class Bounds")[0] + "def f(x: torch.Tensor, y: torch.Tensor):\n"
        text += "".join(f"    {line}\n" for line in (*body.split("\n"), "return x * 2 + y"))
    after, left = fixed(tmp_path, text)
    for inputs in INPUTS[:9]:
        assert outcome(after, inputs) == outcome(text, inputs), after
    assert breaks(after, *INPUTS[0]) is bool(left), after
