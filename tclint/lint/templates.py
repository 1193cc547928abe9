"""Templates of fixes as syntax: Python in which marked names stand for the parts."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

from tclint.regexes import regex

MARK: Final = "_tclint_part_"
KEPT_TEMPLATES: Final = 64
"""Helpers that fixes bring along are the same in every file."""
_PLACE: Final = regex(r"\$(?=[A-Za-z_])")


def marked(template: str) -> str:
    """The text of a template with a name for each part."""
    return _PLACE.sub(MARK, template)


def part_of(node: ast.AST) -> str | None:
    """The part that a name in a template stands for."""
    if isinstance(node, ast.Name) and node.id.startswith(MARK):
        return node.id.removeprefix(MARK)
    return None


@lru_cache(maxsize=KEPT_TEMPLATES)
def parsed(template: str) -> ast.Module:
    """A template as syntax; without any where it is no Python: carrying it out says so."""
    try:
        return ast.parse(marked(template))
    except SyntaxError:
        return ast.Module([], [])
