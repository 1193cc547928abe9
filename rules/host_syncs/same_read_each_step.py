"""TCL333: a training loop reads a number that stays the same, in every step."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Change, Confidence, Effect
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.ownership import is_opened
from tclint.semantics.site import Site
from tclint.semantics.training import StepBody
from tclint.semantics.values import Tensor

from ..lib.facts.training_loops import is_test, of_each_step, runs_every_time

_FACTORIES: Final = frozenset({"tensor", "zeros", "ones", "full", "rand", "randn", "scalar_tensor"})
_REDUCTIONS: Final = frozenset(
    {"all", "amax", "amin", "any", "count_nonzero", "max", "mean", "min", "norm", "prod", "std"}
    | {"sum", "var"}
)
_HANDED_ON: Final = frozenset({"cuda", "detach", "double", "float", "int", "long", "to"})
_COLLECTIVES: Final = "torch.distributed."


class SameReadEachStep(Rule[TrainingCall]):
    """A training loop reads a tensor in every step but never changes it."""

    code = "TCL333"
    name = "same-read-each-step"
    summary = "A training step reads a tensor that the loop does not change"
    instead = "Read the number once, before the loop"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for a read of a variable that the loop only reads."""
        site, read = event.site, event.call
        match read.func:
            case ast.Attribute(attr="item", value=ast.Name() as tensor):
                pass
            case _:
                return None
        if isinstance(event.loop, ast.FunctionDef):
            return None  # its parameters may be other tensors each time
        value = site.value(tensor)
        if not isinstance(value, Tensor) or value.device == "cpu" or is_test(site, event.loop):
            return None
        inside = of_each_step(event.loop)
        reads = [r for r in _only_read(site, tensor.id, event.loop) if r in inside]
        if not reads or reads[0] is not read or not _in_each_step(site, read, event.loop):
            return None
        return Finding(
            f"`{site.text(read)}` is the same in every step, and the CPU waits for it each time",
            _hoisted(event, tensor, reads, safe=value.rank == 0),
            confidence=Confidence.MEDIUM,
            related=tuple(reads[1:]),
        )


def _in_each_step(site: Site, read: ast.expr, loop: StepBody) -> bool:
    decided = site.parent(read)
    tested = isinstance(decided, ast.If) and decided.test is read
    return runs_every_time(site, decided if tested and decided else read, loop)


def _hoisted(event: TrainingCall, tensor: ast.Name, reads: list[ast.Call], *, safe: bool) -> Repair:
    name = f"{tensor.id}_value"
    while name in event.site.module.file.text:
        name += "_"
    return Repair(
        "Read it once, before the loop",
        (
            Insert(event.loop, f"{name} = $read", {"read": reads[0]}),
            *(Replace(read, name) for read in reads),
        ),
        Change.SAME_BITS if safe else Change.BEHAVIOUR,
        changes="" if safe else "it is read even if the loop never runs",
    )


def _only_read(site: Site, name: str, loop: ast.For | ast.While) -> list[ast.Call]:
    """Every `name.item()` of a function that does nothing else with the tensor; else nothing.

    Collectives may fill it before the loop.
    """
    stores = site.stores(name)
    made = site.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(made, ast.Assign) or len(made.targets) != 1 or made in ast.walk(loop):
        return []
    if not _is_fresh(site, made.value) or _is_host_made(site, made.value):
        return []
    if _is_shared(site, name):
        return []
    reads = []
    for load in site.loads(name):
        read = _read(site, load)
        if read is not None:
            reads.append(read)
        elif load.lineno >= loop.lineno or not _is_collective(site, load):
            return []
    return reads


def _is_shared(site: Site, name: str) -> bool:
    """True for a variable that other code may bind anew, or reach by its name."""
    return site.body.is_declared(name) or is_opened(site)


def _is_fresh(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if any(keyword.arg in ("out", None) for keyword in node.keywords):
        return False
    module, _, function = (site.dotted(node.func) or "").rpartition(".")
    if module == "torch":
        return function in _FACTORIES | _REDUCTIONS
    if node.func.attr in _HANDED_ON:
        return _is_fresh(site, node.func.value)
    return node.func.attr in _REDUCTIONS | {"clone"}


def _is_host_made(site: Site, node: ast.expr) -> bool:
    """True for what a factory makes on the CPU, as far as it is not moved: to read it is free."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=attribute) as function, keywords=given):
            module, _, name = (site.dotted(function) or "").rpartition(".")
            if module == "torch" and name in _FACTORIES:
                return not any(keyword.arg == "device" for keyword in given)
            return attribute not in ("cuda", "to") and _is_host_made(site, owner)
    return False


def _read(site: Site, load: ast.Name) -> ast.Call | None:
    match list(site.ancestors(load))[:2]:
        case [ast.Attribute(attr="item"), ast.Call(args=[], keywords=[]) as call]:
            return call
    return None


def _is_collective(site: Site, load: ast.Name) -> bool:
    """True for a tensor that is handed to a collective, which is done when it returns."""
    match site.parent(load):
        case ast.Call(func=function, keywords=keywords) if not any(
            k.arg == "async_op" for k in keywords
        ):
            return (site.dotted(function) or "").startswith(_COLLECTIVES)
    return False
