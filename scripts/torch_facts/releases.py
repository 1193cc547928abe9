"""The files of a release of torch: which names it has, with which arguments, and graph breaks.

They are read, not imported.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

DOCUMENTED = (
    ("_torch_docs.py", r"add_docstr\(torch\.(\w+)", "torch"),
    ("_tensor_docs.py", r"add_docstr_all\('(\w+)'", "torch.Tensor"),
)
DEPTH = 12

# Beside Dynamo's sources, and not a module.
REGISTRY = "torch/_dynamo/graph_break_registry.json"

Version = tuple[int, int]
Found = list[ast.AST]


class Release:
    """The Python files of one release, in the folder that holds the folder ``torch``."""

    def __init__(self, folder: Path, version: Version) -> None:
        self.folder, self.version = folder, version
        self._bound: dict[str, dict[str, Found]] = {}
        self._members: dict[ast.ClassDef, dict[str, Found]] = {}
        self._documented = self._documentation()

    def graph_breaks(self) -> set[str]:
        """The ids of the graph breaks that Dynamo has a page for; none before it had any."""
        file = self.folder / REGISTRY
        return set(json.loads(file.read_bytes())) if file.is_file() else set()

    def find(self, dotted: str, depth: int = 0) -> Found:
        """What defines a name: functions, classes, modules, assignments."""
        if depth > DEPTH:
            return []
        if self._files(dotted) or dotted in self._documented:
            return [ast.Module([], [])]
        owner, _, name = dotted.rpartition(".")
        if not owner:
            return []
        if self._files(owner):
            return self._in_module(owner, name, depth)
        found: Found = []
        for node in self.find(owner, depth + 1):
            if isinstance(node, ast.ClassDef):
                found += self._in_class(owner, node, name, depth)
        return found

    def parameters(self, dotted: str) -> set[str] | None:
        """The names of the arguments of a function, or a class; None where that is not known."""
        functions: Found = []
        for node in self.find(dotted):
            if not isinstance(node, ast.ClassDef):
                functions.append(node)
                continue
            functions += self._in_class(dotted, node, "__init__", 0)
        defined = [node for node in functions if isinstance(node, ast.FunctionDef)]
        if not defined or any(node.args.kwarg for node in defined):
            return None
        return {name for node in defined for name in _given(node)}

    def _documentation(self) -> set[str]:
        """The names that torch documents by hand: before 1.2 there were no stubs."""
        found: set[str] = set()
        if self.version < (1, 2):
            for file, pattern, owner in DOCUMENTED:
                text = (self.folder / "torch" / file).read_text("utf-8")
                found |= {f"{owner}.{name}" for name in re.findall(pattern, text)}
        return found

    def _in_module(self, module: str, name: str, depth: int) -> Found:
        found: Found = []
        bound = self._module(module)
        for node in bound.get(name, ()):
            if isinstance(node, ast.ImportFrom):
                alias = next(a for a in node.names if (a.asname or a.name) == name)
                found += self.find(f"{self._source(module, node)}.{alias.name}", depth + 1) or [
                    node
                ]
            else:
                found.append(node)
        if found or name.startswith("__"):
            return found
        for node in bound.get("*", ()):
            if isinstance(node, ast.ImportFrom):
                found += self.find(f"{self._source(module, node)}.{name}", depth + 1)
        if module == "torch":
            for hidden in ("torch._C._VariableFunctions", "torch._C"):
                if not found:
                    found = self._in_module(hidden, name, depth + 1)
        if module == "torch.nn.functional" and not found:
            found = self._in_module("torch._C._nn", name, depth + 1)
        return found

    def _in_class(self, dotted: str, node: ast.ClassDef, name: str, depth: int) -> Found:
        if node not in self._members:
            self._members[node] = _bound_in(node.body)
        found = [*self._members[node].get(name, ())]
        for base in node.bases:
            if not found and depth < DEPTH:
                last = ast.unparse(base).rpartition(".")[2]
                for where in (dotted.rpartition(".")[0], "torch._C", "torch.optim.optimizer"):
                    for other in self.find(f"{where}.{last}", depth + 1):
                        if isinstance(other, ast.ClassDef) and other is not node and not found:
                            found = self._in_class(dotted, other, name, depth + 1)
        return found

    def _files(self, module: str) -> list[Path]:
        path = self.folder.joinpath(*module.split("."))
        names = (path / "__init__.py", path / "__init__.pyi", path.with_suffix(".py"))
        return [n for n in (*names, path.with_suffix(".pyi")) if n.is_file()]

    def _module(self, module: str) -> dict[str, Found]:
        if module not in self._bound:
            bound = self._bound[module] = {}
            for file in self._files(module):
                for name, found in _bound_in(ast.parse(file.read_bytes()).body).items():
                    bound.setdefault(name, []).extend(found)
        return self._bound[module]

    def _source(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = any(file.stem == "__init__" for file in self._files(module))
        parts = module.split(".")
        parts = parts[: len(parts) - node.level + package]
        return ".".join([*parts, *([node.module] if node.module else [])])


def _bound_in(body: list[ast.stmt]) -> dict[str, Found]:
    bound: dict[str, Found] = {}
    for node in _statements(body):
        for name, found in _binds(node).items():
            bound.setdefault(name, []).extend(found)
    return bound


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, and those below its conditions."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody", "handlers"):
                for inner in getattr(node, part, ()):
                    yield from _statements(
                        inner.body if isinstance(inner, ast.ExceptHandler) else [inner]
                    )


def _binds(node: ast.stmt) -> dict[str, Found]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name: [node]}
        case ast.Assign(targets=targets):
            names = [n for target in targets for n in ast.walk(target)]
            return {n.id: [node] for n in names if isinstance(n, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name: [node]}
        case ast.ImportFrom(names=aliases):
            return {alias.asname or alias.name: [node] for alias in aliases}
        case ast.Import(names=aliases):
            return {alias.asname or alias.name.split(".")[0]: [node] for alias in aliases}
    return {}


def _given(node: ast.FunctionDef) -> set[str]:
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return {argument.arg for argument in every} - {"self", "cls"}
