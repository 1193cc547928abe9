"""Classes ``Net``, as the fixes of one rule leave them, and objects of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.rule import PRELUDE

if TYPE_CHECKING:
    from pathlib import Path


def fixed_net(folder: Path, code: str, rule: str, *, unsafe: bool = True) -> str:
    """The code after the fixes of a rule, with what every example may use above it."""
    path = folder / "net.py"
    path.write_text(PRELUDE + code, encoding="utf-8")
    changed = fix_files([path], Config(root=folder, select=(rule,)), unsafe=unsafe).changed
    return changed[0].after if changed else path.read_text(encoding="utf-8")


def made_net(code: str) -> Any:
    """The ``Net`` that some code defines, always with the same weights."""
    import torch

    names: dict[str, Any] = {}
    exec(compile(code, "net.py", "exec"), names)
    torch.manual_seed(0)
    return names["Net"]()
