"""A read that nobody uses goes whole only where computing what it reads raises nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tclint.config import Config
from tclint.fix.apply import fix_files

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, y: torch.Tensor):\n"


def fixed(body: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(f"{HEAD}    {body}\n    return x * 2\n", encoding="utf-8")
    [file] = fix_files([path], Config(root=folder)).changed
    return file.after


def raised(code: str, x: torch.Tensor, y: torch.Tensor) -> str:
    names: dict[str, Any] = {}
    exec(code.replace("@torch.compile\n", ""), names)
    try:
        names["f"](x, y)
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__
    return ""


COMPLEX = torch.ones(3, dtype=torch.complex64)
PLACES = {"cpu": torch.ones(3), "meta": torch.ones(3, device="meta")}


@pytest.mark.parametrize(
    "body",
    [
        "n = int((y > 0).sum())",
        "n = (y > 0).sum().item()",
        "n = bool((y >= 0.5).any())",
        "n = bool((y.sum() < 1).all())",
        "n = (y <= 2).sum().tolist()",
        "float((y > 0).sum())",
        "n = int((y.sum() > 0).sum())",
        "n = int((0 < y).sum())",
    ],
)
def test_what_no_complex_tensor_has_is_still_computed(body: str, tmp_path: Path) -> None:
    before = f"{HEAD}    {body}\n    return x * 2\n"
    after = fixed(body, tmp_path)
    assert after != before
    for given in (COMPLEX, torch.ones(3), torch.ones(3, dtype=torch.int64)):
        assert raised(after, given.real, given) == raised(before, given.real, given)
    assert raised(after, torch.ones(3), COMPLEX)


@pytest.mark.parametrize(
    "body",
    [
        "n = int((x == y.sum()).sum())",
        "n = int((y.sum() == x).sum())",
        "n = bool((x != y.sum()).any())",
        "x, y = x.float(), y.float()\n    n = int((x > y.sum()).sum())",
        "x, y = x.float(), y.float()\n    n = bool((y.sum() <= x).all())",
    ],
)
def test_tensors_of_two_devices_are_still_compared(body: str, tmp_path: Path) -> None:
    after = fixed(body, tmp_path)
    x, y = PLACES["cpu"], PLACES["meta"]
    assert raised(after, x, y)


@pytest.mark.parametrize(
    "body",
    [
        "n = int((y == 0).sum())",
        "n = int((y != 0).sum())",
        "n = int((x == x.sum()).sum())",
        "n = y.isnan().any().item()",
        "z = y.float()\n    n = int((z > 0).sum())",
        "z = y.int()\n    n = int((z >= z.sum()).sum())",
        "z = y.argmax()\n    n = bool((z > 0).all())",
    ],
)
def test_what_raises_nothing_goes_whole(body: str, tmp_path: Path) -> None:
    after = fixed(body, tmp_path)
    assert "n = " not in after
    before = f"{HEAD}    {body}\n    return x * 2\n"
    given = torch.ones(3)
    assert raised(after, given, given) == raised(before, given, given) == ""
