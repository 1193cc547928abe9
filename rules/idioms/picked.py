"""Is this the log-probability of each row's class?"""

from __future__ import annotations

import ast
from typing import Final

from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .operations import Operation, operation
from .straight import value_of

_COUNTERS: Final = ("range", "torch.arange")


@record(frozen=True)
class Picked:
    """The log-probabilities of the classes ``target``; ``parts`` are what they were made of."""

    logits: ast.expr
    target: ast.expr
    parts: tuple[ast.expr, ...]


def picked_rows(site: Site, node: ast.expr) -> Picked | None:
    """``log_softmax(logits, dim=1)[range(n), target]``, or the same with ``gather``."""
    found = value_of(site, node)
    gathered = operation(site, found, "gather")
    if gathered is not None:
        return _gathered(site, gathered)
    if not isinstance(found, ast.Subscript) or not isinstance(found.slice, ast.Tuple):
        return None
    if len(found.slice.elts) != 2 or not isinstance(found.ctx, ast.Load):
        return None
    rows, target = found.slice.elts
    length = _length(site, rows)
    logits = _logits(site, found.value)
    if length is None or logits is None or isinstance(target, (ast.Constant, ast.Slice)):
        return None
    return Picked(logits, target, (found.value, length))


def _gathered(site: Site, gathered: Operation) -> Picked | None:
    dim, index = gathered.argument(0, "dim"), gathered.argument(1, "index")
    logits = _logits(site, gathered.subject)
    if index is None or logits is None or not isinstance(dim, ast.Constant) or dim.value != 1:
        return None
    column = value_of(site, index)
    target = _of_column(site, column)
    return None if target is None else Picked(logits, target, (gathered.subject, index))


def _of_column(site: Site, node: ast.expr) -> ast.expr | None:
    """``target`` of ``target.unsqueeze(1)``, ``target[:, None]`` and ``target.view(-1, 1)``."""
    match node:
        case ast.Subscript(value=target, slice=ast.Tuple(elts=[ast.Slice(None, None, None), last])):
            return target if isinstance(last, ast.Constant) and last.value is None else None
    found = operation(site, node, "unsqueeze", "view", "reshape")
    if found is None:
        return None
    sizes = [ast.unparse(part) for part in found.rest]
    wanted = (["1"], ["-1"]) if found.name == "unsqueeze" else (["-1", "1"],)
    return found.subject if sizes in wanted else None


def _logits(site: Site, node: ast.expr) -> ast.expr | None:
    log = operation(site, value_of(site, node), "log_softmax")
    if log is None or not log.takes_only(1, "dim", "axis"):
        return None
    dim = log.argument(0, "dim", "axis")
    known = site.value(log.subject)
    rank = known.rank if isinstance(known, Tensor) else None
    text = ast.unparse(dim) if dim is not None else ""
    return log.subject if text == "1" or (text == "-1" and rank == 2) else None


def _length(site: Site, node: ast.expr) -> ast.expr | None:
    """The length in ``range(n)``, ``list(range(n))`` and ``torch.arange(n)``, if it is a size."""
    call = value_of(site, node)
    if isinstance(call, ast.Call) and site.dotted(call.func) == "list" and len(call.args) == 1:
        call = call.args[0]
    if not isinstance(call, ast.Call) or site.dotted(call.func) not in _COUNTERS:
        return None
    if len(call.args) != 1:
        return None
    return call.args[0] if _is_size(value_of(site, call.args[0])) else None


def _is_size(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return text.endswith((".shape[0]", ".size(0)")) or text.startswith("len(")
