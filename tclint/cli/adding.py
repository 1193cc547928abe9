"""``tclint check --add-ignore``: a comment for every finding that is there now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.cli.exits import CLEAN, FINDINGS
from tclint.cli.terminal import complain, fail, note, warn_of_other_names
from tclint.diagnostics import Decline, Edit, Span
from tclint.fix.conflicts import apply_edits
from tclint.lint.codes import INVALID_SUPPRESSION, SYNTAX_ERROR, UNUSED_SUPPRESSION
from tclint.report.view import count
from tclint.source.errors import SourceError
from tclint.source.ignore_comments import ignore_edit
from tclint.source.write import NewText, write_all

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.source.file import SourceFile

_OWN = (SYNTAX_ERROR, UNUSED_SUPPRESSION, INVALID_SUPPRESSION)


def add_ignores(run: Run, reason: str) -> int:
    """Write the comments into the files, and return the exit code."""
    if any(character in reason for character in "#\r\n"):
        fail("--add-ignore: a reason is one line without `#`")
    results = [result for result in run.results if result.diagnostic.code not in _OWN]
    by_file: dict[Path, list[Result]] = defaultdict(list)
    for result in results:
        by_file[result.diagnostic.path].append(result)
    texts, silenced = [], 0
    for path, found in by_file.items():
        file = found[0].file
        edits, number = _edits(file, found, reason)
        silenced += number
        if edits:
            texts.append(NewText(path, apply_edits(file, edits), file.encoding, file.text))
    try:
        warn_of_other_names(write_all(texts))
    except SourceError as error:
        fail(str(error))
    note(f"Silenced {count(silenced, 'finding')} in {count(len(texts), 'file')}.")
    return CLEAN if silenced == len(results) else FINDINGS


def _edits(file: SourceFile, found: Sequence[Result], reason: str) -> tuple[list[Edit], int]:
    """The comments of a file, and how many findings they silence."""
    statements: dict[Span, tuple[int, list[str]]] = {}
    for result in found:
        code, row = result.diagnostic.code, result.diagnostic.span.start.row
        edit = ignore_edit(file, [code], row)
        if isinstance(edit, Decline):
            complain(f"{file.path}:{row}: {code} cannot be silenced: {edit.reason}")
            continue
        _, codes = statements.setdefault(edit.span, (row, []))
        codes.append(code)
    edits = [ignore_edit(file, [*dict.fromkeys(c)], row, reason) for row, c in statements.values()]
    silenced = sum(len(codes) for _, codes in statements.values())
    return [edit for edit in edits if isinstance(edit, Edit)], silenced
