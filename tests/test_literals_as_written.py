"""A fix keeps literals as they are written."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

from tclint_rules.lib.rewrite.as_written import as_written

from .proof.fixing import fixed

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn


"""
STORED = """\
def f(x: torch.Tensor):
    y = x.bfloat16() + 0
    y[y > 0] = y[y > 0] / 3 + N
    return y


compiled = torch.compile(f)
"""
NUMBERS = ["1e-3", "1e6", "1e30", "1E-3", ".5", "5.", "1_000", "0x10", "1_0.0_1", "0b11", "-1e-3"]
PROGRAMS = {
    "either": """\
def f(x: torch.Tensor):
    if x.sum() > 1e-3:
        x = x * 1e6
    else:
        x = x - 1e-6
    return x


compiled = torch.compile(f)
""",
    "one way": """\
def f(x: torch.Tensor):
    y = x * 2e0
    if x.sum() > 1e-3:
        y = y - 1e6
    return y


compiled = torch.compile(f)
""",
    "a number": """\
def f(x: torch.Tensor):
    return x * torch.tensor(1e3).item() + torch.tensor(1_000).item()


compiled = torch.compile(f)
""",
    "a read": """\
def f(x: torch.Tensor):
    scale = x.abs().max().item() + 1e-6
    return x * (1e3 / scale)


compiled = torch.compile(f)
""",
    "a rate": """\
def train(model: nn.Module, x: torch.Tensor):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)

    @torch.compile
    def update():
        optimizer.step()

    for step in range(3):
        model(x).sum().backward()
        update()
        scheduler.step()
""",
}
MADE_UP = {"0", "1", "0.0", "1.0"}


def numbers(code: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {one.string for one in tokens if one.type == tokenize.NUMBER}


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_in_a_store_stays(number: str, tmp_path: Path) -> None:
    after = fixed(HEAD + STORED.replace("N", number), tmp_path, unsafe=True)
    assert f"torch.where(y > 0, y / 3 + {number}, y)" in after


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_fix_writes_a_number_another_way(name: str, tmp_path: Path) -> None:
    code = HEAD + PROGRAMS[name]
    after = fixed(code, tmp_path, unsafe=True)
    assert after != code
    assert numbers(after) <= numbers(code) | MADE_UP


@pytest.mark.parametrize(
    "code",
    [
        "a + 1e-3", "f(1_000, 'x', \"y\")", "1 .real + 0x1F.bit_length()", "a[1_0:, ..., None]",
        "f'{a:.3f} {1e3}'", "-1e3 ** -0x2", "(1e3).hex()", "f('a' 'b')", "b'x' + r'\\d'",
    ],
)  # fmt: skip
def test_what_is_written_means_the_same(code: str) -> None:
    tree = ast.parse(code, mode="eval").body
    text = as_written(tree, lambda node: ast.get_source_segment(code, node))
    assert ast.dump(ast.parse(text, mode="eval").body) == ast.dump(tree)


def test_a_literal_that_nobody_wrote_is_written_anew() -> None:
    made = ast.BinOp(ast.Name("a"), ast.Add(), ast.Constant(1000))
    assert as_written(made, lambda _: "7") == "a + 1000"
