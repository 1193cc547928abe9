"""TCL336: batches are copied to the device from memory that is not pinned."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall

from ..lib.facts.devices import may_be_on_gpu
from ..lib.facts.training_loops import called, is_test, own_nodes
from .loaders import Batches, batches_of, is_batch, is_first_over, is_given, loads_what_is_large

_COPIES: Final = frozenset({"to", "cuda"})


class UnpinnedBatch(Rule[TrainingCall]):
    """A training loop copies each batch to the device, and its loader does not pin memory."""

    code = "TCL336"
    name = "unpinned-batch"
    summary = "Large batches are copied to the device from memory that is not pinned"
    instead = "Pass `pin_memory=True` to the loader, and copy with `non_blocking=True`"
    worth = Worth.HIGH
    measured = "23% to 43% of a training step in 4 cases (H200)"
    on = TrainingCall
    on_gpu = True
    effects = (Effect.HOST_SYNC, Effect.DEVICE_COPY)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for the first copy of what the loop takes from a loader."""
        site, call, loop = event.site, event.call, event.loop
        if event.name not in _COPIES or is_test(site, loop):
            return None
        batches = batches_of(site, loop)
        if batches is None or batches.wrapped or is_given(batches.loader, "pin_memory"):
            return None
        if not _is_first(event, batches) or not may_be_on_gpu(site):
            return None
        loader = batches.loader
        if not is_first_over(site, loop, loader, _COPIES):
            return None
        return Finding(
            f"`{site.text(call)}` copies from memory that is not pinned: the CPU waits for a slow "
            "copy",
            node=loader,
            confidence=Confidence.MEDIUM if loads_what_is_large(site) else Confidence.LOW,
        )


def _is_first(event: TrainingCall, batches: Batches) -> bool:
    """True for the first copy of a batch in the step."""
    copies = (
        node
        for node in own_nodes(event.loop)
        if isinstance(node, ast.Call) and called(node) in _COPIES
    )
    return next((copy for copy in copies if is_batch(event, batches, copy)), None) is event.call
