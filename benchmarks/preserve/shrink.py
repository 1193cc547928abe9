"""Make a failing program small: drop statements for as long as it fails in the same way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Predicate = Callable[[str], bool]


def shrunk(text: str, fails: Predicate) -> str:
    """The smallest text found by dropping and unwrapping statements."""
    plain = ast.unparse(ast.parse(text))
    if not fails(plain):
        return text
    while True:
        smaller = next((one for one in _smaller(plain) if fails(one)), None)
        if smaller is None:
            return plain
        plain = smaller


def _smaller(text: str) -> Iterator[str]:
    count = sum(len(block) for block in _blocks(ast.parse(text)))
    for way in (_dropped, _unwrapped):
        for number in reversed(range(count)):
            tree = ast.parse(text)
            if way(tree, number):
                made = ast.unparse(ast.fix_missing_locations(tree))
                if len(made) < len(text):
                    yield made


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                found.append(block)
    return found


def _place(tree: ast.Module, number: int) -> tuple[list[ast.stmt], int]:
    for block in _blocks(tree):
        if number < len(block):
            return block, number
        number -= len(block)
    raise IndexError(number)


def _dropped(tree: ast.Module, number: int) -> bool:
    block, place = _place(tree, number)
    if isinstance(block[place], ast.Pass):
        return False
    block[place : place + 1] = [] if len(block) > 1 else [ast.Pass()]
    return True


def _unwrapped(tree: ast.Module, number: int) -> bool:
    block, place = _place(tree, number)
    inside = getattr(block[place], "body", None)
    if not isinstance(inside, list) or isinstance(block[place], (ast.FunctionDef, ast.ClassDef)):
        return False
    block[place : place + 1] = inside
    return True
