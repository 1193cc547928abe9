"""TCL501: a float learning rate that changes under a compiled step."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import OptimizerInit
from tclint.semantics.lattice import options
from tclint.semantics.values import Static
from tclint.torch_facts import optimizers

from .examples import (
    ADAM_FOREACH,
    DEFAULT_RATE,
    EAGER,
    FLOAT,
    GROUPED,
    ONE_CYCLE,
    STEPS,
    TENSOR,
    WRITTEN,
)
from .rates import as_tensor, group_rates, puts_floats_back
from .writes import WRITTEN as WRITTEN_CHANGES
from .writes import filled

_CHANGES = (
    "parameters come out close, not bit-identical, and eager steps get slower unless `fused=True`"
)
NEEDS_CAPTURABLE = frozenset({"torch.optim.Adam", "torch.optim.AdamW"})


class FloatLrInCompiledStep(Rule[OptimizerInit]):
    """A float learning rate that changes between calls of a compiled step.

    What it does:
        Reports an optimizer with a float `lr` whose `step` is compiled while a scheduler, or a
        write to `param_groups`, changes that `lr`.

    Why it hurts:
        Dynamo guards on the value, so every new learning rate recompiles the step, eight times,
        and from then on it runs eagerly. Measured on an H200 (torch 2.11, AdamW, six layers): 8
        compiles in 8 steps, then 0.51 ms a step; with a tensor 1 compile and 0.11 ms. On a CPU
        (torch 2.13) SGD and RMSprop compile 9 times in 9 steps, Adam and AdamW twice.

    Fix safety:
        Unsafe: parameters come out close, not bit-identical; checkpoints hold a tensor; eager steps
        of this optimizer become 4.6 to 6.5 times slower unless it is `fused`. Not offered where a
        tensor does not help (`OneCycleLR` puts floats back) or raises (Adam with `foreach=True` and
        without `capturable=True`). Writes to `param_groups` in the same file, also in other
        functions, fill the tensor; not offered where groups would share it, or the file reads it.

    References:
        PyTorch's tutorial on compiling the optimizer with a learning-rate scheduler.
    """

    code = "TCL501"
    name = "float-lr-in-compiled-step"
    summary = "A float learning rate that changes recompiles a compiled step"
    on = OptimizerInit
    effects = (Effect.RECOMPILE,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=FLOAT,
            unsafe=TENSOR,
            inputs=STEPS,
            proves=("recompile",),
            title="a scheduler",
        ),
        *GROUPED,
        ONE_CYCLE,
        WRITTEN,
        ADAM_FOREACH,
        DEFAULT_RATE,
        Good(code=EAGER, title="an eager step"),
    )

    def check(self, event: OptimizerInit) -> Finding | None:
        """Report compiled steps whose float learning rate something changes."""
        if not event.compiled_step or not event.lr_changes or _is(event, "fused"):
            return None
        if event.lr is not None and not _is_number(event):
            return None
        change = event.lr_changes[0].name.rpartition(".")[2]
        return Finding(
            f"the step is compiled and `{change}` changes its learning rate, a float: each new "
            "value recompiles the step, up to 8 times, and then it runs eagerly",
            fix=_repair(event),
        )


def _is_number(event: OptimizerInit) -> bool:
    return all(
        isinstance(v, Static) and v.type in ("float", "int") for v in options(event.lr_value)
    )


def _is(event: OptimizerInit, keyword: str) -> bool:
    node = event.keywords.get(keyword)
    return isinstance(node, ast.Constant) and node.value is True


def _repair(event: OptimizerInit) -> Repair | Decline:
    facts = optimizers().get(event.optimizer)
    if facts is None or not facts.tensor_lr:
        return Decline(f"`{event.optimizer}` is not known to take a tensor as learning rate")
    if event.lr is None:
        return Decline("the learning rate is the default; write it out first")
    raises = _is(event, "foreach") and not _is(event, "capturable")
    if raises and event.optimizer in NEEDS_CAPTURABLE:
        return Decline("with `foreach=True` a tensor needs `capturable=True`, or it raises")
    obstacle = next(filter(None, map(puts_floats_back, event.lr_changes)), None)
    if obstacle:
        return Decline(obstacle)
    tensor = event.site.spell("torch.tensor")
    if tensor is None:
        return Decline("this file does not import torch")
    groups = group_rates(event)
    if isinstance(groups, Decline):
        return groups
    rewrites: list[Replace] = []
    for rate in (event.lr, *groups):
        rewrite = as_tensor(event.site, tensor, rate)
        if isinstance(rewrite, Decline):
            return rewrite
        rewrites.append(rewrite)
    writes = filled(event)
    if isinstance(writes, Decline):
        return writes
    return Repair(
        "Make the learning rate a tensor",
        (*rewrites, *writes),
        Applicability.UNSAFE,
        changes=f"{_CHANGES}; {WRITTEN_CHANGES}" if writes else _CHANGES,
    )
