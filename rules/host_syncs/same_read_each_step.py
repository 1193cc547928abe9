"""TCL333: a training loop reads a number that stays the same, in every step."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability, Confidence, Effect
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .fresh_tensors import only_read
from .training_loops import is_test, of_each_step, runs_every_time

_LOOP: Final = """
model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def f(x):
    total = {total}
{before}    for _ in range(3):
        loss = model(x).square().sum() / {read}
        loss.backward()
        optimizer.step()
    return loss.detach()
"""
_ONCE: Final = "    total_value = total.item()\n"
_F: Final = "\n\ndef f(x):\n    return x\n"


def _loop(total: str, read: str = "total.item()", before: str = "") -> str:
    return _LOOP.format(total=total, read=read, before=before)


def _other(change: str) -> str:
    """A loop that nobody runs here, in which something else happens to the tensor."""
    code = _loop("torch.ones_like(x).sum()").replace("def f", "def train")
    return code.replace("        loss.back", f"        {change}\n        loss.back") + _F


class SameReadEachStep(Rule[TrainingCall]):
    """A training loop reads a tensor that it never changes, in every step.

    ## What it does
    Reports `tensor.item()` in every step of a loop that calls `backward()`, where the function made
    the tensor itself before the loop (by `torch.full(...)`, `mask.sum()`, arithmetic) and does
    nothing else with it. Tensors that are surely on the CPU are left alone.

    ## Why it hurts
    The CPU waits for the GPU in every step, for a number that it knows already: a loop of 3 steps
    reads 3 times instead of once. A read took 8 µs on an H200 that had nothing to do; a GPU that
    has makes it wait for all of that.

    ## Fix safety
    The read moves in front of the loop: the same number. Safe where the tensor is known to have no
    dimensions; else unsafe, since a loop without steps then reads it, too, and a tensor of
    several elements raises.

    ## References
    - [Performance tuning guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TCL333"
    name = "same-read-each-step"
    summary = "a training step reads a tensor that the loop does not change"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    examples = (
        Bad(
            _loop("torch.ones_like(x).sum()"),
            fixed=_loop("torch.ones_like(x).sum()", "total_value", _ONCE),
            proves=("host-sync",),
        ),
        Bad(
            _loop("torch.full((1,), 2.0, device=x.device)"),
            unsafe=_loop("torch.full((1,), 2.0, device=x.device)", "total_value", _ONCE),
            proves=("host-sync",),
            title="one element in a dimension",
        ),
        Good(_other("total.add_(1)"), title="the loop changes it"),
        Good(_other("model.weight.data *= total"), title="the loop hands it on"),
    )

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for a read of a variable that the loop only reads."""
        site, read = event.site, event.call
        match read.func:
            case ast.Attribute(attr="item", value=ast.Name() as tensor):
                pass
            case _:
                return None
        value = site.value(tensor)
        if not isinstance(value, Tensor) or value.device == "cpu" or is_test(site, event.loop):
            return None
        inside = of_each_step(event.loop)
        reads = [r for r in only_read(site, tensor.id, event.loop) if r in inside]
        if not reads or reads[0] is not read or not _in_each_step(site, read, event.loop):
            return None
        return Finding(
            f"`{site.text(read)}` is the same in every step, and the CPU waits for it each time",
            _hoisted(event, tensor, reads, safe=value.rank == 0),
            confidence=Confidence.MEDIUM,
            related=tuple(reads[1:]),
        )


def _in_each_step(site: Site, read: ast.expr, loop: ast.For | ast.While) -> bool:
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
        Applicability.SAFE if safe else Applicability.UNSAFE,
        changes="" if safe else "it is read even if the loop has no step",
    )
