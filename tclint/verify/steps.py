"""What one call of a target does: a forward, a backward or a training step (child only)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tclint.verify.errors import TargetError

_RATE = 1e-3

Function = Callable[..., Any]


def backward(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call, sum what came out and go backwards through it; gradients stay where they land."""
    made = function(*args, **kwargs)
    loss = _total(made)
    if loss is None:
        raise TargetError("no output requires a gradient: there is no backward pass")
    loss.backward()
    return made


def training_step(
    function: Function, optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """Train once on the mean of all that comes out; gradients are left to be looked at."""
    optimizer.zero_grad(set_to_none=True)
    made = function(*args, **kwargs)
    loss = _total(made, mean=True)
    if loss is None:
        raise TargetError("no output requires a gradient: there is nothing to train")
    loss.backward()
    optimizer.step()
    return loss.detach()


def make_optimizer(given: Any, parameters: list[Tensor]) -> torch.optim.Optimizer | None:
    """The target's optimizer, one made of its maker, or plain SGD; None with nothing to train."""
    if isinstance(given, torch.optim.Optimizer):
        return given
    if not parameters:
        return None
    made = given(parameters) if callable(given) else torch.optim.SGD(parameters, lr=_RATE)
    if not isinstance(made, torch.optim.Optimizer):
        raise TargetError(f"`optimizer` made a {type(made).__name__}, not an optimizer")
    return made


def clear_gradients(tensors: list[Tensor]) -> None:
    """Forget gradients, so that each call starts alike."""
    for tensor in tensors:
        tensor.grad = None


def gradients(module: nn.Module | None, inputs: list[Tensor]) -> dict[str, Tensor | None]:
    """Gradients by parameter name, and those of the inputs that take one."""
    named = dict(module.named_parameters()) if module is not None else {}
    found = {name: tensor.grad for name, tensor in named.items() if tensor.requires_grad}
    found |= {f"input {n}": tensor.grad for n, tensor in enumerate(inputs) if tensor.requires_grad}
    return found


def leaves(value: object) -> Iterator[Tensor]:
    """All tensors in a nested value, dataclasses included."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name, None))


def _total(made: object, *, mean: bool = False) -> Tensor | None:
    terms = []
    for leaf in leaves(made):
        if leaf.requires_grad:
            real = torch.view_as_real(leaf) if leaf.is_complex() else leaf
            wide = real.float() if real.dtype in {torch.float16, torch.bfloat16} else real
            terms.append(wide.mean() if mean else wide.sum())
    return sum(terms[1:], terms[0]) if terms else None
