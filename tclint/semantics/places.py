"""Events that need no values: names of torch anywhere in a file, calls of training loops.

Only syntax that covers a line with one of the words is walked: in most files that is nothing.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from tclint.semantics.collect import TRIES, dotted_name
from tclint.semantics.events import Event, NameUsed, TrainingCall
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.site import Facts, Site
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.semantics.syntax import ATTRIBUTE, CALL, NAME, children, nodes
from tclint.source.file import SourceFile
from tclint.source.rows import first_row
from tclint.torch_facts.moved import is_watched, leads_to_watched

# Where one of the watched names can come from; names that a file imports come on top.
NAME_WORDS: Final = (
    "_dynamo", "_inductor", "_functorch", "torch._utils", "cuda.amp", "cpu.amp", "import amp",
    "autocast_cpu", "autocast_gpu", "utils.checkpoint", "cuda.graph",
)  # fmt: skip
# Looked for before the words: a name is spelt in full unless an import gave part of it a name. The
# text is cut at each "torch.", the one in "_functorch." too.
_BEHIND_TORCH: Final = (
    "_dynamo", "_inductor", "_func", "_utils", "cuda.amp", "cpu.amp", "cuda.graph",
    "utils.checkpoint", "is_autocast_cpu", "get_autocast_", "set_autocast_",
)  # fmt: skip
BACKWARD: Final = ".backward("
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


class _Place:
    __slots__ = ("facts", "function", "statement")

    def __init__(self, function: FunctionInfo | None, statement: ast.stmt, facts: Facts) -> None:
        self.function: Final = function
        self.statement: Final = statement
        self.facts: Final = facts


def report_places(analysis: Analysis, module: ModuleInfo) -> None:
    """Report the names and training calls of one file, if a rule asks for them."""
    if NameUsed in analysis.wanted and _may_name(module):
        _report_names(analysis, module)
    if TrainingCall in analysis.wanted and BACKWARD in module.file.text:
        _report_training(analysis, module)


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


def _report_training(analysis: Analysis, module: ModuleInfo) -> None:
    training: dict[ast.stmt, bool] = {}
    for node, place in _places(module, _rows(module.file, [BACKWARD]), whole_loops=True):
        if not isinstance(node, CALL) or not place.facts.loops:
            continue
        loop = place.facts.loops[-1]
        if loop not in training:
            training[loop] = any(map(_is_backward, nodes(loop)))
        name = _last_name(node.func)
        if training[loop] and name and isinstance(loop, (ast.For, ast.While)):
            site = _site(analysis, module, place)
            _add(analysis, TrainingCall(node, site, name, node, loop))


def _is_backward(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="backward")):
            return True
    return False


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


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
    module: ModuleInfo, rows: set[int], whole_loops: bool = False
) -> Iterator[tuple[ast.AST, _Place]]:
    """The nodes that cover one of the rows, or are in such a loop, outer ones first."""
    known: dict[ast.AST, FunctionInfo] = {f.node: f for f in module.functions.values()}
    for cls in module.classes.values():
        known.update({method.node: method for method in cls.methods.values()})
    in_order, outside = sorted(rows), Facts()
    pending: list[tuple[ast.AST, _Place]] = [
        (statement, _Place(None, statement, outside)) for statement in reversed(module.tree.body)
    ]
    while pending:
        node, place = pending.pop()
        in_loop = whole_loops and bool(place.facts.loops) and not isinstance(node, _LOOPS)
        if not in_loop and not _covers(node, in_order):
            continue
        yield node, place
        function, facts = place.function, place.facts
        if isinstance(node, _FUNCTIONS):
            # A nested function's calls are not the loop's around it.
            function, facts = known.get(node, function), outside
        elif isinstance(node, _LOOPS):
            facts = Facts((*facts.loops, node), facts.tries)
        elif isinstance(node, TRIES):
            facts = Facts(facts.loops, (*facts.tries, node))
        inner = _Place(function, place.statement, facts)
        for child in children(node):
            below = _Place(function, child, facts) if isinstance(child, ast.stmt) else inner
            pending.append((child, below))


def _covers(node: ast.AST, rows: list[int]) -> bool:
    """True when one of the rows is a node's own; what has no place of its own always is."""
    first = getattr(node, "lineno", None)
    if first is None:
        return True
    if isinstance(node, ast.stmt):
        first = first_row(node)
    index = bisect_left(rows, first)
    return index < len(rows) and rows[index] <= (getattr(node, "end_lineno", None) or first)
