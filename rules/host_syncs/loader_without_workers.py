"""TCL337: batches are prepared by the process that trains."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule, SpentIn
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site

from ..lib.facts.optimizers import maker
from ..lib.facts.training_loops import called, differentiated, is_test
from .loaders import batches_of, is_first_over, is_given, loads_what_is_large


class LoaderWithoutWorkers(Rule[TrainingCall]):
    """A training loop runs over a `DataLoader` without workers."""

    code = "TCL337"
    name = "loader-without-workers"
    summary = "A loader without workers prepares each batch between two steps"
    instead = "Pass `num_workers=4` and `persistent_workers=True` to the loader"
    worth = Worth.HIGH
    measured = "25% to 54% of a training step in 2 cases (H200)"
    on = TrainingCall
    spent_in = SpentIn.LOADING
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Asked of the first `backward` of a loop."""
        site, loop = event.site, event.loop
        first = next((run for run, _ in differentiated(loop)), None)
        if first is not event.call or is_test(site, loop):
            return None
        batches = batches_of(site, loop)
        loader = None if batches is None else batches.loader
        if loader is None or is_given(loader, "num_workers") or len(loader.args) > 5:
            return None
        if "TensorDataset" in site.module.file.text or _is_tensor(site, loader):
            return None  # the items are there already
        if not is_first_over(site, loop, loader, frozenset({called(event.call)})):
            return None
        return Finding(
            "Without `num_workers` each batch is prepared between two steps: the device idles",
            Advice(
                "pass `num_workers` and `persistent_workers=True`: the dataset and the collate "
                "function have to be picklable where processes are spawned, and random numbers "
                "change"
            ),
            node=loader,
            confidence=Confidence.MEDIUM if loads_what_is_large(site) else Confidence.LOW,
        )


def _is_tensor(site: Site, loader: ast.Call) -> bool:
    """True where what is loaded is made by torch, in this file."""
    match loader.args:
        case [ast.Name(id=name), *_]:
            made = maker(site, name)
            return made is not None and (site.dotted(made.func) or "").startswith("torch.")
    return False
