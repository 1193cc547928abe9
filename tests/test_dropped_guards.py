"""A guard before a masked write that goes: the text names all that an empty mask does now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tclint.config import Config
from tclint.diagnostics import Applicability
from tclint.lint.engine import check_files

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, m: torch.Tensor):\n    m = m > 0\n"
NEEDED = "backward pass"
BARRED = "cannot be written in place"
MISFIT = "does not fit"
HELD = "cannot hold"


def told(code: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    found = check_files([path], Config(root=folder, select=("TCL160",))).results
    (fix,) = [one.repair for one in found if one.repair is not None]
    assert fix.applicability is Applicability.UNSAFE
    return fix.changes or ""


def outcome(code: str, x: torch.Tensor, m: torch.Tensor) -> str:
    names: dict[str, Any] = {}
    exec(code.replace("@torch.compile\n", ""), names)
    try:
        result = names["f"](x, m)
        if result.requires_grad:
            result.sum().backward()
    except (RuntimeError, IndexError) as error:
        return str(error)
    return "fine"


@pytest.mark.parametrize(
    ("body", "x", "m", "raised", "text"),
    [
        ("y = x * 2\n    z = y.exp() * y\n    GUARD\n    return z", 3.0, 3, "modified by", NEEDED),
        ("y = x\n    GUARD\n    return y * 2", 3.0, 3, "leaf Variable", BARRED),
        ("y, _ = (x * 2).unbind()\n    GUARD\n    return y", 2.0, 3, "Output 0", BARRED),
        ("y = x.float() * 2\n    GUARD\n    return y", 3.0, 2, "shape of the mask", MISFIT),
        ("y = x.to(torch.int8) * 2\n    GUARD\n    return y", 3, 3, "overflow", HELD),
    ],
)
@pytest.mark.parametrize("write", ["y[m] = 300", "y.masked_fill_(m, 300)"])
def test_what_raises_without_the_guard_is_named(
    body: str, x: float, m: int, raised: str, text: str, write: str, tmp_path: Path
) -> None:
    inputs = torch.ones(2, 3) if x == 2.0 else torch.ones(3)
    if isinstance(x, float):
        inputs.requires_grad_()
    guarded = HEAD + "    " + body.replace("GUARD", f"if m.any():\n        {write}") + "\n"
    changes = told(guarded, tmp_path)
    bare = HEAD + "    " + body.replace("GUARD", write) + "\n"
    empty = torch.zeros(m)
    assert outcome(guarded, inputs, empty) == "fine"
    error = outcome(bare, inputs, empty)
    assert raised in error or ("masked_fill_" in write and text is MISFIT and "size" in error)
    assert text in changes


def test_what_cannot_raise_is_not_named(tmp_path: Path) -> None:
    guard = "    y = x.long() * 2\n    big = y > 3\n    if big.any():\n        y[big] = 3\n"
    changes = told(HEAD.replace("    m = m > 0\n", f"{guard}    return y\n"), tmp_path)
    assert NEEDED in changes
    assert not any(text in changes for text in (BARRED, MISFIT, HELD))
