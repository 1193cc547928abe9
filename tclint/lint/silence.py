"""What comments and the configuration silence, and which comments silence nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tclint.config import Config
from tclint.config_keys import nearest_code
from tclint.diagnostics import (
    Applicability,
    Confidence,
    Decline,
    Diagnostic,
    Effect,
    Position,
    Span,
)
from tclint.lint.codes import INVALID_SUPPRESSION, UNUSED_SUPPRESSION
from tclint.lint.file_rules import InvalidSuppression, UnusedSuppression
from tclint.lint.outcome import Found, Silencing
from tclint.lint.repair import PlacedRepair
from tclint.lint.selection import file_ignores, is_selected, selected_codes
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.source.file import SourceFile
from tclint.source.ignore_comments import removal_edits
from tclint.source.suppress import Suppression, Suppressions, statement_span, suppressions


class Silencer:
    """Drops findings, and remembers what it was that silenced them."""

    def __init__(self, config: Config, codes: Sequence[str]) -> None:
        """``codes`` are those of all installed rules, whether they run or not."""
        self._config = config
        self._codes = codes
        self._ignored = file_ignores(config)
        self._comments: dict[SourceFile, Suppressions] = {}
        self._judged = selected_codes(codes, config) - {UNUSED_SUPPRESSION}

    def silences(
        self, diagnostic: Diagnostic, file: SourceFile, statement: ast.stmt | None
    ) -> bool:
        """Whether a comment or ``per-file-ignores`` silences a finding."""
        return bool(self.silencer(diagnostic, file, statement))

    def silencer(self, diagnostic: Diagnostic, file: SourceFile, statement: ast.stmt | None) -> str:
        """What silences a finding, in words; nothing where nothing does."""
        if self._ignored(diagnostic.path, diagnostic.code):
            return "`per-file-ignores` in the configuration"
        if self._config.ignore_noqa:
            return ""
        around = statement_span(file, statement) if statement is not None else None
        comment = self._of(file).suppresses(diagnostic.code, diagnostic.span, around)
        return f"the comment in line {comment.span.start.row}" if comment is not None else ""

    def silencing(self, own: Collection[Path]) -> list[Silencing]:
        """The comments in files of others that silenced something."""
        own = frozenset(own)
        return [
            Silencing(str(file.path), _place(file, comment, code))
            for file, comments in self._comments.items()
            if file.path not in own
            for comment, code in comments.used()
        ]

    def leftovers(self, module: ModuleInfo, visited: Collection[FunctionInfo]) -> Iterator[Found]:
        """The comments of a file that silenced nothing, or cannot be understood.

        ``visited`` are the functions that were walked: the only ones to judge when a run does not
        see all that may call the others.
        """
        if self._config.ignore_noqa or self._of(module.file).is_empty:
            return
        for found in (*self._mistakes(module.file), *self._unused(module, visited)):
            code, row = found.diagnostic.code, found.diagnostic.span.start.row
            named = self._of(module.file).names(code, row)
            if not named and not self._ignored(module.file.path, code):
                yield found

    def _of(self, file: SourceFile) -> Suppressions:
        if file not in self._comments:
            self._comments[file] = suppressions(file)
        return self._comments[file]

    def _mistakes(self, file: SourceFile) -> Iterator[Found]:
        if not is_selected(INVALID_SUPPRESSION, self._config):
            return
        comments = self._of(file)
        wrong = [(comment, comment.mistake or "") for comment in comments.mistakes()]
        wrong += [
            (comment, f"no rule has the code {code!r}{nearest_code(code, self._codes)}")
            for comment in comments.understood()
            for code in comment.codes
            if code not in self._codes
        ]
        for comment, message in wrong:
            name, said = "invalid-suppression", message[:1].upper() + message[1:]
            found = _diagnostic(INVALID_SUPPRESSION, name, said, file, comment.span)
            yield Found(replace(found, instead=InvalidSuppression.instead))

    def _unused(self, module: ModuleInfo, visited: Collection[FunctionInfo]) -> Iterator[Found]:
        if not is_selected(UNUSED_SUPPRESSION, self._config):
            return
        file = module.file
        for comment, codes in self._of(file).unused(self._active(file)):
            if not self._can_judge(comment, module, visited):
                continue
            for code in codes or (None,):
                yield _unused(file, comment, code)

    def _active(self, file: SourceFile) -> set[str]:
        return {code for code in self._judged if not self._ignored(file.path, code)}

    def _can_judge(
        self, comment: Suppression, module: ModuleInfo, visited: Collection[FunctionInfo]
    ) -> bool:
        if not comment.codes and (self._config.select or self._config.ignore):
            return False  # it may be there for the rules that do not run
        if not self._config.partial:
            return True
        if len(comment.rows) > 1:
            return False
        around = module.function_at(comment.row)
        return around is None or around in visited


def _unused(file: SourceFile, comment: Suppression, code: str | None) -> Found:
    message = f"This comment silences no {code}" if code else "This comment silences nothing"
    repair = None
    if comment.ours:
        what = "the comment" if len(comment.codes) <= 1 else code
        edits = removal_edits(file, comment, code)
        repair = PlacedRepair(f"Remove {what}", edits=tuple(edits))
    span, name = _place(file, comment, code), "unused-suppression"
    found = _diagnostic(UNUSED_SUPPRESSION, name, message, file, span, repair)
    decline = None if repair else Decline("other linters read `noqa` comments, too")
    instead = repair.message if repair else UnusedSuppression.instead
    return Found(replace(found, declined=decline, instead=instead), repair)


def _diagnostic(
    code: str,
    name: str,
    message: str,
    file: SourceFile,
    span: Span,
    repair: PlacedRepair | None = None,
) -> Diagnostic:
    return Diagnostic(
        code,
        name,
        message,
        Effect.NONE,
        Confidence.HIGH,
        file.path,
        span,
        fixable=Applicability.SAFE if repair else None,
        fix_message=repair.message if repair else None,
    )


def _place(file: SourceFile, comment: Suppression, code: str | None) -> Span:
    """Where a comment names a code; the whole comment where it names none."""
    start, end = comment.span.start, comment.span.end
    text = file.lines[start.row - 1][start.column - 1 : end.column - 1].upper()
    found = re.search(rf"\b{code}\b", text) if code else None
    if found is None:
        return comment.span
    first, last = (start.column + place for place in found.span())
    return Span(Position(start.row, first), Position(start.row, last))
