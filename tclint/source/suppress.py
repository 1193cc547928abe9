"""Comments that silence findings: ``# tclint: ignore[CODE]``, ``# noqa: CODE`` and relatives.

``ignore`` speaks for a line or a statement, ``ignore-file`` for the file, and ``disable`` for all
lines down to ``enable`` or to the end of the file.

A comment is found by a search through the text, and believed only when a finding depends on it:
then the file is tokenised once, so that what merely looks like a comment inside a string does not
count. Most files that say ``noqa`` somewhere are never tokenised.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field, replace
from itertools import accumulate
from typing import Final

from tclint.diagnostics import Position, Span
from tclint.records import record
from tclint.regexes import regex
from tclint.source.file import SourceFile

_DIRECTIVE: Final = regex(
    r"""\#[ \t]*(?:
        tclint:[ \t]*(?P<verb>[\w-]*)(?:[ \t]*(?P<bracket>\[[^\]\r\n\#]*\]?))?(?P<colon>[ \t]*[:=])?
      | (?i:noqa)\b(?P<listed>[ \t]*:[ \t]*
            (?P<codes>[A-Za-z]+[0-9]+\b(?:[, \t]+[A-Za-z]+[0-9]+\b)*)?)?
    )""",
    re.VERBOSE,
)
_SEPARATOR: Final = regex(r"[, \t]+")
_CODE: Final = regex(r"[A-Z]+[0-9]+")
_EVERY_ROW: Final = range(1, sys.maxsize)
_VERBS: Final = ("ignore", "ignore-file", "disable", "enable")


@record(frozen=True)
class Suppression:
    """One comment that silences findings.

    ``rows`` are the lines that it speaks for. Empty ``codes`` mean every rule. ``verb`` is None for
    ``noqa``, which other linters read too. ``end`` is the ``enable`` that ends this block alone.
    ``mistake`` says what is wrong with it; it then silences nothing.
    """

    span: Span
    rows: range
    codes: tuple[str, ...]
    verb: str | None = None
    end: Span | None = None
    mistake: str | None = None

    @property
    def row(self) -> int:
        """The first line that it speaks for."""
        return self.rows.start

    @property
    def ours(self) -> bool:
        """Whether nobody but tclint reads it."""
        return self.verb is not None

    def covers(self, code: str, rows: Collection[int]) -> bool:
        """Whether it silences a rule on any of some lines."""
        if self.mistake is not None or (self.codes and code not in self.codes):
            return False
        return any(row in self.rows for row in rows)


@record()
class Suppressions:
    """All suppressions of a file, and which of them have silenced something."""

    file: SourceFile
    _found: tuple[Suppression, ...]
    _comments: dict[int, int] | None = None
    _used: dict[Suppression, set[str]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no comment of the file silences anything, or tries to."""
        return not self._found

    def suppresses(self, code: str, span: Span, statement_span: Span | None) -> Suppression | None:
        """The comment that silences a finding, which then counts as used; None for none.

        A comment speaks from the first and last line of the finding and of its statement.
        """
        rows = {span.start.row, span.end.row}
        if statement_span is not None:
            rows |= {statement_span.start.row, statement_span.end.row}
        silencing = None
        for suppression in self._found:
            if suppression.covers(code, rows) and self._is_comment(suppression):
                self._used.setdefault(suppression, set()).add(code)
                silencing = silencing or suppression
        return silencing

    def names(self, code: str, row: int) -> bool:
        """Whether a comment that names a code speaks for a line: one for all rules does not."""
        return any(code in one.codes and row in one.rows for one in self.understood())

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

    def used(self) -> Iterator[tuple[Suppression, str]]:
        """The comments that silenced something, once for each code."""
        for suppression, codes in self._used.items():
            for code in sorted(codes):
                yield suppression, code

    def understood(self) -> Iterator[Suppression]:
        """Our comments that can be understood."""
        return (s for s in self._found if s.ours and s.mistake is None and self._is_comment(s))

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
    matches = list(_DIRECTIVE.finditer(file.text))
    if not matches:
        return Suppressions(file, ())
    starts = [0, *accumulate(map(len, file.lines))]
    found = (_read(file, bisect_right(starts, match.start()), starts, match) for match in matches)
    result = Suppressions(file, tuple(s for s in found if s is not None))
    if any(s.verb in {"disable", "enable"} for s in result._found):
        comments = [s for s in result._found if result._is_comment(s)]
        result = replace(result, _found=tuple(_with_ends(comments)))
    return result


def _with_ends(found: Iterable[Suppression]) -> Iterator[Suppression]:
    """Let every ``disable`` speak down to its ``enable``: the next one that names the same."""
    opened: list[Suppression] = []
    for one in found:
        if one.mistake is None and one.verb == "disable":
            opened.append(one)
        elif one.mistake is None and one.verb == "enable":
            begun = [o for o in opened if not one.codes or set(o.codes) == set(one.codes)]
            end = one.span if len(begun) == 1 else None  # one for several is nobody's own
            for start in begun:
                opened.remove(start)
                yield replace(start, rows=range(start.row, one.row), end=end)
            if not begun:
                yield replace(one, mistake="there is no `# tclint: disable` with these codes above")
        else:
            yield one
    yield from (replace(one, rows=range(one.row, sys.maxsize)) for one in opened)


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
        return Suppression(span, range(row, row + 1), codes)
    inside = (match["bracket"] or "").strip("[] \t").upper()
    codes = tuple(code for code in _SEPARATOR.split(inside) if code)
    mistake = _mistake(match, codes)
    verb = match["verb"]
    alone = not file.lines[row - 1][:before].strip()
    if verb in {"disable", "enable"} and not alone and mistake is None:
        mistake = f"`{verb}` goes on a line of its own; `ignore` silences one line"
    rows = _rows_spoken_for(file, row, verb, alone=alone)
    return Suppression(span, rows, codes, verb, mistake=mistake)


def _mistake(match: re.Match[str], codes: tuple[str, ...]) -> str | None:
    verb, bracket = match["verb"], match["bracket"]
    if verb not in _VERBS:
        words = ", ".join(f"`{known}`" for known in _VERBS)
        return f"{verb!r} is not known after `# tclint:`; write one of {words}"
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


def _rows_spoken_for(file: SourceFile, row: int, verb: str, *, alone: bool) -> range:
    """The comment's own line; alone on it, the next line with code, or the whole file."""
    if verb == "ignore-file":
        return _EVERY_ROW
    if alone and verb == "ignore":
        for later in range(row + 1, len(file.lines) + 1):
            if not _is_idle(file.lines[later - 1]):
                row = later
                break
    return range(row, row + 1)


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
