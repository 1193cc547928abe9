"""Which quotes a file puts around its strings."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tclint.semantics.syntax import nodes

if TYPE_CHECKING:
    from tclint.source.file import SourceFile

_PREFIXES: Final = "rRbBuUfFtT"


@lru_cache(maxsize=1)  # the edits of a file are made one after the other
def quote_of(file: SourceFile, tree: ast.Module) -> str:
    """The quote of most of the file's strings, docstrings aside; a double one where none has more.

    Formatters leave the other quote to strings that hold the first one.
    """
    quotes = Counter(_quotes(file, tree))
    return "'" if quotes["'"] > quotes['"'] else '"'


def _quotes(file: SourceFile, tree: ast.Module) -> list[str]:
    found = []
    for node in nodes(tree):
        if not isinstance(node, (ast.Constant, ast.JoinedStr)):
            continue
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            continue
        literal = _from(file.lines[node.lineno - 1], node.col_offset).lstrip(_PREFIXES)
        if literal[:1] in ("'", '"') and literal[:3] not in ("'''", '"""'):
            found.append(literal[0])
    return found


def _from(line: str, offset: int) -> str:
    """The rest of a line; offsets of syntax nodes count bytes."""
    if line.isascii():
        return line[offset:]
    return line.encode()[offset:].decode(errors="replace")
