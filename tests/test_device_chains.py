"""A tensor that is shaped before it is moved: what the device is given to, and what stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tclint.config import Config
from tclint.fix.apply import fix_files

HEAD = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x + "


def fixed(tmp_path: Path, expression: str) -> str:
    path = tmp_path / "code.py"
    path.write_text(f"{HEAD}{expression}\n", encoding="utf-8")
    config = Config(tmp_path, select=("TCL310",), compiled=("*:f",))
    changed = fix_files([path], config).changed
    return changed[0].after.removeprefix(HEAD).rstrip() if changed else expression


MOVED = {
    "torch.zeros(3).unsqueeze(0).to(x.device)": "torch.zeros(3, device=x.device).unsqueeze(0)",
    "torch.arange(3).view(-1, 1).float().cuda()": (
        'torch.arange(3, device="cuda").view(-1, 1).float()'
    ),
    "torch.ones(3, 3).t().contiguous().to(device=x.device)": (
        "torch.ones(3, 3, device=x.device).t().contiguous()"
    ),
}
STAYS = {
    "expanded": "torch.zeros(3).expand(2, 3).to(x.device)",
    "another dtype": "torch.arange(3).float().to(x.device, torch.float16)",
    "a dtype only": "torch.zeros(3).unsqueeze(0).to(torch.float16)",
    "computed first": "torch.zeros(3).exp().to(x.device)",
    "nothing to copy": "torch.empty(0).to(x.device)",
    "nothing to copy in one dimension": "torch.zeros((2, 0)).to(x.device)",
    "not waited for": "torch.zeros(3).unsqueeze(0).to(x.device, non_blocking=True)",
}


@pytest.mark.parametrize(("before", "after"), MOVED.items())
def test_made_on_the_device(tmp_path: Path, before: str, after: str) -> None:
    assert fixed(tmp_path, before) == after


@pytest.mark.parametrize("expression", STAYS.values(), ids=STAYS)
def test_left_alone(tmp_path: Path, expression: str) -> None:
    assert fixed(tmp_path, expression) == expression


@pytest.mark.parametrize("before", [text for text in MOVED if "cuda" not in text])
def test_the_same_bits_and_strides(tmp_path: Path, before: str) -> None:
    torch = pytest.importorskip("torch")
    names = {"torch": torch, "x": torch.zeros(3, 3)}
    left, right = eval(before, dict(names)), eval(fixed(tmp_path, before), dict(names))
    assert torch.equal(left, right)
    assert (left.dtype, left.stride()) == (right.dtype, right.stride())


NUMBERS = {
    "torch.tensor(1, device=x.device).to(torch.int8)": (
        "torch.ones((), device=x.device, dtype=torch.long).to(torch.int8)"
    ),
    "torch.tensor(2, device=x.device).to(x)": "torch.full((), 2, device=x.device).to(x)",
}


@pytest.mark.parametrize(("before", "after"), NUMBERS.items())
def test_what_follows_a_number_made_on_its_device_stays(
    tmp_path: Path, before: str, after: str
) -> None:
    assert fixed(tmp_path, before) == after


def test_an_annotation_proves_no_number(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    text = "import torch\n\n\ndef f(x, n: int):\n    return torch.tensor(n, device=x.device) + x\n"
    path.write_text(text, encoding="utf-8")
    config = Config(tmp_path, select=("TCL310",), compiled=("*:f",))
    assert not fix_files([path], config).changed
    assert "torch.full((), n" in fix_files([path], config, unsafe=True).changed[0].after


@pytest.mark.parametrize(
    ("code", "fixed"),
    [
        ("torch.tensor(0.0, device=x.device)", "torch.zeros((), device=x.device)"),
        ("torch.tensor([1.0], device=x.device)", "torch.ones(1, device=x.device)"),
        ("torch.tensor(0, device=x.device)", "torch.zeros((), device=x.device, dtype=torch.long)"),
        (
            "torch.tensor(1, dtype=x.dtype, device=x.device)",
            "torch.ones((), dtype=x.dtype, device=x.device)",
        ),
        (
            "torch.tensor(0, dtype=maybe, device=x.device)",
            "torch.full((), 0, dtype=maybe, device=x.device)",
        ),
        (
            "torch.tensor(0.0, dtype=maybe, device=x.device)",
            "torch.zeros((), dtype=maybe, device=x.device)",
        ),
        ("torch.tensor(-0.0, device=x.device)", "torch.full((), -0.0, device=x.device)"),
        ("torch.tensor(2, device=x.device)", "torch.full((), 2, device=x.device)"),
    ],
)
def test_zeros_and_ones_are_written_as_people_write_them(
    tmp_path: Path, code: str, fixed: str
) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor, maybe=None):\n"
    before = f"{text}    return x + {code}\n"
    path = tmp_path / "m.py"
    path.write_text(before, encoding="utf-8")
    after = fix_files([path], Config(tmp_path, compiled=("*:f",)), unsafe=True).changed[0].after
    assert after == f"{text}    return x + {fixed}\n"
    for given in ({}, {"maybe": torch.float64}):
        one, two = (_run(program, given) for program in (before, after))
        assert one.dtype == two.dtype
        assert torch.equal(one, two)


def _run(program: str, given: dict[str, Any]) -> torch.Tensor:
    scope: dict[str, Any] = {}
    exec(program, scope)
    result: torch.Tensor = scope["f"](torch.ones(2, dtype=torch.int32), **given)
    return result
