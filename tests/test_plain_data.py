"""Records are records: none is a list of anything, and a frozen one is made whole at once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

FOLDERS = ("tclint", "rules")
LISTS_OF_ANYTHING: Mapping[str, str] = {
    "tclint/recorder/site/tclint_recorder/compiling.py": "models of the user's",
    "tclint/recorder/site/tclint_recorder/syncs.py": "the filters of `warnings`",
    "tclint/run/read.py": "lines of a recording by their kind, each line a record",
    "tclint/torch_bounds/text.py": "what a file of another program has as a list",
    "tclint/verify/capture.py": "the inputs of a graph",
    "tclint/verify/oracles.py": "the inputs of a graph",
    "tclint/verify/rank.py": "callables of several kinds, all called with nothing",
    "tclint/verify/recorder.py": "models of the user's",
    "tclint/verify/subject.py": "models of the user's",
}
"""The files that say `list[Any]`, and what their lists hold: many things of one kind, never a row
whose columns have meanings."""
SPOKEN_OF = re.compile(r"[Ll]ist\[\s*Any|__setattr__")
"""Where it does not occur, nothing needs to be parsed."""


@pytest.fixture(scope="module")
def trees(repository: Path) -> Mapping[str, ast.Module]:
    texts = {
        path.relative_to(repository).as_posix(): path.read_text("utf-8")
        for folder in FOLDERS
        for path in sorted((repository / folder).rglob("*.py"))
    }
    return {name: ast.parse(text) for name, text in texts.items() if SPOKEN_OF.search(text)}


def nodes(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, ast.AST]]:
    for name, tree in trees.items():
        for node in ast.walk(tree):
            yield name, node


def is_list_of_anything(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node) in ("list[Any]", "List[Any]")


def sets_in_spite(node: ast.AST) -> bool:
    """Whether it is ``object.__setattr__``, or that of a parent, which a frozen class denies."""
    return isinstance(node, ast.Attribute) and node.attr == "__setattr__"


def at(name: str, node: ast.AST) -> str:
    return f"{name}:{getattr(node, 'lineno', 0)}"


def test_no_row_is_a_list_of_anything(trees: Mapping[str, ast.Module]) -> None:
    found = [(name, node) for name, node in nodes(trees) if is_list_of_anything(node)]
    assert [at(name, node) for name, node in found if name not in LISTS_OF_ANYTHING] == []
    assert LISTS_OF_ANYTHING.keys() - {name for name, _ in found} == set()


def test_nothing_is_written_into_a_frozen_record(trees: Mapping[str, ast.Module]) -> None:
    assert [at(name, node) for name, node in nodes(trees) if sets_in_spite(node)] == []


def test_what_these_tests_look_for_is_found_where_it_is() -> None:
    code = "rows: dict[str, list[Any]]\nobject.__setattr__(self, 'a', 1)\n"
    found = list(nodes({"a.py": ast.parse(code)}))
    assert [at(*one) for one in found if is_list_of_anything(one[1])] == ["a.py:1"]
    assert [at(*one) for one in found if sets_in_spite(one[1])] == ["a.py:2"]
