"""Events that need no values: names of torch anywhere in a file, calls of training loops.

Only syntax that covers a line with one of the words is walked: in most files that is nothing.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from typing import Final

from tclint.semantics.collect import TRIES, dotted_name
from tclint.semantics.events import Event, NameUsed, ParameterLoop, TrainingCall
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.site import Facts, Site
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.semantics.syntax import ATTRIBUTE, CALL, NAME, children, last_name
from tclint.semantics.training import may_train, training_bodies
from tclint.source.file import SourceFile
from tclint.source.rows import first_row
from tclint.torch_facts.moved import RELEASED, is_watched, leads_to_watched

# Where one of the watched names can come from; names that a file imports come on top.
NAME_WORDS: Final = (
    "_dynamo", "_inductor", "_functorch", "torch._utils", "cuda.amp", "cpu.amp", "import amp",
    "autocast_cpu", "autocast_gpu", "utils.checkpoint", "cuda.graph", "torch.compiler.",
)  # fmt: skip
# Looked for before the words: a name is spelt in full unless an import gave part of it a name. The
# text is cut at each "torch.", the one in "_functorch." too.
_BEHIND_TORCH: Final = (
    "_dynamo", "_inductor", "_func", "_utils", "cuda.amp", "cpu.amp", "cuda.graph",
    "utils.checkpoint", "is_autocast_cpu", "get_autocast_", "set_autocast_",
    *(name.removeprefix("torch.") for name in sorted(RELEASED) if ".compiler." in name),
)  # fmt: skip
_OVER_TENSORS: Final = ("param", "state_dict(")
_ARITHMETIC: Final = (
    ".mul_(", " *= ", ".lerp_(", ".copy_(", ".norm(", ".data =", ".item(", ".zero_(", ".add_(",
    ".sub_(", ".div_(", " /= ", ".data -= ", "isnan(", "isfinite(", "isinf(", ".clamp_(", " -= ",
    "(1 - ", "(1.0 - ", "(1. - ",
)  # fmt: skip
_FUNCTION: Final = ast.FunctionDef
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


class _Place:
    __slots__ = ("body", "facts", "function", "statement")

    def __init__(
        self,
        function: FunctionInfo | None,
        statement: ast.stmt,
        facts: Facts,
        body: ast.AST | None = None,
    ) -> None:
        self.function: Final = function
        self.statement: Final = statement
        self.facts: Final = facts
        self.body: Final = body
        """The innermost of the bodies that are walked whole."""


def report_places(analysis: Analysis, module: ModuleInfo) -> None:
    """Report the names and training calls of one file, if a rule asks for them."""
    if NameUsed in analysis.wanted and _may_name(module):
        _report_names(analysis, module)
    bodies = training_bodies(module) if may_train(module.file.text) else {}
    if TrainingCall in analysis.wanted and bodies:
        _report_training(analysis, module, bodies)
    if ParameterLoop in analysis.wanted and any(w in module.file.text for w in _OVER_TENSORS):
        _report_loops(analysis, module, bodies)


def _may_name(module: ModuleInfo) -> bool:
    """True for a file that may use one of the watched names."""
    text = module.file.text
    if "torch" not in text:
        return False
    if any(part.startswith(_BEHIND_TORCH) for part in text.split("torch.")):
        return True
    return any(local != name and leads_to_watched(name) for local, name in module.imports.items())


def _report_names(analysis: Analysis, module: ModuleInfo) -> None:
    imported = [
        local for local, name in module.imports.items() if "." in name and leads_to_watched(name)
    ]
    rows = _rows(module.file, NAME_WORDS) | _rows(module.file, imported, whole=True)
    calls: dict[ast.expr, ast.Call] = {}
    for node, place in _places(module, rows):
        if isinstance(node, CALL):
            calls[node.func] = node
        if not isinstance(node, (ATTRIBUTE, NAME)):
            continue
        name = dotted_name(module, node)
        if name is not None and is_watched(name):
            site = _site(analysis, module, place)
            if site.dotted(node) == name:
                _add(analysis, NameUsed(node, site, name, node, calls.get(node)))


def _report_training(analysis: Analysis, module: ModuleInfo, bodies: dict[ast.AST, bool]) -> None:
    rows = {node.lineno for node in bodies if isinstance(node, ast.stmt)}
    for node, place in _places(module, rows, bodies):
        body = place.body
        if not isinstance(node, CALL) or not isinstance(body, (ast.For, ast.While, _FUNCTION)):
            continue
        name = last_name(node.func)
        if name:
            site = _site(analysis, module, place)
            _add(analysis, TrainingCall(node, site, name, node, body, bodies[body]))


def _report_loops(analysis: Analysis, module: ModuleInfo, bodies: dict[ast.AST, bool]) -> None:
    rows = _rows(module.file, _ARITHMETIC)
    if not rows:
        return
    for node, place in _places(module, rows, bodies, whole=False):
        if not isinstance(node, (ast.For, ast.ListComp, ast.GeneratorExp)) or node in bodies:
            continue
        body = place.body
        in_step = body if isinstance(body, (ast.For, ast.While, _FUNCTION)) else None
        within = in_step if in_step is not None and bodies[in_step] else None
        _add(analysis, ParameterLoop(node, _site(analysis, module, place), node, within))


def _add(analysis: Analysis, event: Event) -> None:
    analysis.events.setdefault((type(event), event.node), event)


def _site(analysis: Analysis, module: ModuleInfo, place: _Place) -> Site:
    body = analysis.body(module, place.function)
    return Site(body, None, place.statement, place.facts, (), analysis.settings)


def _rows(file: SourceFile, words: Iterable[str], whole: bool = False) -> set[int]:
    """The rows with one of the words; as names of their own where they are ``whole``."""
    rows: set[int] = set()
    for word in words:
        start = file.text.find(word)
        while start >= 0:
            end = start + len(word)
            if not whole or _stands_alone(file.text, start, end):
                rows.add(file.row(start))
            start = file.text.find(word, end)
    return rows


def _stands_alone(text: str, start: int, end: int) -> bool:
    around = text[max(start - 1, 0) : start] + text[end : end + 1]
    return not any(letter == "_" or letter.isalnum() for letter in around)


def _places(
    module: ModuleInfo, rows: set[int], bodies: Container[ast.AST] = (), *, whole: bool = True
) -> Iterator[tuple[ast.AST, _Place]]:
    """The nodes that cover one of the rows, or are in one of the bodies, outer ones first.

    Where bodies are not wanted ``whole``, it is only told in which of them a node is. A loop or a
    function in a body that is none itself is left out.
    """
    known: dict[ast.AST, FunctionInfo] = {f.node: f for f in module.functions.values()}
    for cls in module.classes.values():
        known.update({method.node: method for method in cls.methods.values()})
    in_order, outside = sorted(rows), Facts()
    pending: list[tuple[ast.AST, _Place]] = [
        (statement, _Place(None, statement, outside)) for statement in reversed(module.tree.body)
    ]
    while pending:
        node, place = pending.pop()
        in_body = whole and place.body is not None and not isinstance(node, _LOOPS)
        if not in_body and not _covers(node, in_order):
            continue
        yield node, place
        function, facts, body = place.function, place.facts, place.body
        if isinstance(node, _FUNCTIONS):
            # A nested function's calls are not the loop's around it.
            function, facts, body = known.get(node, function), outside, None
        elif isinstance(node, _LOOPS):
            facts, body = Facts((*facts.loops, node), facts.tries), None
        elif isinstance(node, TRIES):
            facts = Facts(facts.loops, (*facts.tries, node))
        body = node if node in bodies else body
        inner = _Place(function, place.statement, facts, body)
        header = _Place(function, place.statement, facts)
        for child in children(node):
            if isinstance(child, ast.stmt):
                pending.append((child, _Place(function, child, facts, body)))
            else:
                pending.append((child, header if isinstance(node, _FUNCTIONS) else inner))


def _covers(node: ast.AST, rows: list[int]) -> bool:
    """True when one of the rows is a node's own; what has no place of its own always is."""
    first = getattr(node, "lineno", None)
    if first is None:
        return True
    if isinstance(node, ast.stmt):
        first = first_row(node)
    index = bisect_left(rows, first)
    return index < len(rows) and rows[index] <= (getattr(node, "end_lineno", None) or first)
