"""TCL523: gradients are synchronized in every micro step of several that accumulate them."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.regexes import regex
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import last_name, names_in, nodes
from tclint.semantics.training import StepBody

from ..lib.facts.training_loops import called, differentiated, is_test, own_nodes, runs_every_time

_DDP: Final = frozenset(
    {
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
    }
)
# Whoever says one of these synchronizes when it is time, or by other means.
_TIMED: Final = regex(
    r"no_sync|no_backward_sync|backward_grad_sync|gradient_sync|\.accumulate\(|deepspeed|horovod|hvd"
    r"|fsdp|fully_?shard|reduce\w*\([^)]*grad",
    re.IGNORECASE,
)
# What a loop says that several processes run, each with a model in DDP.
_SPREAD: Final = regex(r"synchronize_between_processes|all_reduce_mean\(|reduce_tensor\(|DDP\(")
_ACCELERATOR: Final = regex(r"accelerator$", re.IGNORECASE)
_FEW: Final = regex(r"accum|micro", re.IGNORECASE)
_OPTIMIZER: Final = regex(r"optim|^opt|scaler", re.IGNORECASE)


class SynchronizedEachTime(Rule[TrainingCall]):
    """A model in `DistributedDataParallel` synchronizes its gradients in every micro step."""

    code = "TCL523"
    name = "synchronized-each-time"
    summary = "Gradients are synchronized in every micro step, though only the last one needs it"
    instead = "Run all micro steps but the last one in `model.no_sync()`"
    worth = Worth.MEDIUM
    measured = "10% to 15% of a training step in 2 cases (H200)"
    on = TrainingCall
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for a `backward` that runs more often than the optimizer's step."""
        site, call = event.site, event.call
        if not event.each_step:
            return None
        names = next((names for run, names in differentiated(event.loop) if run is call), None)
        if names is None or any(k.arg == "retain_graph" for k in call.keywords):
            return None
        if isinstance(event.loop, ast.For) and names & names_in(event.loop.target):
            return None  # losses of one forward pass
        if not _accumulates(site, event.loop, call) or not _is_spread(site, call):
            return None
        if is_test(site, event.loop) or _TIMED.search(site.module.file.text):
            return None
        return Finding(
            "Every process waits for the others' gradients in each micro step, not only the last",
            Advice(
                "run the other micro steps, forward pass included, in `model.no_sync()`; gradients "
                "may differ in their last bits"
            ),
            confidence=Confidence.MEDIUM,
        )


def _accumulates(site: Site, loop: StepBody, call: ast.Call) -> bool:
    """True where each step runs `backward`, and only some step the optimizer."""
    runs = [run for run, _ in differentiated(loop)]
    if isinstance(loop, ast.FunctionDef) or not runs_every_time(site, call, loop, runs):
        return False
    if "backward" not in called(call):
        return any(map(_says_every_few, (*call.args, *(k.value for k in call.keywords))))
    steps = [node for node in own_nodes(loop) if _is_optimizer_step(node)]
    if steps:
        return all(_is_every_few(site, node, loop) for node in steps)
    return isinstance(loop, ast.For) and not any(map(_is_optimizer_step, nodes(loop)))


def _is_optimizer_step(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="step")):
            return _OPTIMIZER.search(last_name(owner)) is not None
    return False


def _is_every_few(site: Site, node: ast.AST, loop: StepBody) -> bool:
    """True below `if (i + 1) % steps == 0`."""
    for outer in site.ancestors(node):
        if outer is loop:
            return False
        if isinstance(outer, ast.If) and _says_every_few(outer.test):
            return True
    return False


def _says_every_few(test: ast.expr) -> bool:
    """True for `(i + 1) % steps == 0`, and for `i - last >= accumulate`."""
    for node in ast.walk(test):
        match node:
            case ast.BinOp(op=ast.Mod()):
                return True
            case ast.Compare(ops=[ast.GtE() | ast.Eq()], comparators=[limit]):
                if _FEW.search(last_name(limit)):
                    return True
    return False


def _is_spread(site: Site, call: ast.Call) -> bool:
    """True where the file puts a model into DDP, or is one of several processes that train it."""
    if isinstance(call.func, ast.Attribute) and _ACCELERATOR.search(last_name(call.func.value)):
        return True
    text = site.module.file.text
    if "DistributedDataParallel" not in text:
        return _SPREAD.search(text) is not None
    return any(
        isinstance(node, ast.Call) and site.dotted(node.func) in _DDP
        for node in ast.walk(site.module.tree)
    )
