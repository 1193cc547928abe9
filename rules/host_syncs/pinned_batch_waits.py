"""TCL334: a batch is copied from pinned memory, and the CPU waits all the same."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability, Confidence, Effect, Worth
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site

from ..lib.facts.optimizers import maker
from ..lib.facts.training_loops import is_test

_LOADERS: Final = frozenset(
    {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}
)
_PASSED_ON: Final = ("enumerate", "tqdm")


class PinnedBatchWaits(Rule[TrainingCall]):
    """A training loop copies each batch from pinned memory to the device and waits for the copy."""

    code = "TCL334"
    name = "pinned-batch-waits"
    summary = "A copy from pinned memory without `non_blocking=True` makes the CPU wait"
    worth = Worth.HINT
    measured = "nothing measurable in 4 cases (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for copies of what the loop takes from a loader."""
        site, call, loop = event.site, event.call, event.loop
        if not isinstance(loop, ast.For) or not _goes_to_device(event) or is_test(site, loop):
            return None
        if not _is_batch(event, loop) or not _is_pinned(site, loop.iter):
            return None
        return Finding(
            f"`{site.text(call)}` makes the CPU wait for the copy, though the loader pins memory",
            Repair(
                "Copy without waiting",
                (AddArgument(call, "True", keyword="non_blocking"),),
                Applicability.UNSAFE,
                changes="the batch must not be changed on the host until it is copied",
            ),
            confidence=Confidence.MEDIUM,
        )


def _goes_to_device(event: TrainingCall) -> bool:
    """True for `.cuda()` and for `.to()` of what is called a device."""
    given = {keyword.arg: keyword.value for keyword in event.call.keywords}
    if "non_blocking" in given or None in given or len(event.call.args) > 1:
        return False
    if event.name == "cuda":
        return True
    match [*event.call.args, *([given["device"]] if "device" in given else [])]:
        case [ast.Constant(value=str() as name)]:
            return name.startswith(("cuda", "xpu"))
        case [ast.Name(id=name) | ast.Attribute(attr=name)]:
            return event.name == "to" and ("device" in name or name in ("gpu", "rank"))
    return False


def _is_batch(event: TrainingCall, loop: ast.For) -> bool:
    """True for a variable that the loop binds and nothing has bound anew at this statement."""
    match event.call.func:
        case ast.Attribute(value=ast.Name(id=name)):
            stores = event.site.stores(name)
            targets = {*ast.walk(loop.target)}
            others = [store for store in stores if store not in targets]
            start, end = _begin(loop), _begin(event.site.statement)
            rebound = any(start < _begin(store) < end for store in others)
            return not targets.isdisjoint(stores) and not rebound
    return False


def _begin(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _is_pinned(site: Site, iterable: ast.expr) -> bool:
    match iterable:
        case ast.Call(func=ast.Name(id=passed) | ast.Attribute(attr=passed), args=[inner, *_]) if (
            passed in _PASSED_ON
        ):
            return _is_pinned(site, inner)
        case ast.Name(id=name):
            made: ast.expr | None = maker(site, name)
        case _:
            made = iterable
    if not isinstance(made, ast.Call) or site.dotted(made.func) not in _LOADERS:
        return False
    pinned = next((k.value for k in made.keywords if k.arg == "pin_memory"), None)
    return isinstance(pinned, ast.Constant) and pinned.value is True
