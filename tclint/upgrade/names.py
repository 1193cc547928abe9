"""Names of torch's in a file, and those that one release has and another has not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Position
from tclint.semantics.collect import collect_module, dotted_name
from tclint.semantics.symbols import ModuleInfo
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tclint.torch_bounds import Version, shown
from tclint.torch_facts.lifetimes import lifetime


def read(file: SourceFile) -> ModuleInfo | None:
    """The names of a file; None where it does not parse, which the check tells of."""
    try:
        return collect_module("", file, parse(file))
    except SourceError:
        return None


def names_gone(file: SourceFile, old: Version, new: Version) -> Iterator[tuple[Position, str]]:
    """The names that a file takes from torch and that the new release lacks."""
    module = read(file)
    if module is None:
        return
    for node, name in _names(module):
        one = lifetime(name)
        if one is not None and one.until is not None and one.holds(old) and not one.holds(new):
            yield file.span(node).start, f"`{name}` is gone from torch {shown(one.until)}"


def _names(module: ModuleInfo) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """The whole names, not their parts, and what is imported from torch's modules."""
    inner = {node.value for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Attribute) and node not in inner:
            name = dotted_name(module, node)
            if name is not None and name.startswith("torch."):
                yield node, name
