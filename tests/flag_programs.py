"""Programs of a tensor and a flag, and what tclint finds in them where they are compiled."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from tclint.config import Config
from tclint.lint.engine import Result, check_files

from .dynamo import MEASURED


def of_flag(helpers: str, body: str) -> str:
    """A program with ``f(x, flag)``: the body, which ends by returning ``x``."""
    written = indent(dedent(body).strip(), "    ")
    top = f"import torch\n\n{helpers}\n\ndef f(x: torch.Tensor, flag: bool):\n"
    return f"{top}{written}\n    return x\n"


def results_of(folder: Path, program: str) -> tuple[Result, ...]:
    """What is found where ``f`` of a program is compiled."""
    path = folder / "program.py"
    text = program.replace("\ndef f(", "\n@torch.compile\ndef f(")
    path.write_text(text, encoding="utf-8")
    return check_files([path], Config(root=folder, settings=MEASURED)).results
