"""What a factory may return, and how it is read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from tclint.records import record
from tclint.verify.errors import TargetError

Inputs = tuple[tuple[Any, ...], dict[str, Any]]
"""What one call is given: positional arguments, and those with names."""


@record(frozen=True)
class Loaded:
    """What a factory returned: something to call, what to call it with, and how to train it.

    ``optimizer`` is one, or makes one of parameters; ``tolerance`` is the largest error, relative
    to the largest value of a tensor, that counts as equal. ``train_step`` is called with the
    inputs; where its first parameters are called ``model`` and ``optimizer``, with those before
    them. ``vary`` are other inputs, on which what was compiled for the first ones has to hold.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    train_step: Callable[..., Any] | None = None
    optimizer: Any = None
    tolerance: float | None = None
    vary: tuple[Inputs, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """Which of ``model`` and ``optimizer`` the train step is called with."""
        if self.train_step is None:
            return ()
        names = inspect.signature(self.train_step).parameters
        return tuple(takewhile(("model", "optimizer").__contains__, names))


_PARTS = ("model", "inputs", "train_step", "optimizer", "tolerance", "vary")


def read_made(made: Any, text: str, specs: Sequence[str] = ()) -> Loaded:
    """Hold what the factory ``text`` made to the contract; ``specs`` are configured inputs."""
    match made:
        case (function, (*positional,), dict(named)) if callable(function):
            return Loaded(function, tuple(positional), named)
    parts = _parts(made)
    if parts is not None:
        return _from_parts(parts, text, specs)
    if _is_module(made):
        args, kwargs = _find_inputs(made, None, text, specs)
        return Loaded(made, args, kwargs)
    raise TargetError(
        f"{text} must return (module_or_callable, args, kwargs), or an object with `model` and "
        f"`inputs`, not {_describe(made)}"
    )


def _parts(made: Any) -> dict[str, Any] | None:
    if isinstance(made, Mapping):
        return dict(made) if "model" in made else None
    if _is_module(made) or isinstance(made, tuple) or not hasattr(made, "model"):
        return None
    return {name: getattr(made, name) for name in _PARTS if hasattr(made, name)}


def _from_parts(parts: dict[str, Any], text: str, specs: Sequence[str]) -> Loaded:
    unknown = sorted(set(parts) - set(_PARTS))
    if unknown:
        raise TargetError(f"{text}: {unknown[0]!r} is not one of {', '.join(_PARTS)}")
    model, train_step = parts["model"], parts.get("train_step")
    if not callable(model):
        raise TargetError(f"{text}: `model` must be callable, not {type(model).__name__}")
    if train_step is not None and not callable(train_step):
        raise TargetError(f"{text}: `train_step` must be callable, not {type(train_step).__name__}")
    tolerance = parts.get("tolerance")
    if tolerance is not None and not isinstance(tolerance, int | float):
        raise TargetError(f"{text}: `tolerance` must be a number, not {type(tolerance).__name__}")
    args, kwargs = _find_inputs(model, parts.get("inputs"), text, specs)
    vary = _several(parts.get("vary", ()), text)
    return Loaded(model, args, kwargs, train_step, parts.get("optimizer"), tolerance, vary)


def _find_inputs(model: Any, given: Any, text: str, specs: Sequence[str]) -> Inputs:
    if given is not None:
        return _inputs(given, f"{text}: `inputs`")
    from tclint.verify.inputs import derive, from_specs

    return (from_specs(specs, text) if specs else derive(model, text)), {}


def _several(given: Any, text: str) -> tuple[Inputs, ...]:
    if not isinstance(given, list | tuple):
        raise TargetError(f"{text}: `vary` must be a list of inputs, not {type(given).__name__}")
    return tuple(_inputs(one, f"{text}: each of `vary`") for one in given)


def _inputs(given: Any, what: str) -> Inputs:
    match given:
        case ((*args,), dict(kwargs)):
            return tuple(args), kwargs
        case (*args,):
            return tuple(args), {}
        case dict():
            return (), dict(given)
    raise TargetError(
        f"{what} must be a tuple, a dict or (args, kwargs), not {type(given).__name__}"
    )


def _is_module(made: Any) -> bool:
    from torch.nn import Module

    return isinstance(made, Module)


def _describe(made: object) -> str:
    if isinstance(made, tuple):
        return f"({', '.join(type(part).__name__ for part in made)})"
    return type(made).__name__
