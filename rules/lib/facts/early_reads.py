"""What a training step reads before it runs `backward`, of what its forward pass gave."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.training import StepBody

from .copies import is_copy_to_host
from .training_loops import called, differentiated, own_nodes, runs_every_time

_NUMBERS: Final = frozenset({"float", "int", "bool"})
_READS: Final = frozenset({"item", "tolist", "numpy"})
_TESTS: Final = frozenset({"isfinite", "isnan", "isinf"})
# What of a tensor is known without asking the device.
_KNOWN: Final = frozenset(
    {"shape", "size", "dim", "ndim", "numel", "dtype", "device", "len", "item", "tolist", "numpy"}
)
# A call of these gives a batch, and no output of a model.
_BATCHES: Final = re.compile(
    r"batch|next|load|data|sample|^get|^to$|^cuda$|^long$|^float$|^view$|^reshape$|^zeros|^ones"
    r"|^rand|^arange|^tensor$|^from_numpy$|^stack$|^cat$|^send|^prepare|^collate|^list$|^map$|time"
)
_ON_DEVICE: Final = re.compile(r"cuda|device|accelerat|gpu|fabric|xpu", re.IGNORECASE)


def read_before_backward(event: TrainingCall) -> ast.expr | None:
    """The first expression before the first `backward` that makes every step wait for the device.

    Asked of that `backward`; None for all other calls, and where nothing waits.
    """
    runs = sorted(differentiated(event.loop), key=lambda run: _begin(run[0]))
    if not runs or runs[0][0] is not event.call:
        return None
    site, (backward, names) = event.site, runs[0]
    if not _ON_DEVICE.search(site.module.file.text):
        return None
    losses = frozenset(n for n in names if n in _stored(event.loop)) or names
    outputs = _outputs(event.loop, losses)
    parts = (node for node in own_nodes(event.loop) if isinstance(node, ast.expr))
    for node in sorted((p for p in parts if _is_before(p, backward)), key=_begin):
        if _waits(site, node, losses, outputs) and runs_every_time(site, node, event.loop):
            return node
    return None


def _begin(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _is_before(node: ast.expr, backward: ast.Call) -> bool:
    last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return last <= _begin(backward)


def _stored(loop: StepBody) -> set[str]:
    nodes = (n for part in loop.body for n in ast.walk(part))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _outputs(loop: StepBody, losses: frozenset[str]) -> frozenset[str]:
    """What the losses are computed from that is itself the result of a call, and what follows."""
    made = [s for s in own_nodes(loop) if isinstance(s, ast.Assign)]
    made.sort(key=_begin)
    from_calls = {n for s in made if _is_output(s.value) for t in s.targets for n in _bound(t)}
    used = {n for s in made if losses & set(_bound(*s.targets)) for n in _read_names(s.value)}
    known = set(losses) | (used & from_calls)
    for statement in made:
        if known & _read_names(statement.value) and not _is_known_without(statement.value):
            known |= set(_bound(*statement.targets))
    return frozenset(known)


def _is_output(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and not _BATCHES.search(called(value))


def _bound(*targets: ast.expr) -> Iterator[str]:
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                yield node.id


def _read_names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _is_known_without(node: ast.expr) -> bool:
    """True for what the host knows without asking the device: sizes, and what is read already."""
    for part in ast.walk(node):
        match part:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _KNOWN:
                return True
    return False


def _waits(site: Site, node: ast.expr, losses: frozenset[str], outputs: frozenset[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]) if (
            name in _READS
        ):
            return bool(outputs & _read_names(owner)) and not _is_known_without(owner)
        case ast.Call(func=ast.Attribute(value=owner)) if is_copy_to_host(site, node):
            return bool(outputs & _read_names(owner)) and not _is_known_without(owner)
        case ast.Call(func=ast.Name(id=name), args=[number], keywords=[]) if name in _NUMBERS:
            return bool(losses & _read_names(number)) and not _is_known_without(number)
        case ast.Call(args=[tested, *_]) if called(node) in _TESTS and losses & _read_names(tested):
            return not _is_known_without(tested) and _decides(site, node)
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[_]):
            asked = not isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
            return asked and name in losses and _decides(site, node)
    return False


def _decides(site: Site, node: ast.expr) -> bool:
    """True where Python asks for the truth of an expression, perhaps of all its elements."""
    inner: ast.AST = node
    for outer in site.ancestors(node):
        match outer:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                return test is inner
            case ast.Assert(test=test):
                return test is inner
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
                pass
            case ast.Attribute(attr="all" | "any"):
                pass
            case ast.Call(func=ast.Attribute(attr="all" | "any"), args=[]):
                pass
            case _:
                return False
        inner = outer
    return False
