"""Code that is nested deeper than recursion can follow: where it is."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter

from tclint.diagnostics import Position, Span
from tclint.source.file import SourceFile

_LAYOUT = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def nested_deeply(root: ast.AST, limit: int) -> ast.expr | ast.stmt | None:
    """The statement, or ``root``, that holds the first node more than ``limit`` levels below."""
    level: list[tuple[ast.AST, ast.expr | ast.stmt | None]] = [
        (root, root if isinstance(root, (ast.expr, ast.stmt)) else None)
    ]
    for _ in range(limit + 1):
        level = [
            (child, child if isinstance(child, ast.stmt) else statement)
            for node, statement in level
            for child in ast.iter_child_nodes(node)
        ]
    return level[0][1] if level else None


def longest_statement(file: SourceFile) -> Span | None:
    """Where the line, or the chain of ``elif``, of most parts begins; the text need not parse.

    What is too deep for the parser has thousands of parts, and the parser does not say where.
    """
    sizes: Counter[tuple[int, int]] = Counter()
    chains: dict[int, tuple[int, int]] = {}
    start: tuple[int, int] | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(file.text, newline="").readline):
            if token.type == tokenize.NEWLINE:
                start = None
            elif token.type not in _LAYOUT:
                if start is None:
                    start = token.start
                    column = start[1]
                    chains = {known: at for known, at in chains.items() if known <= column}
                    if token.string == "elif":
                        sizes[chains.setdefault(column, start)] += 1
                    elif token.string != "else":
                        chains.pop(column, None)
                sizes[start] += 1
    except (tokenize.TokenError, SyntaxError, RecursionError):  # what was read so far has to do
        pass
    if not sizes:
        return None
    (row, column), _ = sizes.most_common(1)[0]
    place = Position(row, column + 1)
    return Span(place, place)
