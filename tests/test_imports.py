"""What may import what: downwards only, at the top of a file, and nothing in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGES = {"tclint": "tclint", "rules": "tclint_rules"}
RULES = "tclint_rules"
GROUND = frozenset(
    "children crashes diagnostics errors files gone json_text logs printable records regexes "
    "scratch toml_text".split()
)  # fmt: skip
"""Modules that stand beside the folders of `tclint/`, and below all of them."""
CONFIG = frozenset(
    "config config_keys config_nested config_places config_schema config_verify environment".split()
)  # fmt: skip
FLOORS = (
    {"recorder"}, GROUND, {"torch_facts"}, {"source"}, {"torch_bounds"}, CONFIG, {"semantics"},
    {"lint"}, {"cache"}, {"git"}, {"fix"}, {"report"}, {"verify"}, {"confirm"}, {"run"},
    {"upgrade"}, {"fleet"}, {"review"}, {"server"}, {"testing"}, {"pytest_plugin"},
    {"agents"}, {"api"}, {"cli", "__main__"},
)  # fmt: skip
"""The folders of `tclint/` from the lowest to the highest: each may import the ones below it."""
BELOW_RULES = (GROUND, {"torch_facts"}, {"source"}, {"torch_bounds"}, {"semantics"}, {"lint"})
"""What a rule may import."""
TYPES_OF_ABOVE = {
    "tclint": "the package names what it loads when it is asked for",
    "tclint.semantics.body": "a body keeps the sites of its calls, and a site its body",
    "tclint.semantics.interpreter.analysis": "an analysis keeps frames, and what is found in them",
    "tclint.semantics.interpreter.changes": "an analysis keeps what changes",
    "tclint.semantics.interpreter.frame": "a frame knows its analysis",
}
"""Modules whose classes hold each other: they import the type of one above, and nothing happens."""
LATE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "a command loads its work when it is called: `tclint --help` takes 0.1 s, all of it 1.5 s": (
        ("tclint.cli", "tclint"),
        ("tclint.cache.report_cache", "hashlib"),
        ("tclint.cache.report_cache", "tclint.printable"),
    ),
    "a run that remembers its findings walks no code and asks no rule, which saves 0.2 s": (
        ("tclint.cache.freshness", "tclint.lint.searches"),
        ("tclint.cache.freshness", "tclint.semantics.project"),
        ("tclint.cache.identity", "importlib.util"),
        ("tclint.cache.identity", "tclint.lint.registry"),
        ("tclint.cache.store", "tclint.scratch"),
        ("tclint.cache.store", "tclint.cache.imports"),
        ("tclint.cache.store", "tempfile"),
        ("tclint.lint.engine", "tclint.lint.reading"),
        ("tclint.lint.examined", "tclint.lint"),
        ("tclint.lint.registry", "importlib.metadata"),
        ("tclint.lint.registry", "tclint.lint.file_rules"),
    ),
    "a run that finds nothing explains no rule": (("tclint.report.told", "tclint.lint.pages"),),
    "a run over a folder has no files around it": (("tclint.lint.engine", "tclint.lint.around"),),
    "LibCST takes 0.15 s: only where edits or newer syntax are asked for": (
        ("tclint.fleet.measure", "tclint.verify.fixer"),
        ("tclint.report.repairs", "tclint.fix.edits"),
        ("tclint.server.engine", "tclint.fix.apply"),
        ("tclint.source.newer", "libcst"),
    ),
    "what a trial compiles has torch imported, and the recorder only then": (
        ("tclint.recorder.site.tclint_recorder.compiling", "torch._inductor"),
    ),
    "other packages, 15 to 45 ms each, that most runs do without": (
        ("tclint.cli.progress", "rich"),
        ("tclint.run.report.as_html", "jinja2"),
        ("tclint.run.report.as_html", "markupsafe"),
        ("tclint.source.patterns", "pathspec"),
        ("tclint.torch_bounds.releases", "packaging"),
        ("tclint.torch_bounds.statements", "packaging"),
        ("tclint.verify.report.text", "rich"),
    ),
    "notebooks and misspelt names are rare: 6 ms and 1 ms": (
        ("tclint.config_keys", "difflib"),
        ("tclint.fix.diff", "tclint.source.notebook"),
        ("tclint.source.decode", "tclint.source.notebook"),
        ("tclint.source.write", "tclint.source.notebook"),
        ("tclint_rules", "difflib"),
    ),
    "torch takes seconds: it is imported in child processes, after their limits are set": (
        ("tclint.verify.contract", "torch"),
        ("tclint.verify.contract", "tclint.verify.inputs"),
        ("tclint.verify.share", "torch"),
        ("tclint.verify.worker", "tclint.verify"),
    ),
    "pytest loads the plugin for every suite: torch waits for a test that asks for it": (
        ("tclint.pytest_plugin", "tclint.pytest_plugin"),
    ),
    "what records a program loads nothing that the program has not loaded": (
        ("tclint.recorder", "tclint.recorder"),
        ("tclint.recorder", "_frozen_importlib_external"),
        ("tclint.recorder", "json"),
        ("tclint.recorder", "linecache"),
    ),
    "`import tclint` is cheap, and what records a program waits for its torch": (
        ("tclint", "importlib"),
        ("tclint.api.recording", "tclint.recorder"),
    ),
    "not on every system": (
        ("tclint.api.ipython", "IPython"),
        ("tclint.fleet.store", "fcntl"),
        ("tclint.scratch", "fcntl"),
        ("tclint.verify.keeper", "ctypes"),
        ("tclint.verify.measure", "resource"),
        ("tclint.verify.worker", "resource"),
    ),
}
"""The imports inside functions, by their reason: who imports what."""
LIBRARY = "tclint_rules.lib."
ROOMS = ("facts", "judge", "rewrite")
"""What several rules use, in the order in which one may import the other."""
APART: Mapping[str, str] = {
    "lib.facts.device_origins": "where values are, a question of its own",
    "lib.facts.output_arguments": "what an output call does beside it, a question of its own",
    "lib.judge.contexts": "where a number stands; its client says where it goes",
    "lib.rewrite.masked_store": "stores by masks, on more lines than the rule",
    "lib.rewrite.number_as_tensor": "where a number goes, on twice the lines of its client",
    "lib.rewrite.where": "one of the rewritings of a branch, whose rule has 500 lines",
    "lib.rewrite.where_condition": "tests as conditions, a question of its own",
}
"""Helpers that one module alone uses, and why they are no part of it."""


class Import(NamedTuple):
    """One import: who needs what, whether in a function, whether for its types alone."""

    importer: str
    needed: str
    late: bool
    typing: bool


@pytest.fixture(scope="module")
def modules(repository: Path) -> Mapping[str, Path]:
    found = {}
    for folder, package in PACKAGES.items():
        for path in (repository / folder).rglob("*.py"):
            parts = [package, *path.relative_to(repository / folder).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


@pytest.fixture(scope="module")
def imports(modules: Mapping[str, Path]) -> tuple[Import, ...]:
    found = []
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node, late, typing in import_nodes(ast.parse(path.read_text("utf-8"))):
            found += [Import(name, one, late, typing) for one in needed_by(node, package, modules)]
    return tuple(found)


def import_nodes(
    tree: ast.AST, *, late: bool = False, typing: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """The import statements of a tree, whether in a function, whether for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, late, typing
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        is_typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        yield from import_nodes(node, late=late or is_function, typing=typing or is_typing)


