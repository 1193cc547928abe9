"""What an analysis did not follow, as findings: silence would say that nothing is there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from tclint.diagnostics import Confidence, Diagnostic, Effect, Position, Span
from tclint.lint.codes import NOT_FOLLOWED
from tclint.lint.file_rules import NotFollowed
from tclint.semantics.bounds import Bound, Cut, Cuts, Unclear
from tclint.semantics.collect import bindings
from tclint.semantics.project import Project
from tclint.semantics.rows import FUNCTIONS
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.syntax import nodes
from tclint.torch_facts.starred import BUILTINS


def note_unresolved(cuts: Cuts, project: Project, paths: Iterable[Path]) -> None:
    """Note the files that do not say what their torch is, or a base of their layers."""
    for module in filter(None, map(project.module_at, paths)):
        for name in _roots(module):
            reason = None if _is_bound(module, name.id) else project.unbound(module, name.id)
            if reason is not None:
                cuts.note(reason, Cut(module, module.tree, _statement(module, name), ()))
                break


def _roots(module: ModuleInfo) -> Iterator[ast.Name]:
    """What the bases of layers begin with, and the first use of torch that no import is for."""
    layers = (cls for cls in module.classes.values() if "forward" in cls.methods)
    for cls in layers:
        for base in cls.bases if cls.node in module.tree.body else ():
            root = base
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name):
                yield root
    if "torch." in module.file.text and not _is_bound(module, "torch"):
        bound = bindings(module, module.tree), *(bindings(module, one) for one in _scopes(module))
        if not any("torch" in names for names in bound):
            names = (node for node in nodes(module.tree) if isinstance(node, ast.Name))
            yield from (name for name in names if name.id == "torch")


def _scopes(module: ModuleInfo) -> Iterator[ast.AST]:
    return (node for node in module.tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef)))


def _is_bound(module: ModuleInfo, name: str) -> bool:
    return name in module.imports or module.makes(name) or name in BUILTINS


def _statement(module: ModuleInfo, name: ast.Name) -> ast.stmt:
    """The innermost statement that a name is in."""
    around = [node for node in nodes(module.tree) if isinstance(node, ast.stmt)]
    return max((one for one in around if name in nodes(one)), key=lambda one: one.lineno)


def not_followed(cuts: Cuts, checked: Collection[Path]) -> Iterator[tuple[Diagnostic, Cut]]:
    """Each place where findings may be missing, once for each bound.

    What is cut off in an installed package is told at the call of a checked file that leads there.
    """
    known: set[tuple[Bound | Unclear, Path, int]] = set()
    for (bound, _), cut in cuts.found.items():
        place = _place(cut, checked) if bound.hides else None
        if place is None or (bound, place[0], place[1].start.row) in known:
            continue
        path, span = place
        known.add((bound, path, span.start.row))
        yield _diagnostic(bound, path, span), cut


def _place(cut: Cut, checked: Collection[Path]) -> tuple[Path, Span] | None:
    file = cut.module.file
    if file.path in checked:
        start = file.span(cut.statement).start
        return file.path, Span(start, _end(file.line(start.row), start))
    calls = ((Path(link.filename), link.row) for link in reversed(cut.chain))
    called = next((one for one in calls if one[0] in checked), None)
    if called is None:
        return None
    place = Position(called[1], 1)
    return called[0], Span(place, place)


def _end(line: str, start: Position) -> Position:
    """The end of a statement's first line."""
    return Position(start.row, max(start.column, len(line.rstrip()) + 1))


def _diagnostic(bound: Bound | Unclear, path: Path, span: Span) -> Diagnostic:
    message = f"Not followed: {bound}, so findings may be missing"
    return Diagnostic(
        NOT_FOLLOWED, NotFollowed.name, message, Effect.NONE, Confidence.HIGH, path, span,
        instead=bound.instead or NotFollowed.instead,
    )  # fmt: skip
