"""Fixes that would lose a comment: they are declined when found, as carrying them out would be."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import, Repair, Replace, Splice
from tclint.semantics.syntax import nodes
from tclint.source.file import SourceFile

Node = ast.expr | ast.stmt


def keeping_comments(fix: Repair | Decline | None, file: SourceFile) -> Repair | Decline | None:
    """The fix, or the reason why it cannot be carried out: a comment in what it replaces.

    Blocks keep more than the parts of their templates: about those only LibCST knows.
    """
    if not isinstance(fix, Repair):
        return fix
    replaced = [rewrite.node for rewrite in fix.rewrites if isinstance(rewrite, Replace)]
    if any(isinstance(node, ast.stmt) and hasattr(node, "body") for node in replaced):
        return fix
    inner = {below for node in replaced for below in nodes(node) if below is not node}
    lost: Counter[str] = Counter()
    for node in replaced:
        if node not in inner:
            lost += _comments(file, node)
    for part in _parts(fix) if lost else ():
        lost -= _comments(file, part)
    return Decline(f"the comment `{next(iter(lost))}` would be lost") if lost else fix


def _parts(repair: Repair) -> Iterator[Node]:
    """The code that a repair puts somewhere as it was written."""
    for rewrite in repair.rewrites:
        if not isinstance(rewrite, (Import, Splice)):
            yield from rewrite.parts.values()


def _comments(file: SourceFile, node: Node) -> Counter[str]:
    text = file.excerpt(file.span(node))
    if "#" not in text:
        return Counter()
    # In parentheses, the lines of an expression may break and be indented as they are.
    tokens = tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
