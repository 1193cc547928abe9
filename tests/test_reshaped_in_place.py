"""What is reshaped in place, under any name, is no longer certainly a single number."""

from __future__ import annotations

from pathlib import Path

import pytest

from .proof.fixing import fixed

PROGRAM = """\
import operator
import torch


def grow(tensor):
    tensor.resize_(4)


def grow_in_turn(tensor):
    grow(tensor)


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    s = y.flatten().max()
    {body}
    return y * s.item()
"""
CHANGES = (
    "s.resize_(4)",
    "other = s\n    other.resize_(4)",
    "s.unsqueeze_(0)",
    "s.data = x",
    "s.set_(x)",
    "s.resize_as_(x)",
    "s.as_strided_((2,), (0,))",
    "torch.add(x, 1, out=s)",
    "torch.max(x, 0, out=(s, y))",
    "torch.utils.swap_tensors(s, x)",
    "torch.unsqueeze_copy(s, 0, out=s)",
    "grow(s)",
    "grow_in_turn(s)",
    "setattr(s, 'data', x)",
    "held = [s]\n    held[0].resize_(3)",
    "held = {'s': s}\n    held['s'].unsqueeze_(0)",
    "if x.ndim:\n        s.unsqueeze_(0)",
    "for _ in range(2):\n        s.unsqueeze_(0)",
)
KEPT = ("x = x + 1", "s.add_(0)", "x.unsqueeze(0)")


@pytest.mark.parametrize("body", CHANGES)
def test_a_read_of_what_was_reshaped_has_no_safe_fix(tmp_path: Path, body: str) -> None:
    source = PROGRAM.format(body=body)
    assert fixed(source, tmp_path) == source


@pytest.mark.parametrize("body", KEPT)
def test_what_leaves_the_shape_alone_leaves_the_fix(tmp_path: Path, body: str) -> None:
    assert ".item()" not in fixed(PROGRAM.format(body=body), tmp_path)


def test_exponentials_of_unknown_tensors_may_be_complex(tmp_path: Path) -> None:
    source = """\
import torch


@torch.compile
def f(y: torch.Tensor):
    ratio = y.exp() / y.exp().sum()
    return ratio * float(ratio.sum().item())
"""
    assert fixed(source, tmp_path) == source
    assert ".item()" not in fixed(source.replace("y.exp()", "y.float().exp()"), tmp_path)


def test_numbers_that_a_loop_takes_from_a_list_are_followed(tmp_path: Path) -> None:
    source = """\
import torch


@torch.compile
def f(x: torch.Tensor):
    for n in [x.float().max().item()]:
        pass
    return x + round(n)
"""
    assert fixed(source, tmp_path, unsafe=True) == source


def test_torch_is_written_by_the_name_that_the_function_imports(tmp_path: Path) -> None:
    source = """\
import torch.nn.functional as F


def f(x):
    import torch
    logp = F.log_softmax(torch.ones(4, 4), dim=-1)
    return -logp[range(4), x.argsort()].mean()


def compiled():
    import torch
    return torch.compile(f)
"""
    text = fixed(source, tmp_path)
    assert "torch.arange(4" in text
    assert text.count("import torch\n") == 2
