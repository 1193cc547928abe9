"""``tclint check --show-files`` and ``--show-settings``."""

from __future__ import annotations

import json
from pathlib import Path

from tclint.cli.exits import CLEAN
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import write
from tclint.config import effective, sources
from tclint.report.view import View


def show_files(inputs: Inputs) -> int:
    """Print the files that would be checked."""
    view = View(Path.cwd())
    write("".join(f"{view.path(path)}\n" for path in inputs.files))
    return CLEAN


def show_settings(inputs: Inputs) -> int:
    """Print every key with the value in force, as TOML, and where it comes from."""
    source = inputs.config.source or "defaults; no configuration file was found"
    inferred = sources(inputs.config)
    values = effective(inputs.config).items()
    lines = [f"# {source}", *(_line(name, value, inferred.get(name)) for name, value in values)]
    write("".join(f"{line}\n" for line in lines))
    return CLEAN


def _line(name: str, value: object, source: str | None) -> str:
    line = f"{name} = {_toml(value)}"
    return f"{line}  # {source}" if source else line


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
