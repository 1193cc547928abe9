"""TCL334: a batch is copied from pinned memory, and the CPU waits all the same."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Confidence, Effect, Worth
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site

from ..lib.facts.training_loops import is_test
from .loaders import batches_of, is_batch


class PinnedBatchWaits(Rule[TrainingCall]):
    """A training loop copies each batch from pinned memory to the device and waits for the copy."""

    code = "TCL334"
    name = "pinned-batch-waits"
    summary = "A copy from pinned memory without `non_blocking=True` makes the CPU wait"
    instead = "Copy with `non_blocking=True`"
    worth = Worth.HINT
    measured = "nothing measurable in 4 cases (H200)"
    on = TrainingCall
    on_gpu = True
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for copies of what the loop takes from a loader."""
        site, call, loop = event.site, event.call, event.loop
        if not _goes_to_device(event) or is_test(site, loop):
            return None
        batches = batches_of(site, loop)
        if batches is None or batches.wrapped or not is_batch(event, batches, call):
            return None
        if not _is_pinned(site, batches.loader):
            return None
        return Finding(
            f"`{site.text(call)}` makes the CPU wait for the copy, though the loader pins memory",
            Repair(
                "Copy without waiting",
                (AddArgument(call, "True", keyword="non_blocking"),),
                Change.BEHAVIOUR,
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


def _is_pinned(site: Site, loader: ast.Call) -> bool:
    """True where a loader is told so, itself or in a dict that is written out."""
    if any(k.arg == "pin_memory" and _is_true(k.value) for k in loader.keywords):
        return True
    if all(k.arg is not None for k in loader.keywords):
        return False
    return any(
        isinstance(node, ast.Dict)
        and any(
            isinstance(key, ast.Constant) and key.value == "pin_memory" and _is_true(value)
            for key, value in zip(node.keys, node.values, strict=True)
        )
        for node in ast.walk(site.module.tree)
    )


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
