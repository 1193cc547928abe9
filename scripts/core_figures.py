"""How much of the code answers questions of its own that the analysis should answer once.

    python -m scripts.core_figures [FOLDER ...]

For each folder: how often it looks at the syntax tree (a ``case`` of a class of `ast`, an
`isinstance` with one), how many functions do so and call themselves, how many collections that are
written out hold three or more names of torch, and how many lines there are. Strings of words
count as collections: ``"abs exp log".split()``.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tclint.semantics import syntax
from tclint.torch_facts.table import section

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("rules", "tclint", "tclint/semantics")
FEWEST: Final = 3
"""So many names of torch make a list of them."""
_OF_TORCH: Final = 0.5
"""At least that share of a collection is names of torch: else it is about something else."""
_SHORT: Final = frozenset({name for name in vars(syntax) if name.isupper()})
"""Names under which `tclint/semantics/syntax.py` keeps classes of `ast`."""


@dataclass(frozen=True)
class Figures:
    """What is counted in a file or a folder."""

    looks: int = 0
    recursive: int = 0
    lists: int = 0
    lines: int = 0

    def __add__(self, other: Figures) -> Figures:
        """Count both."""
        return Figures(
            self.looks + other.looks,
            self.recursive + other.recursive,
            self.lists + other.lists,
            self.lines + other.lines,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m scripts.core_figures", allow_abbrev=False)
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER")
    print("| folder | looks at the syntax tree | recursive functions | lists of torch | lines |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for folder in parser.parse_args(arguments).folders:
        found = figures(ROOT / folder)
        cells = (found.looks, found.recursive, found.lists, found.lines)
        print(f"| {folder} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return 0


def figures(folder: Path) -> Figures:
    """What all Python files below a folder come to."""
    return sum((of_source(file.read_text("utf-8")) for file in folder.rglob("*.py")), Figures())


def of_source(text: str) -> Figures:
    """What one file comes to."""
    tree = ast.parse(text)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Figures(
        sum(_is_look(node) for node in ast.walk(tree)),
        sum(_is_recursive(function) for function in functions),
        sum(1 for _ in lists(tree)),
        len(text.splitlines()),
    )


def lists(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """The collections of names of torch that are written out, with their rows; none in another."""
    for node in ast.iter_child_nodes(tree):
        names = _names(node)
        known = [name for name in names if _is_of_torch(name)]
        if len(known) >= FEWEST and len(known) >= _OF_TORCH * len(names):
            yield getattr(node, "lineno", 0), known
        else:
            yield from lists(node)


def _names(node: ast.AST) -> list[str]:
    """The names that a collection holds, those of its own collections too."""
    match node:
        case ast.Dict(keys=keys):
            return [name for key in keys if key is not None for name in _member(key)]
        case ast.Set(elts=members) | ast.List(elts=members) | ast.Tuple(elts=members):
            return [name for member in members for name in _member(member)]
        case ast.Constant(value=str(text)) if " " in text:
            words = text.split()
            return words if all(word.replace(".", "").isidentifier() for word in words) else []
        case ast.MatchOr(patterns=patterns):
            values = (p.value for p in patterns if isinstance(p, ast.MatchValue))
            return [name for value in values for name in _member(value)]
    return []


def _member(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
        return [node.value]
    return _names(node)


def _is_of_torch(name: str) -> bool:
    if name in vars(builtins):  # `int`, `float`, `bool` are Python's types more often
        return False
    return any(name in table for table in _tables()) or name.startswith("torch.")


def _tables() -> tuple[Mapping[str, object], ...]:
    return tuple(section(name) for name in ("methods", "attributes", "functions", "modules"))


def _is_look(node: ast.AST) -> bool:
    match node:
        case ast.match_case(pattern=pattern):
            classes = (part.cls for part in ast.walk(pattern) if isinstance(part, ast.MatchClass))
            return any(map(_is_syntax, classes))
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
            return any(_is_syntax(part) for part in ast.walk(classes))
    return False


def _is_syntax(node: ast.AST) -> bool:
    """Whether an expression is a class of `ast`."""
    match node:
        case ast.Attribute(value=ast.Name(id="ast")):
            return True
        case ast.Name(id=name):
            return name in _SHORT
    return False


def _is_recursive(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function looks at the syntax tree and calls itself."""
    return any(_is_look(node) for node in ast.walk(function)) and any(
        isinstance(node, ast.Call) and _called(node) == function.name for node in ast.walk(function)
    )


def _called(call: ast.Call) -> str | None:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return None


if __name__ == "__main__":
    sys.exit(main())
