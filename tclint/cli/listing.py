"""``tclint check --show-files`` and ``--show-settings``."""

from __future__ import annotations

import json
from pathlib import Path

from tclint.cli.exits import CLEAN
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import write
from tclint.config import effective
from tclint.report.view import View


def show_files(inputs: Inputs) -> int:
    """Print the files that would be checked."""
    view = View(Path.cwd())
    write("".join(f"{view.path(path)}\n" for path in inputs.files))
    return CLEAN


def show_settings(inputs: Inputs) -> int:
    """Print every key with the value in force, as TOML, and where it comes from."""
    source = inputs.config.source or "defaults; no configuration file was found"
    lines = [f"# {source}", *map(_line, *zip(*effective(inputs.config).items(), strict=True))]
    write("".join(f"{line}\n" for line in lines))
    return CLEAN


def _line(name: str, value: object) -> str:
    return f"{name} = {_toml(value)}"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
