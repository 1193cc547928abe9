"""Which quotes a file puts around its strings."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

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
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Constant, ast.JoinedStr)):
            continue
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            continue
        line = file.lines[node.lineno - 1].encode()[node.col_offset :].decode(errors="replace")
        literal = line.lstrip(_PREFIXES)
        if literal[:1] in ("'", '"') and literal[:3] not in ("'''", '"""'):
            found.append(literal[0])
    return found
