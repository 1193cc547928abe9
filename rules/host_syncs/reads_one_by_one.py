"""TCL332: a training step reads several tensors one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tclint.diagnostics import Change, Confidence, Effect, Worth
from tclint.lint.options import Option
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..lib.facts.training_loops import called, is_test, own_nodes, runs_every_time
from .fresh_tensors import is_collective

_BUILT = ("torch.stack", "torch.tensor")


class ReadsOneByOne(Rule[TrainingCall]):
    """A training step reads several tensors one by one."""

    code = "TCL332"
    name = "reads-one-by-one"
    summary = "Several `.item()` calls in every training step wait for the device"
    instead = "Stack the tensors and read them with one `.tolist()`, or read less often"
    worth = Worth.HINT
    measured = "nothing measurable in 4 cases (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    options = (Option("minimum-reads", 3, "How many reads in a step are reported."),)

    def check(self, event: TrainingCall) -> Finding | None:
        """Count the reads, at the first of them."""
        if event.name != "item" or not event.each_step or is_test(event.site, event.loop):
            return None
        reads = list(_reads(event))
        if (
            not reads
            or reads[0] is not event.call
            or len(reads) < self.option(event, "minimum-reads")
        ):
            return None
        return Finding(
            f"The CPU waits for each of {len(reads)} reads in every step",
            _read_at_once(event.site, reads),
            confidence=Confidence.LOW,
            related=tuple(reads[1:]),
        )


def _reads(event: TrainingCall) -> Iterator[ast.Call]:
    """The calls of `.item()` that each step makes, in the order of the text."""
    calls = [
        node
        for node in own_nodes(event.loop)
        if isinstance(node, ast.Call) and called(node) == "item" and not node.args
    ]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return (call for call in calls if runs_every_time(event.site, call, event.loop))


def _read_at_once(site: Site, reads: Sequence[ast.Call]) -> Repair | None:
    """Read all elements before the statement that reads them one by one; None if they differ.

    The tensor is built from a list that is written out, so that it holds little else, and only
    this statement reads it: nothing changes it between the reads.
    """
    elements = [_element(read) for read in reads]
    name = elements[0][0]
    if not name or len({tensor for tensor, _ in elements}) > 1:
        return None
    if not all(_is_in(site, read) for read in reads) or not _is_only_read(site, name, len(reads)):
        return None
    parts = _parts(site, name)
    if len(parts) <= max(position for _, position in elements):
        return None
    values = f"{name}_values"
    while values in site.module.file.text:
        values += "_"
    tensor = site.loads(name)[0]
    is_flat = _rank(site, tensor) == 1 or all(_rank(site, part) == 0 for part in parts)
    read = "tolist()" if is_flat else "flatten().tolist()"
    return Repair(
        "Read all elements at once",
        (
            Insert(site.statement, f"{values} = $tensor.{read}", {"tensor": tensor}),
            *(Replace(r, f"{values}[{k}]") for r, (_, k) in zip(reads, elements, strict=True)),
        ),
        Change.SAME_BITS if is_flat else Change.BEHAVIOUR,
        changes="" if is_flat else "a row of several elements no longer raises",
    )


def _element(read: ast.Call) -> tuple[str, int]:
    """The tensor and the position of `tensor[0].item()`; no name for anything else."""
    match read:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as at))
            ),
            keywords=[],
        ) if type(at) is int:
            return name, at
    return "", 0


def _is_in(site: Site, read: ast.Call) -> bool:
    return site.statement in site.ancestors(read) and isinstance(
        site.statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
    )


def _is_only_read(site: Site, name: str, reads: int) -> bool:
    """True when nothing else is done with the tensor, apart from collectives before."""
    first = site.statement.lineno
    loads = site.loads(name)
    filled = [load for load in loads if load.lineno < first and is_collective(site, load)]
    return len(loads) == reads + len(filled)


def _parts(site: Site, name: str) -> list[ast.expr]:
    """What the tensor is built of; nothing if that is not known."""
    stores = site.stores(name)
    match site.parent(stores[0]) if len(stores) == 1 else None:
        case ast.Assign(value=ast.Call(func=function, args=[ast.List(elts=parts), *_])):
            starred = any(isinstance(part, ast.Starred) for part in parts)
            if site.dotted(function) in _BUILT and not starred:
                return parts
    return []


def _rank(site: Site, node: ast.expr) -> int | None:
    value = site.value(node)
    return value.rank if isinstance(value, Tensor) else None
