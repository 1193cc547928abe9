"""Comments that silence findings: ``# tclint: ignore[CODE]``, ``# noqa: CODE`` and relatives.

A comment is found by a search through the text, and believed only when a finding depends on it:
then the file is tokenised once, so that what merely looks like a comment inside a string does not
count. Most files that say ``noqa`` somewhere are never tokenised.
"""

from __future__ import annotations

import ast
import re
import tokenize
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from tclint.diagnostics import Position, Span
from tclint.source.file import SourceFile

_DIRECTIVE: Final = re.compile(
    r"""\#[ \t]*(?:
        tclint:[ \t]*(?P<verb>[\w-]*)(?:[ \t]*(?P<bracket>\[[^\]\r\n\#]*\]?))?(?P<colon>[ \t]*[:=])?
      | (?i:noqa)\b(?P<listed>[ \t]*:[ \t]*
            (?P<codes>[A-Za-z]+[0-9]+\b(?:[, \t]+[A-Za-z]+[0-9]+\b)*)?)?
    )""",
    re.VERBOSE,
)
_SEPARATOR: Final = re.compile(r"[, \t]+")
_CODE: Final = re.compile(r"[A-Z]+[0-9]+")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment that silences findings.

    ``row`` is the line that it speaks for; ``whole_file`` is true when it speaks for all lines.
    Empty ``codes`` mean every rule. ``ours`` tells ``tclint:`` from ``noqa``, which other linters
    read too. ``mistake`` says what is wrong with it; it then silences nothing.
    """

    span: Span
    row: int
    codes: tuple[str, ...]
    whole_file: bool = False
    ours: bool = True
    mistake: str | None = None

    def covers(self, code: str, rows: Collection[int]) -> bool:
        """Whether it silences a rule on any of some lines."""
        if self.mistake is not None or (self.codes and code not in self.codes):
            return False
        return self.whole_file or self.row in rows


@dataclass(slots=True)
class Suppressions:
    """All suppressions of a file, and which of them have silenced something."""

    file: SourceFile
    _found: tuple[Suppression, ...]
    _comments: dict[int, int] | None = None
    _used: dict[Suppression, set[str]] = field(default_factory=dict)

    def suppresses(self, code: str, span: Span, statement_span: Span | None) -> bool:
        """Whether a finding is silenced; the comment that does so then counts as used.

        A comment speaks from the first and last line of the finding and of its statement.
        """
        rows = {span.start.row, span.end.row}
        if statement_span is not None:
            rows |= {statement_span.start.row, statement_span.end.row}
        silenced = False
        for suppression in self._found:
            if suppression.covers(code, rows) and self._is_comment(suppression):
                self._used.setdefault(suppression, set()).add(code)
                silenced = True
        return silenced

    def unused(self, known: Collection[str]) -> Iterator[tuple[Suppression, tuple[str, ...]]]:
        """The comments, with their codes, that silenced nothing although they could.

        ``known`` are the codes of the rules that ran. A ``noqa`` without codes, or with other
        linters' codes, is not ours to judge. No codes: the comment as a whole is unused.
        """
        for suppression in self._found:
            if suppression.mistake is not None:
                continue
            used = self._used.get(suppression, set())
            codes = tuple(c for c in suppression.codes if c not in used and c in known)
            idle = suppression.ours and not suppression.codes and not used
            if (codes or idle) and self._is_comment(suppression):
                yield suppression, codes

    def mistakes(self) -> Iterator[Suppression]:
        """The comments that begin like one of ours but cannot be understood."""
        return (s for s in self._found if s.mistake is not None and self._is_comment(s))

    def _is_comment(self, suppression: Suppression) -> bool:
        if self._comments is None:
            self._comments = _comments(self.file)
        start = suppression.span.start
        return self._comments.get(start.row, start.column + 1) <= start.column


def suppressions(file: SourceFile) -> Suppressions:
    """Find the comments of a file that silence findings."""
    if "tclint:" not in file.text and "noqa" not in file.text.lower():
        return Suppressions(file, ())
    matches = list(_DIRECTIVE.finditer(file.text))
    if not matches:
        return Suppressions(file, ())
    starts = [0, *accumulate(map(len, file.lines))]
    found = (_read(file, bisect_right(starts, match.start()), starts, match) for match in matches)
    return Suppressions(file, tuple(s for s in found if s is not None))


def statement_span(file: SourceFile, statement: ast.stmt) -> Span:
    """Where a comment may stand to speak for a statement: of a block only its header."""
    whole = file.span(statement)
    first = _first_in_body(statement)
    if first is None:
        return whole
    row = first.lineno
    while row > statement.lineno + 1 and _is_idle(file.lines[row - 2]):
        row -= 1
    end_row = max(row - 1, statement.lineno) if first.lineno > statement.lineno else first.lineno
    return Span(whole.start, Position(end_row, len(file.lines[end_row - 1].rstrip("\r\n")) + 1))


def _first_in_body(statement: ast.stmt) -> ast.stmt | ast.expr | ast.pattern | None:
    if isinstance(statement, ast.Match):
        return statement.cases[0].pattern
    body: list[ast.stmt] = getattr(statement, "body", [])
    if not body:
        return None
    decorators: list[ast.expr] = getattr(body[0], "decorator_list", [])
    return decorators[0] if decorators else body[0]


def _is_idle(line: str) -> bool:
    """Whether a line holds no code."""
    text = line.strip()
    return not text or text.startswith("#")


def _read(
    file: SourceFile, row: int, starts: list[int], match: re.Match[str]
) -> Suppression | None:
    before = match.start() - starts[row - 1]
    span = Span(Position(row, before + 1), Position(row, match.end() - starts[row - 1] + 1))
    if match["verb"] is None:
        # After "noqa:" without a code comes prose; ruff, too, does not obey that.
        if match["listed"] and not match["codes"]:
            return None
        codes = tuple(_SEPARATOR.split(match["codes"].upper())) if match["codes"] else ()
        return Suppression(span, row, codes, ours=False)
    inside = (match["bracket"] or "").strip("[] \t").upper()
    codes = tuple(code for code in _SEPARATOR.split(inside) if code)
    return Suppression(
        span,
        _row_spoken_for(file, row, before),
        codes,
        whole_file=match["verb"] == "ignore-file",
        mistake=_mistake(match, codes),
    )


def _mistake(match: re.Match[str], codes: tuple[str, ...]) -> str | None:
    verb, bracket = match["verb"], match["bracket"]
    if verb not in {"ignore", "ignore-file"}:
        return f"{verb!r} is not known after `# tclint:`; write `ignore` or `ignore-file`"
    if match["colon"]:
        return f"codes go in brackets: `# tclint: {verb}[CODE]`"
    if bracket is None:
        return None
    if not bracket.endswith("]"):
        return "the bracket is not closed"
    if not codes:
        return f"the brackets are empty; name a code, or write `# tclint: {verb}` for all rules"
    wrong = next((code for code in codes if not _CODE.fullmatch(code)), None)
    return f"{wrong!r} is not a rule's code" if wrong else None


def _row_spoken_for(file: SourceFile, row: int, column: int) -> int:
    """A comment alone on its line speaks for the next line with code."""
    if file.lines[row - 1][:column].strip():
        return row
    for later in range(row + 1, len(file.lines) + 1):
        if not _is_idle(file.lines[later - 1]):
            return later
    return row


def _comments(file: SourceFile) -> dict[int, int]:
    """The 1-based column of the comment on each row that has one."""
    # The tokenizer knows two of the parser's three line ends; it never needs to see which it is.
    lines = iter([line.rstrip("\r\n") + "\n" for line in file.lines])
    columns = {}
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                columns[token.start[0]] = token.start[1] + 1
    except (tokenize.TokenError, SyntaxError):
        # Broken code is reported by the parser; the comments before the break still count.
        pass
    return columns
