"""Where the program names a function that no compiled code was found to call, and what is there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.readable import readable
from tclint.semantics.rows import Function, Row, row_of
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.semantics.syntax import nodes
from tclint.semantics.trace import Trace
from tclint.semantics.values import UNKNOWN
from tclint.semantics.values import Function as Called

MOST: Final = 3


@record(frozen=True)
class Mention:
    """A place that names a function, and why nothing follows from it.

    Those of a low ``rank`` tell the most.
    """

    module: ModuleInfo
    row: int
    said: str
    rank: int


def mentions_of(
    analysis: Analysis,
    trace: Trace,
    function: Function,
    info: FunctionInfo | None,
    walked: Collection[Path],
) -> Iterator[Mention]:
    """The places that name a function, with the reason why each does not make it compiled.

    Only files that were ``walked`` are looked into. Without ``info`` it is a function inside of
    another that was never walked.
    """
    name = function.name
    for module in analysis.project.loaded:
        if module.file.path not in walked or name not in module.file.text:
            continue
        inner = nodes(module.tree)
        called = {node.func for node in inner if isinstance(node, ast.Call)}
        for node in inner:
            if not isinstance(node, (ast.Name, ast.Attribute)) or not _names(node, name):
                continue
            row = row_of(module.tree, node.lineno)
            if _may_mean(analysis, module, row, node, function, info):
                told = _told(analysis, trace, row, node, function, calls=node in called)
                if told is not None:
                    yield Mention(module, node.lineno, *told)


def _names(node: ast.Name | ast.Attribute, name: str) -> bool:
    written = node.id if isinstance(node, ast.Name) else node.attr
    return written == name and isinstance(node.ctx, ast.Load)


def _may_mean(
    analysis: Analysis,
    module: ModuleInfo,
    row: Row,
    node: ast.Name | ast.Attribute,
    function: Function,
    info: FunctionInfo | None,
) -> bool:
    """False for what another function of the same name is meant by."""
    if info is not None and info.cls is not None:
        return isinstance(node, ast.Attribute)
    if info is None or info.module.functions.get(info.qualname) is not info:
        around = [one for one in row.functions if function in ast.walk(one)]
        return isinstance(node, ast.Name) and bool(around)
    name = dotted_name(module, node)
    if isinstance(node, ast.Name):
        found = analysis.project.member(module, node.id)
    else:
        found = analysis.project.lookup(name, module) if name is not None else None
    return found is info


def _told(
    analysis: Analysis, trace: Trace, row: Row, node: ast.expr, function: Function, *, calls: bool
) -> tuple[str, int] | None:
    """What there is to say of a place, and how much it tells; None for what means another."""
    text = ast.unparse(node)
    around = row.functions[-1] if row.functions else None
    if around is function:
        return None
    doing = "calls" if calls else "passes on"
    if around is None:
        return f"the top level of the file {doing} `{text}`, in eager mode", 3
    if not trace.in_regions(around):
        return f"`{row.name}` {doing} `{text}`, and is in no region itself", 2
    body = analysis.walked(around)
    value = body.values.get(node) if body is not None else None
    if value is None:
        return f"`{row.name}` {doing} `{text}` in code that is never reached", 1
    if isinstance(value, Called):
        if value.info.node is function:
            if calls:
                return f"`{row.name}` calls it, which is not followed", 0
            return f"`{row.name}` passes it on, and where it goes is not followed", 0
        return f"`{row.name}` {doing} `{text}`, which there is {readable(value)}", 4
    taken = "not known" if value is UNKNOWN else f"treated as {readable(value)}"
    return f"`{row.name}` is in a region and {doing} `{text}`, but its value is {taken}", 0
