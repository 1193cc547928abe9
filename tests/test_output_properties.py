"""Prints, logs and progress bars in every style: eager code says the same, in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tclint.config import Config

from .proof.witness import assert_kept

CALLS = (
    "print({a})",
    "print({a}, {a})",
    'print("é {{}} $", {a})',
    "print()",
    'print(f"{{{a}:.3}} {{{{}}}}")',
    "print({a}, sep='-')",
    "print({a}, end='')",
    "print(*[{a}])",
    "logger.warning({a})",
    'logger.info("%s and %s", {a}, {a})',
    "warnings.warn(str({a}))",
    "logging.error({a})",
    "logger.log(logging.ERROR, {a})",
    "print('a' 'b', {a})",
    'print("""x\n  y""", {a})',
    "warnings.warn({a}, UserWarning, stacklevel=2)",
    "print({a}); print({a})",
    "sys.stdout.write(str({a}))",
    "print(f'{{{a}!r:>9}}', {a})",
    "print({a}) if flag else None",
    "print('100%', '{{', {a})",
)
ARGUMENTS = (
    "'text'",
    "x.shape",
    "x.sum()",
    "x",
    "flag",
    "x.shape[0]",
    "len(x)",
    "step()",
    "(n := 3)",
    "n",
    "x.dtype",
    "[1, x.ndim]",
    "x.mean().item()",
    "str(x.shape)",
    "next(numbers)",
    "x.add_(1)",
    "None",
    "numbers.__name__",
    "1e-05",
    "'a\\n'",
    "torch.rand(2)",
    "self_",
    "f'{x.ndim}'",
    "x.size()",
    "-0.0",
)
FRAMES = (
    "{c}",
    "if flag: {c}",
    "if flag:\n        {c}  # here\n    else: pass",
    "for i in range(2):\n        {c}",
    "if (x > 0).any():\n        {c}",
    "try:\n        {c}\n    finally:\n        n = n + 1",
    "y = x * n; {c}; y = y + 1",
    "while n < 2: n += 1; {c}",
    "inner = lambda: {c}\n    inner()",
    "def inner():\n        {c}\n    inner()",
    "with torch.no_grad():\n        # above\n        {c}",
    "if flag:\n        pass\n    elif x.ndim:\n        {c}",
    "print = print_\n    {c}",
    "torch = None\n    {c}",
    "try:\n        {c}\n    except Exception as error:\n        x = x + 1\n        {c}",
    "if logger.isEnabledFor(20) and (x > 0).all():\n        {c}",
    "z = [{c} for _ in range(2)]",
    "for i in tqdm(range(3)): {c}",
    "for i in tqdm([n, 2], desc=str(n)):\n        n = i\n        {c}",
    "for i in trange(2):\n        {c}",
    "match n:\n        case 1:\n            {c}\n        case _: {c}",
    "assert flag, {c}",
    "{c}\n    return x",
    "if x.sum() > 1:\n        {c}\n        if flag: {c}",
)
PROGRAM = """\
import logging
import sys
import warnings

import torch
from tqdm import tqdm, trange

logger = logging.getLogger("program")
print_ = print
self_ = "self"
flag = True


def step(count=[0]):
    count[0] += 1
    return count[0]


def numbers_():
    yield from range(100)


def f(x):
    n, numbers = 1, numbers_()
    {lines}
    return x * n, next(numbers, None)
"""
CALLED = [
    (torch.ones(2, 3),),
    (torch.tensor([-1.5, float("nan")]),),
    (torch.tensor(3, dtype=torch.int64),),
    (torch.ones(0, 2, dtype=torch.float64),),
    (torch.rand(2, requires_grad=True),),
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function that puts something out in several places."""
    one = st.sampled_from
    lines = []
    for _ in range(draw(st.integers(1, 2))):
        call = draw(one(CALLS)).format(a=draw(one(ARGUMENTS)))
        lines.append(draw(one(FRAMES)).replace("{c}", call))
    return PROGRAM.format(lines="\n    ".join(lines))


def check(program: str, root: Path) -> None:
    """Fix the program, and run it before and after."""
    try:
        compile(program, "program.py", "exec")
    except SyntaxError:
        return
    config = Config(root=root, select=("TCL12",), compiled=("*:f",))
    assert_kept(program, CALLED, root, config)


@pytest.mark.slow
@pytest.mark.sample_of("test_eager_code_says_the_same_in_many_programs")
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs())
def test_eager_code_says_the_same(program: str, tmp_path: Path) -> None:
    check(program, tmp_path)


@pytest.mark.exhaustive
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs())
def test_eager_code_says_the_same_in_many_programs(program: str, tmp_path: Path) -> None:
    check(program, tmp_path)
