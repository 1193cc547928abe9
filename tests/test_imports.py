"""What may import what: no module needs itself by way of others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGES = {"tclint": "tclint", "rules": "tclint_rules"}
LIBRARY = "tclint_rules.lib."
ROOMS = ("facts", "judge", "rewrite")
"""What several rules use, in the order in which one may import the other."""
LONG = 450
"""More lines than are read in one go."""


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


def test_facts_know_no_judgement_and_judgements_no_rewriting_and_none_a_rule(
    modules: Mapping[str, Path],
) -> None:
    upward = []
    for name, path in modules.items():
        if name.startswith(LIBRARY):
            for needed in rule_imports(name, path, modules):
                if rank(needed) > rank(name):
                    upward.append(f"{name} -> {needed}")
    assert upward == []


def test_a_helper_of_one_client_is_part_of_it_unless_both_are_long(
    modules: Mapping[str, Path],
) -> None:
    clients: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        if name.startswith("tclint_rules"):
            for needed in rule_imports(name, path, modules):
                clients[needed].add(name)
    apart = []
    for name, path in modules.items():
        if len(clients[name]) == 1 and path.name != "__init__.py":
            (client,) = clients[name]
            both = (path, modules[client])
            if sum(len(one.read_text("utf-8").splitlines()) for one in both) <= LONG:
                apart.append(f"{name} is for {client} alone")
    assert apart == []


def rank(module: str) -> int:
    """0 for facts, 1 for judgements, 2 for rewritings, 3 for rules; what all may use is a fact."""
    folder = module.removeprefix(LIBRARY).partition(".")[0]
    if not module.startswith(LIBRARY):
        return len(ROOMS)
    return ROOMS.index(folder) if folder in ROOMS else 0


def rule_imports(name: str, path: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules of the rules that one of them imports, relatively."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = name.split(".")[: -node.level]
            found.add(".".join([*above, *([node.module] if node.module else [])]))
    return found & modules.keys()
