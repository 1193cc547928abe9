"""Other inputs for a target: what holds for the first ones alone shows on these (child only)."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from tclint.verify.contract import Inputs, Loaded
from tclint.verify.errors import TargetError

_SHAPE = re.compile(r"\d+(?:\s*x\s*\d+)*")
_SEED = 1


def with_varied(loaded: Loaded, specs: Sequence[str], text: str) -> Loaded:
    """What the factory ``text`` gave, with one set of other inputs for each of the ``specs``.

    A spec names the inputs that are to be others, with their shapes: ``x: 3x8, lengths: 3``. One
    without a shape keeps it and gets other values; a number or a flag is written out (``n: 5``).

    Raises:
        TargetError: a spec cannot be read, or names none of the inputs.
    """
    generator = torch.Generator().manual_seed(_SEED)
    varied = tuple(_varied(loaded, spec, generator, text) for spec in specs)
    return replace(loaded, vary=(*loaded.vary, *varied))


def _varied(loaded: Loaded, spec: str, generator: torch.Generator, text: str) -> Inputs:
    given = _bound(loaded, text)
    for part in spec.split(","):
        name, _, how = (piece.strip() for piece in part.partition(":"))
        if name not in given.arguments:
            known = ", ".join(given.arguments)
            raise TargetError(f"{text}: --vary names {name!r}, and the inputs are {known}")
        old = given.arguments[name]
        is_tensor = isinstance(old, torch.Tensor)
        given.arguments[name] = (
            _other_tensor(old, how, generator, text) if is_tensor else _literal(name, how, text)
        )
    return given.args, given.kwargs


def _bound(loaded: Loaded, text: str) -> inspect.BoundArguments:
    function = getattr(loaded.function, "_orig_mod", loaded.function)
    called = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        return inspect.signature(called).bind(*loaded.args, **loaded.kwargs)
    except (TypeError, ValueError) as error:
        raise TargetError(f"{text}: --vary cannot tell the inputs' names: {error}") from error


def _literal(name: str, how: str, text: str) -> Any:
    try:
        return ast.literal_eval(how)
    except (ValueError, SyntaxError):
        raise TargetError(
            f"{text}: --vary: {name!r} is no tensor, so write its other value: '{name}: 5'"
        ) from None


def _other_tensor(
    old: torch.Tensor, how: str, generator: torch.Generator, text: str
) -> torch.Tensor:
    if how and not _SHAPE.fullmatch(how):
        raise TargetError(f"{text}: --vary: {how!r} is not a shape such as 3x8")
    shape = [int(size) for size in how.split("x")] if how else [*old.shape]
    new = _drawn(old, shape, generator)
    return new.to(old.device).requires_grad_(old.requires_grad)


def _drawn(old: torch.Tensor, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    """Random values of the same kind: integers are within the bounds of the old ones."""
    if old.is_floating_point() or old.is_complex():
        return torch.randn(shape, generator=generator).to(old.dtype)
    if old.dtype == torch.bool or not old.numel():
        return torch.randint(2, shape, generator=generator).to(old.dtype)
    low, high = int(old.min()), int(old.max())
    new = torch.randint(low, high + 1, shape, generator=generator).to(old.dtype)
    if list(old.shape) != shape or not torch.equal(new, old.cpu()):
        return new
    return new - 1 if low > 0 else new + 1
