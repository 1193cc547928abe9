"""``tclint check --show-files`` and ``--show-settings``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from tclint.cli.exits import CLEAN
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import for_programs, write, write_bytes
from tclint.config import effective, sources
from tclint.printable import visible
from tclint.report.view import View

_SHORT: Final = 0xFFFF


def show_files(inputs: Inputs) -> int:
    """Print the files that would be checked."""
    view = View(Path.cwd())
    names = "".join(f"{view.path(path)}\n" for path in inputs.files)
    if for_programs(sys.stdout):
        write_bytes(os.fsencode(names))  # what opens them needs the names as they are
    else:
        write(names)
    return CLEAN


def show_settings(inputs: Inputs) -> int:
    """Print every key with the value in force, as TOML, and where it comes from."""
    source = inputs.config.source or "defaults; no configuration file was found"
    inferred = sources(inputs.config)
    values = effective(inputs.config).items()
    lines = [f"# {visible(str(source))}"]
    lines += [_line(name, value, inferred.get(name)) for name, value in values]
    write("".join(f"{line}\n" for line in lines))
    return CLEAN


def _line(name: str, value: object, source: str | None) -> str:
    line = f"{name} = {_toml(value)}"
    return f"{line}  # {visible(source)}" if source else line


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return _escaped(json.dumps(value, ensure_ascii=False))


def _escaped(text: str) -> str:
    """A TOML string in which everything shows itself."""
    return "".join(c if c.isprintable() else _escape(ord(c)) for c in text)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= _SHORT else f"\\U{code:08x}"
