"""What may import what: no module needs itself by way of others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGES = {"tclint": "tclint", "rules": "tclint_rules"}


@pytest.fixture(scope="module")
def modules(repository: Path) -> Mapping[str, Path]:
    found = {}
    for folder, package in PACKAGES.items():
        for path in (repository / folder).rglob("*.py"):
            parts = [package, *path.relative_to(repository / folder).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(tree: ast.AST, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a tree imports, in functions as well."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue  # nothing happens there
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules else str(node.module)
        yield from imports(node, modules)


def test_no_module_imports_itself_by_way_of_others(modules: Mapping[str, Path]) -> None:
    needs: dict[str, set[str]] = {}
    for name, path in modules.items():
        tree = ast.parse(path.read_text("utf-8"))
        needs[name] = {one for one in imports(tree, modules) if one in modules} - {name}
    try:
        [*TopologicalSorter(needs).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))
