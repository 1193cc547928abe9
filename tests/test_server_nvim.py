"""A headless Neovim with the configuration of ``editors/nvim``: report, fix, undo, clear."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = Path(__file__).with_name("nvim_session.lua")
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        s = "ä😋"; print(s)
        t = "ä😋"; y = x.sum().item()
        print("ü")
        return x * y
"""

pytestmark = pytest.mark.skipif(not shutil.which("nvim"), reason="Neovim is not installed")


def told(tmp_path: Path, text: str) -> dict[str, Any]:
    """What the scene in ``nvim_session.lua`` has seen."""
    path, out = tmp_path / "net.py", tmp_path / "told.json"
    path.write_text(text, "utf-8")
    (tmp_path / "tclint.toml").touch()
    command = ["nvim", "--headless", "--clean", "-n", "-c", f"luafile {SCRIPT}"]
    command[3:3] = ["--cmd", f"set runtimepath+={ROOT / 'editors' / 'nvim'}"]
    surroundings = os.environ | {
        "TCLINT_TEST": f"{sys.executable}\n{path}\n{out}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    done = subprocess.run(command, env=surroundings, capture_output=True, timeout=300, check=False)
    assert out.exists(), done.stderr.decode()
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    assert "problem" not in found, found["problem"]
    return found


def test_a_buffer_is_reported_fixed_undone_and_cleared(tmp_path: Path) -> None:
    found = told(tmp_path, NET)
    assert sorted(item["code"] for item in found["opened"]) == ["TCL101", "TCL120", "TCL120"]
    lines = NET.splitlines()
    assert found["before"] == lines
    read = next(item for item in found["opened"] if item["code"] == "TCL101")
    # Neovim counts the columns of its buffers in bytes.
    line = lines[read["row"]].encode()
    assert line[read["from"] : read["to"]].decode() == "x.sum().item()"
    # On a line with text that is not ASCII, the fix lands where it belongs.
    assert found["after_fix"] != lines
    compile("\n".join(found["after_fix"]), "net.py", "exec")
    assert any("is_compiling()" in line for line in found["after_fix"])
    assert len(found["fixed"]) == 2
    assert found["undone"] == lines
    compile("\n".join(found["after_fix_all"]), "net.py", "exec")
    assert [item["code"] for item in found["left"]] == ["TCL101"]
    assert found["undone_again"] == lines
    assert found["cleared"]
