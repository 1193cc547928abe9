"""``tclint check --explain-types``: what the analysis believes at a place, and why."""

from __future__ import annotations

import re
from pathlib import Path

from tclint.cli.exits import CLEAN
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import fail, note, write
from tclint.lint.engine import load_project
from tclint.records import record
from tclint.semantics.explain import explain

_PLACE = re.compile(r"(?P<file>.+?):(?P<row>\d+)(?::(?P<column>\d+))?")


@record(frozen=True)
class Place:
    """``FILE:LINE[:COL]``; a ``column`` of 0 means the whole line."""

    file: Path
    row: int
    column: int = 0


def parse_place(text: str) -> Place:
    """Read ``FILE:LINE[:COL]``, or end the command with what is wrong."""
    found = _PLACE.fullmatch(text)
    if found is None or int(found["row"]) < 1:
        fail(f"--explain-types: expected FILE:LINE or FILE:LINE:COL, got {text!r}")
    file = Path(found["file"])
    if not file.is_file():
        fail(f"{file}: no such file")
    return Place(file, int(found["row"]), int(found["column"] or 0))


def explain_types(inputs: Inputs, place: Place) -> int:
    """Print a line for every expression at the place, and return the exit code."""
    known = {path.resolve(): path for path in inputs.files}
    file = known.get(place.file.resolve(), place.file)
    config = inputs.nesting.of(file)
    beside = next((files for one, files in inputs.parts if one.source == config.source), ())
    paths = tuple(dict.fromkeys((*beside, file)))
    project = load_project(paths, config, inputs.overlay)
    if project.module_at(file) is None:
        fail(f"{file}: cannot be read as Python; `tclint check {file}` says why")
    found = explain(project, paths, config, file, place.row, place.column)
    write("".join(f"{item}\n" for item in found))
    if not found:
        note(f"{file}:{place.row}: no expression here is in code that counts as compiled")
    return CLEAN
