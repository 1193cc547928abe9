"""``tclint`` in this process, where children that compile may be copies: seconds less a command.

What a command does with its process (signals, exit, streams) is tested by one that is spawned.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.cli import main
from tests.verify_children import copy_children


def tclint_here(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose children are copies; its output is UTF-8."""
    out, err = io.BytesIO(), io.BytesIO()
    code: object = None
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as streams:
        copy_children(patch)
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["tclint", *arguments])
        for name, kept in (("stdout", out), ("stderr", err)):
            stream = io.TextIOWrapper(kept, encoding="utf-8", write_through=True)
            streams.callback(stream.detach)
            patch.setattr(sys, name, stream)
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    said = out.getvalue().decode("utf-8"), err.getvalue().decode("utf-8")
    return subprocess.CompletedProcess([*arguments], code if isinstance(code, int) else 0, *said)
