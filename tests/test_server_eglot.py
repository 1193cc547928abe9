"""Emacs's eglot in batch: report, fix on a line that is not ASCII, clear.

Emacs has eglot since version 29; ``TCLINT_EGLOT`` names a folder that holds it for an older one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("eglot_session.el")
EMACS = shutil.which("emacs") or "emacs"
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        s = "ä😋"; print(s)
        return x * 2
"""


def emacs(*arguments: str, **surroundings: str) -> subprocess.CompletedProcess[bytes]:
    folder = os.environ.get("TCLINT_EGLOT")
    command = [EMACS, "--batch", "-Q", *(["-L", folder] if folder else []), *arguments]
    environment = os.environ | surroundings
    return subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)


def has_eglot() -> bool:
    return bool(shutil.which("emacs")) and emacs("--eval", "(require 'eglot)").returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="Emacs with eglot is not installed")
def test_a_buffer_is_reported_fixed_and_cleared(tmp_path: Path) -> None:
    path, out = tmp_path / "net.py", tmp_path / "told.json"
    path.write_text(NET, "utf-8")
    (tmp_path / "tclint.toml").touch()
    given = f"{sys.executable}\n{path}\n{out}"
    done = emacs("-l", str(SCRIPT), TCLINT_TEST=given, HOME=str(tmp_path))
    assert out.exists(), done.stderr.decode()
    told = json.loads(out.read_text("utf-8"))
    assert "problem" not in told, told["problem"]
    assert told["opened"] == ["print(s)"]
    assert 's = "ä😋"\n        if not torch.compiler.is_compiling():\n' in told["fixed"]
    assert told["cleared"]
