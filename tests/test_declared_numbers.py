"""Repairs keep to what the code says about numbers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint_rules.lib.facts.annotations import is_described_as_number, is_number_type
from tclint_rules.lib.rewrite.torch_equivalents import is_whole

if TYPE_CHECKING:
    from pathlib import Path


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    "text",
    [
        "float",
        "int | None",
        "Optional[float]",
        "'Union[int, float]'",
        "numbers.Number",
        "typing.Optional[bool]",
    ],
)
def test_a_number_is_recognised(text: str) -> None:
    assert is_number_type(_expression(text))


@pytest.mark.parametrize(
    "text",
    ["Union[float, Tensor]", "str", "None", "Any", "list[float]", "float | torch.Tensor", "'a b'"],
)
def test_anything_else_is_not_taken_for_a_number(text: str) -> None:
    assert not is_number_type(_expression(text))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rate : float", True),
        ("rate (float, optional): how fast", True),
        ("rate: int or None", True),
        ("rate (Tensor): how fast", False),
        ("rate (float or Tensor): how fast", False),
        ("rate: the float that is used", False),
        ("generate : float", False),
    ],
)
def test_a_description_of_a_parameter_is_read(line: str, expected: bool) -> None:
    assert is_described_as_number(f"Run.\n\n    {line}\n", "rate") is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.round()", True),
        ("torch.bincount(x)[0].item()", True),
        ("round(x.item())", True),
        ("x.mean()", False),
        ("x.round().mean()", False),
    ],
)
def test_whole_numbers_are_known(text: str, expected: bool) -> None:
    assert is_whole(_expression(text)) is expected


def _fixed(path: Path, body: str) -> str:
    path.write_text(f"import torch\n\n\n{body}", encoding="utf-8")
    config = Config(root=path.parent, compiled=("*:f",))
    changed = fix_files([path], config, unsafe=True).changed
    return changed[0].after if changed else path.read_text(encoding="utf-8")


def test_a_number_is_taken_for_a_tensor_where_the_code_asks_first(tmp_path: Path) -> None:
    body = (
        "def f(x):\n    return g(x, x.sum())\n\n\n"
        "def g(x, ratio: float):\n"
        "    if isinstance(ratio, torch.Tensor) and ratio.ndim == 0:\n"
        "        ratio = float(ratio)\n"
        "    return x * ratio\n"
    )
    assert "ratio = ratio.detach()" in _fixed(tmp_path / "asked.py", body)


def test_a_declared_number_that_is_bound_anew_is_repaired(tmp_path: Path) -> None:
    body = (
        "def f(x):\n    return g(x, x.sum())\n\n\n"
        "def g(x, ratio: float):\n    ratio = x.float().sum()\n    return x * float(ratio)\n"
    )
    assert "x * ratio.detach()" in _fixed(tmp_path / "anew.py", body)


def test_arithmetic_leaves_a_declared_number_one(tmp_path: Path) -> None:
    body = (
        "def f(x):\n    return g(x, x.sum())\n\n\n"
        "def g(x, ratio: float):\n    ratio = 2 * ratio\n    return x * float(ratio)\n"
    )
    assert _fixed(tmp_path / "kept.py", body).endswith(body)


def test_what_is_detached_is_not_detached_again(tmp_path: Path) -> None:
    body = "def f(x):\n    return x * x.float().sum().detach().item()\n"
    assert "x * x.float().sum().detach()\n" in _fixed(tmp_path / "twice.py", body)
