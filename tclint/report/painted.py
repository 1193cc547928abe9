"""Changes of source as HTML, in the colours of Python's syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Final

from pygments.lexers.python import PythonLexer

from tclint.fix.changed_lines import ChangedLines
from tclint.fix.conflicts import changes_of
from tclint.printable import visible
from tclint.records import record
from tclint.source.file import split_lines

if TYPE_CHECKING:
    from tclint.diagnostics import Edit
    from tclint.source.file import SourceFile

_AROUND: Final = 2
"""Lines of a diff on each side of what changes."""
_KINDS: Final = {
    "Keyword": "key",
    "Name.Function": "name",
    "Name.Class": "name",
    "Name.Decorator": "name",
    "Literal.String": "text",
    "Literal.Number": "number",
    "Operator.Word": "key",
    "Comment": "comment",
}
"""Classes of the style sheet by how Pygments' names of tokens begin."""
CODE_STYLE: Final = """
:root { --key: #b3202e; --text: #0a3069; --number: #0550ae; --name: #6639ba;
  --added: #d7f7df; --removed: #ffe5e3; }
@media (prefers-color-scheme: dark) { :root { --key: #ff8b83; --text: #a5d6ff; --number: #79c0ff;
  --name: #d2a8ff; --added: #0f3520; --removed: #46171a; } }
pre.code { white-space: pre; overflow-x: auto; padding: .5rem 0; margin: .5rem 0 }
pre.code > span { display: block; min-width: max-content; padding: 0 .75rem }
pre.code i { display: inline-block; color: var(--soft); font-style: normal; text-align: right;
  padding-right: .9rem; user-select: none }
pre.code .added { background: var(--added) } pre.code .removed { background: var(--removed) }
.k-key { color: var(--key) } .k-text { color: var(--text) } .k-number { color: var(--number) }
.k-name { color: var(--name) } .k-comment { color: var(--soft) }
"""


@record(frozen=True)
class Piece:
    """A part of a line that has one colour."""

    text: str
    kind: str


def painted_diff(file: SourceFile, edits: Sequence[Edit]) -> str:
    """The lines that edits change, and those around them; empty where they change nothing."""
    lines = ChangedLines(file.text, changes_of(file, edits), split_lines)
    hunks = lines.get_grouped_opcodes(_AROUND)
    groups = ["".join(_hunk(hunk, lines.before, lines.after)) for hunk in hunks]
    return _block(["<span><i></i>…</span>".join(groups)]) if groups else ""


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]], before: Sequence[str], after: Sequence[str]
) -> Iterator[str]:
    """Only the lines of the hunk are taken for syntax: a whole file takes long."""
    old_first, new_first = group[0][1], group[0][3]
    old = [*_lines_of("".join(before[old_first : group[-1][2]]))]
    new = [*_lines_of("".join(after[new_first : group[-1][4]]))]
    for tag, *places in group:
        i1, i2 = (place - old_first for place in places[:2])
        j1, j2 = (place - new_first for place in places[2:])
        if tag == "equal":
            yield from (f"<span><i> </i>{_html(line)}</span>" for line in old[i1:i2])
            continue
        yield from (f'<span class="removed"><i>-</i>{_html(line)}</span>' for line in old[i1:i2])
        yield from (f'<span class="added"><i>+</i>{_html(line)}</span>' for line in new[j1:j2])


def _block(rows: Iterator[str] | Sequence[str]) -> str:
    return f'<pre class="code" tabindex="0">{"".join(rows)}</pre>'


def _lines_of(text: str) -> Iterator[tuple[Piece, ...]]:
    """The pieces of each line, without its end."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    # Pygments knows one line end.
    plain = "".join(f"{line.rstrip(chr(13) + chr(10))}\n" for line in split_lines(text))
    line: list[Piece] = []
    for _, token, value in lexer.get_tokens_unprocessed(plain):
        kind = _kind(str(token).removeprefix("Token."))
        for part in re.split("(\n)", value):
            if part == "\n":
                yield tuple(line)
                line = []
            elif part:
                line.append(Piece(part, kind))
    if line:
        yield tuple(line)


def _kind(token: str) -> str:
    return next((kind for start, kind in _KINDS.items() if token.startswith(start)), "")


def _html(pieces: Sequence[Piece]) -> str:
    """The pieces, those of one kind together."""
    parts = []
    for kind, found in groupby(pieces, key=lambda piece: piece.kind):
        text = escape(visible("".join(piece.text for piece in found)))
        parts.append(f'<span class="k-{kind}">{text}</span>' if kind else text)
    return "".join(parts)
