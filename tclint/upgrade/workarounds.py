"""What people write for a torch that cannot trace something, and the file without it.

Without: the eager side of a guard is compiled as well, and what was kept out of compiled code is
in it. The text keeps its lines and columns, so that findings stand where they stood.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tclint.diagnostics import Diagnostic, Position
from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import ModuleInfo
from tclint.source.file import SourceFile, spliced
from tclint.torch_bounds import Version, shown
from tclint.torch_facts import skipped_by_dynamo
from tclint.torch_facts.compiling import COMPILING, DISABLED
from tclint.upgrade.names import read

_POLYFILL = frozenset({"torch.compiler.substitute_in_graph", "torch._dynamo.substitute_in_graph"})
_COMMENT = "#"


@record(frozen=True)
class Workaround:
    """A guard or a decorator, and the rows of the code that it keeps out of compiled code."""

    path: Path
    row: int
    column: int
    what: str
    rows: range

    def covers(self, found: Diagnostic) -> bool:
        """Whether a finding stands in that code, or is reached from it."""
        if found.path == self.path and found.span.start.row in self.rows:
            return True
        name = self.path.name
        return any(link.filename == name and link.row in self.rows for link in found.chain)


def without(file: SourceFile) -> tuple[str, list[Workaround]]:
    """The text of a file without its workarounds, and these."""
    module = read(file)
    found: list[Workaround] = []
    edits: list[tuple[int, int, str]] = []
    for node, rows, text in _workarounds(module) if module else ():
        span = file.span(node)
        start, end = file.offset(span.start), file.offset(span.end)
        if text == _COMMENT:
            start = file.text.rindex("@", 0, start)
        if span.start.row == span.end.row and len(text) <= end - start:
            edits.append((start, end, text.ljust(end - start)))
            what = f"`{file.text[start:end]}`"
            found.append(Workaround(file.path, span.start.row, span.start.column, what, rows))
    return spliced(file.text, edits), found


def _workarounds(module: ModuleInfo) -> Iterator[tuple[ast.expr, range, str]]:
    """An expression, the rows that it keeps out, and what stands in its place without it."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.If, ast.IfExp)):
            asks = _asks(module, node.test)
            if asks is not None:
                kept = node.body if asks else node.orelse
                yield node.test, _rows(kept), repr(asks)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                function = decorator.func if isinstance(decorator, ast.Call) else decorator
                if dotted_name(module, function) in DISABLED:
                    yield decorator, _rows(node.body), _COMMENT


def _asks(module: ModuleInfo, test: ast.expr) -> bool | None:
    """What a question whether code is compiled is in eager code; None for anything else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asks(module, test.operand)
        return None if inner is None else not inner
    is_question = isinstance(test, ast.Call) and dotted_name(module, test.func) in COMPILING
    return False if is_question else None


def _rows(kept: list[ast.stmt] | ast.expr) -> range:
    nodes = kept if isinstance(kept, list) else [kept]
    if not nodes:
        return range(0)
    return range(nodes[0].lineno, (nodes[-1].end_lineno or nodes[-1].lineno) + 1)


def polyfills_gone(file: SourceFile, old: Version, new: Version) -> Iterator[tuple[Position, str]]:
    """What is traced in the place of a function that the new release traces by itself."""
    module = read(file)
    for node in ast.walk(module.tree) if module else ():
        if isinstance(node, ast.Call) and node.args and module is not None:
            name = dotted_name(module, node.args[0])
            if name is None or dotted_name(module, node.func) not in _POLYFILL:
                continue
            found = skipped_by_dynamo(name, new)
            if found is not None and found.holds(old) and not found.holds(new):
                message = f"torch {shown(new)} traces `{name}` without a polyfill"
                yield file.span(node).start, message
