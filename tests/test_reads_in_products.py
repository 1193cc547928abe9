"""A number read for a product: the tensor that stays in its place shares no memory with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="the programs are run")

from .proof.witness import unlike, witness  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import torch


def doubled(x):
    x.zero_()
    return 2.0


def f(x: torch.Tensor, w: torch.Tensor):
    n = x.shape[0]
    y = x * 1.0
    v = y[1:]
"""
# Each computes ``z``; whether the read is copied where the number stays on the device.
NOT_COPIED = {
    "a number, then a write": "z = 3.0 * v[0].item()\ny.zero_()",
    "from the right": "z = v[0].item() * 3\ny.zero_()",
    "a size": "z = n * v[0].item()\ny.add_(1)",
    "a sum": "z = 1 + v[0].item()\ny.zero_()",
}
COPIED = {
    "a tensor that learns": "z = w * v[0].item()\ny.zero_()",
    "a view of what is written": "z = y[2:] * v[0].item()\ny.zero_()",
    "what a call writes first": "z = v[0].item() * doubled(y)",
    "a name": "m = v[0].item()\ny.zero_()\nz = 3.0 * m",
}


def _fixed(body: str, folder: Path) -> tuple[str, str]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    code = f"{HEAD}{lines}    return z + w, y\n\n\nf.scale = 2.0\n"
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    config = Config(folder, select=("TCL101",), weak=True, compiled=("*:f",))
    changed = fix_files([path], config, unsafe=True).changed
    return code, changed[0].after if changed else code


@pytest.mark.parametrize(
    ("body", "copies"),
    [*((body, False) for body in NOT_COPIED.values()), *((body, True) for body in COPIED.values())],
    ids=[*NOT_COPIED, *COPIED],
)
def test_what_is_written_later_is_not_seen(body: str, copies: bool, tmp_path: Path) -> None:
    code, after = _fixed(body, tmp_path)
    assert ".item()" not in after
    assert (".clone()" in after) is copies, after
    x = torch.tensor([1.0, 2.5, -3.0])
    calls = [(x, torch.tensor([0.5, 2.0])), (x, torch.tensor([0.5, 2.0]).requires_grad_())]
    found = unlike(witness(code, calls), witness(after, calls))
    assert found is None, f"{found}\n{after}"


def test_a_product_with_what_is_not_known_is_left_alone(tmp_path: Path) -> None:
    code, after = _fixed("z = f.scale * v[0].item()\ny.zero_()", tmp_path)
    assert after == code
