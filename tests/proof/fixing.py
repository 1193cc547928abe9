"""What a fix makes of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.fix.apply import fix_files


def fixed(code: str, folder: Path, *, unsafe: bool = False, **settings: Any) -> str:
    """The text of a program after all its fixes, under settings of its project."""
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    changed = fix_files([path], Config(root=folder, **settings), unsafe=unsafe).changed
    path.write_text(code, encoding="utf-8")
    return changed[0].after if changed else code
