"""What mkdocs asks while it builds the site: every rule has its place in the navigation."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from scripts.docs_rules import PREFIX, SECTIONS

_RULES = "rules.md"


def on_config(config: Any) -> Any:
    """Put the rules' pages below the table of them, a hundred each."""
    folder = Path(config["docs_dir"], "rules")
    pages = sorted(folder.glob(f"{PREFIX}*.md"))
    hundreds = [
        {_title(hundred): [{_name(page): f"rules/{page.name}"} for page in found]}
        for hundred, found in groupby(pages, key=lambda page: page.stem.removeprefix(PREFIX)[0])
    ]
    config["nav"] = [
        {"Rules": [_RULES, *hundreds]} if _RULES in _files(entry) else entry
        for entry in config["nav"]
    ]
    return config


def _files(entry: Any) -> list[Any]:
    return [*entry.values()] if isinstance(entry, dict) else [entry]


def _title(hundred: str) -> str:
    return f"{PREFIX}{hundred}xx: {SECTIONS[hundred]}".replace("`", "")


def _name(page: Path) -> str:
    """``TCL101 item-in-compiled-region``, of the title ``# item-in-compiled-region (TCL101)``."""
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return f"{page.stem} {first.removeprefix('# ').rpartition(' (')[0]}"