def needed_by(
    node: ast.Import | ast.ImportFrom, package: str, modules: Iterable[str]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    module = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        whole = f"{module}.{alias.name}"
        yield whole if whole in modules else module


def floor(module: str) -> int | None:
    """How high a module of `tclint/` stands; None for the package itself, which says its version.

    Raises:
        LookupError: FLOORS does not say it.
    """
    folder = [*module.split("."), ""][1]
    if not folder:
        return None
    for place, here in enumerate(FLOORS):
        if folder in here:
            return place
    raise LookupError(f"say in FLOORS, and in docs/architecture.md, where {folder} stands")


def is_in(module: str, place: str) -> bool:
    return module == place or module.startswith(f"{place}.")


def test_no_folder_imports_one_above_it_not_even_for_its_types(
    imports: Iterable[Import],
) -> None:
    upward = []
    for one in imports:
        if is_in(one.importer, "tclint") and is_in(one.needed, "tclint"):
            low, high = floor(one.importer), floor(one.needed)
            if low is not None and high is not None and high > low:
                upward.append(f"{one.importer} -> {one.needed}")
    assert upward == []


def test_tclint_knows_no_rule_and_a_rule_only_what_is_below_rules(
    imports: Iterable[Import],
) -> None:
    below = frozenset[str]().union(*BELOW_RULES)
    assert [
        f"{one.importer} -> {one.needed}"
        for one in imports
        if (is_in(one.importer, "tclint") and is_in(one.needed, RULES))
        or (
            is_in(one.importer, RULES)
            and is_in(one.needed, "tclint")
            and one.needed.split(".")[1] not in below
        )
    ] == []


def test_no_module_imports_itself_by_way_of_others(
    imports: Iterable[Import], modules: Mapping[str, Path]
) -> None:
    needs: dict[str, set[str]] = {}
    for one in imports:
        is_promise = one.typing and one.importer in TYPES_OF_ABOVE
        if one.needed in modules and one.needed != one.importer and not is_promise:
            needs.setdefault(one.importer, set()).add(one.needed)
    try:
        [*TopologicalSorter(needs).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_an_import_in_a_function_has_a_reason(imports: Iterable[Import]) -> None:
    late = [one for one in imports if one.late and not one.typing]
    allowed = [pair for pairs in LATE.values() for pair in pairs]
    assert [
        f"{one.importer} -> {one.needed}"
        for one in late
        if not any(is_in(one.importer, who) and is_in(one.needed, what) for who, what in allowed)
    ] == []
    assert [
        f"{who} -> {what}"
        for who, what in allowed
        if not any(is_in(one.importer, who) and is_in(one.needed, what) for one in late)
    ] == []


def test_the_architecture_page_has_every_folder_the_highest_first(repository: Path) -> None:
    page = (repository / "docs/architecture.md").read_text("utf-8")
    named = re.findall(r"^\| `tclint/(\w+)(?:/|\.py)` \|", page, re.MULTILINE)
    heights = [floor(f"tclint.{name}") or 0 for name in named]
    assert heights == sorted(heights, reverse=True)
    assert set(heights) == set(range(len(FLOORS)))
    folders = {path.parent.name for path in (repository / "tclint").glob("*/__init__.py")}
    assert folders <= set(named)


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


def test_a_helper_of_one_client_is_part_of_it_or_has_a_reason(
    modules: Mapping[str, Path],
) -> None:
    clients: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        if name.startswith(RULES):
            for needed in rule_imports(name, path, modules):
                clients[needed].add(name)
    single = {
        name.removeprefix(f"{RULES}."): client
        for name, path in modules.items()
        if len(clients[name]) == 1 and path.name != "__init__.py"
        for client in clients[name]
    }
    apart = [f"{one} is for {client} alone" for one, client in single.items() if one not in APART]
    assert apart == []
    assert APART.keys() - single.keys() == set(), "these have more clients, or none"


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
