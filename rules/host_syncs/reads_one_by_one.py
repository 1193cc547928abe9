"""TCL332: a training step reads several tensors one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Confidence, Effect
from tclint.lint.options import Option
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import TrainingCall

from ..optimizers.programs import loop
from .elements import read_at_once
from .training_loops import called, is_step, is_test, own_nodes, runs_every_time

_STEP: Final = (
    "\ndef train(model, optimizer, batches):\n    for x, y in batches:\n"
    "        loss, terms = model(x, y)\n        loss.backward()\n        optimizer.step()\n"
)
_FLAT: Final = "stack([loss, loss * 2, loss * 3])"
_TERMS: Final = "stack([x.sum(), x.mean(), x.max()])"
_ELEMENTS: Final = "\n        print(stats_values[0], stats_values[1], stats_values[2])"
_F: Final = "\n\ndef f(x):\n    return x\n"


def _shown(terms: str, shown: str) -> str:
    """A training loop that shows the parts of its loss."""
    return loop(after=f"stats = torch.{terms}\n        {shown}")


class ReadsOneByOne(Rule[TrainingCall]):
    """A training step reads several tensors, one after the other.

    ## What it does
    Reports a loop that calls `backward()` and `step()` and, in every step, calls `.item()` three
    times or more (the option `minimum-reads`).

    ## Why it hurts
    Each read is a copy of its own that the CPU waits for. Eight of them took 64 µs on an H200,
    `torch.stack(...).tolist()` for all eight 25 µs; with a training step of 1 ms before them, 1.08
    against 0.95 ms. That is little next to a large step: the confidence is low. Reading every
    hundredth step saves more.

    ## Fix safety
    The elements of a tensor that is built of a list written out (`torch.stack([a, b, c])`), and
    that one statement reads, become those of its `.tolist()`: the same numbers. That is safe
    where the tensor is known to have one dimension; else unsafe, since rows of several elements no
    longer raise. Other tensors must be of one shape, dtype and device to be stacked: none is
    offered.

    ## References
    - [Performance tuning guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TCL332"
    name = "reads-one-by-one"
    summary = "several `.item()` in every training step wait once each"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    options = (Option("minimum-reads", 3, "How many reads in a step are reported."),)
    examples = (
        Bad(
            f"{_STEP}        print(terms[0].item(), terms[1].item(), terms[2].item()){_F}",
        ),
        Bad(
            _shown(_FLAT, "print(stats[0].item(), stats[1].item(), stats[2].item())"),
            fixed=_shown(_FLAT, f"stats_values = stats.tolist(){_ELEMENTS}"),
            proves=("host-sync",),
            title="the elements of one tensor",
        ),
        Bad(
            _shown(_TERMS, "print(stats[0].item(), stats[1].item(), stats[2].item())"),
            unsafe=_shown(_TERMS, f"stats_values = stats.flatten().tolist(){_ELEMENTS}"),
            proves=("host-sync",),
            title="of what may have rows",
        ),
        Good(
            f"{_STEP}        print(*torch.stack(terms).tolist()){_F}",
            title="one read",
        ),
        Good(
            f"{_STEP}        if loss.isnan().item():\n            print(terms[0].item(), "
            f"terms[1].item(), terms[2].item()){_F}",
            title="now and then",
        ),
    )

    def check(self, event: TrainingCall) -> Finding | None:
        """Count the reads, at the first of them."""
        if event.name != "item" or not is_step(event.loop) or is_test(event.site, event.loop):
            return None
        reads = list(_reads(event))
        if (
            not reads
            or reads[0] is not event.call
            or len(reads) < self.option(event, "minimum-reads")
        ):
            return None
        return Finding(
            f"{len(reads)} reads in every step, and the CPU waits for each: stack the tensors and "
            "read them with one `.tolist()`, or every so many steps",
            read_at_once(event.site, reads),
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
