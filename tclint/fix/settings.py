"""Turn on the settings of Dynamo that findings go with, where the project compiles."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import (
    USUAL_WORTH,
    Applicability,
    Change,
    Confidence,
    Decline,
    Diagnostic,
    Effect,
    Span,
)
from tclint.fix.results import Declined
from tclint.lint.engine import Result
from tclint.lint.repair import placed
from tclint.lint.rewrite import Insert, Repair
from tclint.records import record
from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tclint.source.rows import first_row
from tclint.torch_facts.dynamo_settings import MODULE

if TYPE_CHECKING:
    from tclint.diagnostics import Remedy
    from tclint.lint.engine import Run

CODE: Final = "settings"
"""What stands in reports in the place of a rule's code."""
_NAME: Final = "dynamo-settings"
_TORCH: Final = MODULE.partition(".")[0]


@record()
class _Wanted:
    """What is to stand before one call of `torch.compile`, and the findings that ask for it."""

    lines: dict[str, None]
    risks: dict[str, None]
    findings: list[Diagnostic]


@record(frozen=True)
class Switch:
    """Lines to write before a call of `torch.compile`, and the findings that go with them."""

    result: Result
    settles: tuple[Diagnostic, ...]


def switches(
    run: Run, names: Collection[str], paths: Collection[Path], texts: Mapping[Path, str]
) -> Iterator[Switch | Declined]:
    """The findings of a run, turned around: at each place that compiles, what to turn on there.

    Of several places in a file the first: a setting holds from there on. ``names`` are the settings
    that may be turned on, ``paths`` the files that may be edited, ``texts`` what is in them by now.
    """
    for path, places in sorted(_by_place(run, names, paths).items()):
        wanted = places[min(places)]
        result = _at(path, texts.get(path), min(places), wanted)
        if isinstance(result, Decline):
            yield from (Declined(one, result) for one in wanted.findings)
        else:
            yield Switch(result, tuple(wanted.findings))


def _by_place(
    run: Run, names: Collection[str], paths: Collection[Path]
) -> dict[Path, dict[int, _Wanted]]:
    found: dict[Path, dict[int, _Wanted]] = defaultdict(dict)
    for result in run.results:
        for remedy in _allowed(result.diagnostic, names):
            for place in remedy.places:
                path = Path(place.filename)
                if path in paths:
                    wanted = found[path].setdefault(place.row, _Wanted({}, {}, []))
                    wanted.lines |= dict.fromkeys(remedy.lines)
                    wanted.risks |= {remedy.changes: None}
                    wanted.findings.append(result.diagnostic)
    return found


def _allowed(diagnostic: Diagnostic, names: Collection[str]) -> Iterator[Remedy]:
    for remedy in diagnostic.remedies:
        if all(_name(line) in names for line in remedy.lines):
            yield remedy


def _name(line: str) -> str:
    """The setting that a line turns on."""
    return line.partition(" ")[0].removeprefix(f"{MODULE}.")


def _at(path: Path, text: str | None, row: int, wanted: _Wanted) -> Result | Decline:
    """Lines before the statement at a row, as a finding there with its repair."""
    if path.suffix == ".ipynb":
        return Decline("a notebook compiles it: put the setting into an earlier cell")
    try:
        file = read_source(path) if text is None else SourceFile.from_text(path, text)
        tree = parse(file)
    except SourceError as error:
        return Decline(error.message)
    statement, torch = _statement(tree.body, row), _torch(tree)
    if statement is None:
        return Decline(f"no lines can be inserted before {file.path.name}:{row}")
    if torch is None:
        return Decline(f"{file.path.name}, which compiles it, does not import torch by name")
    lines = [torch + line.removeprefix(_TORCH) for line in wanted.lines]
    repair = Repair(
        f"Turn on {' and '.join(f'`{_name(line)}`' for line in wanted.lines)}",
        (Insert(statement, "\n".join(lines)),),
        Change.BEHAVIOUR,
        "; ".join(wanted.risks),
    )
    start = file.span(statement).start
    diagnostic = Diagnostic(
        CODE, _NAME, repair.message, Effect.GRAPH_BREAK, Confidence.HIGH, file.path,
        Span(start, start), fixable=Applicability.UNSAFE, fix_message=repair.message,
        worth=USUAL_WORTH[Effect.GRAPH_BREAK], instead=repair.message,
    )  # fmt: skip
    return Result(diagnostic, placed(repair), file)


def _statement(block: Sequence[ast.stmt], row: int) -> ast.stmt | None:
    """The innermost statement at a row that stands outside of classes' bodies."""
    for statement in block:
        if first_row(statement) <= row <= (statement.end_lineno or statement.lineno):
            inner = None if isinstance(statement, ast.ClassDef) else _inside(statement, row)
            return inner or statement
    return None


def _inside(statement: ast.stmt, row: int) -> ast.stmt | None:
    for name in ("body", "orelse", "finalbody", "handlers"):
        for part in getattr(statement, name, ()):
            if isinstance(part, ast.ExceptHandler):
                found = _statement(part.body, row)
            else:
                found = _statement([part], row) if isinstance(part, ast.stmt) else None
            if found is not None and not _is_elif(statement, found):
                return found
    return None


def _is_elif(outer: ast.stmt, inner: ast.stmt) -> bool:
    """True for the `elif` of an `if`: no line fits between them."""
    if not isinstance(outer, ast.If) or not isinstance(inner, ast.If):
        return False
    return outer.orelse == [inner] and inner.col_offset == outer.col_offset


def _torch(tree: ast.Module) -> str | None:
    """What torch is called in a module."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for name in statement.names:
                if name.name == _TORCH and name.asname:
                    return name.asname
                if name.name.partition(".")[0] == _TORCH and not name.asname:
                    return _TORCH
    return None
