"""Optimizers and learning-rate schedulers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tclint.records import record
from tclint.torch_facts.table import section

COMBINING = ("ChainedScheduler", "SequentialLR")


@record(frozen=True)
class Optimizer:
    """``parameters`` are the keyword parameters with their defaults as Python source.

    ``tensor_lr`` is true when it accepts and steps with a tensor as learning rate.
    """

    name: str
    parameters: Mapping[str, str]
    tensor_lr: bool


@record(frozen=True)
class Scheduler:
    """``writes`` are the float entries of parameter groups that it replaces on every step.

    A tensor learning rate is updated in place by all schedulers. Betas and momentum cannot be
    tensors everywhere, and change only while ``cycle_momentum`` is true (its default).
    """

    name: str
    writes: tuple[str, ...] = ()

    @property
    def writes_floats(self) -> bool:
        """True when a compiled step recompiles even though the learning rate is a tensor."""
        return bool(self.writes)


@cache
def optimizers() -> Mapping[str, Optimizer]:
    """The classes of ``torch.optim`` by dotted name."""
    tensor_lr = frozenset(section("tensor_lr"))
    return MappingProxyType(
        {
            f"torch.optim.{name}": Optimizer(name, MappingProxyType(parameters), name in tensor_lr)
            for name, parameters in section("optimizers").items()
        }
    )


@cache
def lr_schedulers() -> Mapping[str, Scheduler]:
    """The classes of ``torch.optim.lr_scheduler`` by dotted name."""
    found = {name: Scheduler(name, tuple(keys)) for name, keys in section("schedulers").items()}
    found |= {name: Scheduler(name) for name in COMBINING}
    return MappingProxyType(
        {f"torch.optim.lr_scheduler.{name}": facts for name, facts in found.items()}
    )
