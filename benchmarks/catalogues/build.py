"""Build a tiny model with random weights, and the arguments of its call (child only)."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from benchmarks.catalogues import Input, Made, Model
from benchmarks.catalogues.shrink import shrink

SEED = 0
# The tokens below it are those for padding, beginnings and ends.
FIRST_WORD = 3


def build(model: Model, mode: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The module in ``eval`` or ``train`` mode, and the keyword arguments to call it with."""
    torch.manual_seed(SEED)
    makers = {"transformers": _transformers, "diffusers": _diffusers, "timm": _timm}
    module = makers.get(model.library, _called)(model)
    module.train(mode == "train")
    wanted = {**model.inputs, **(model.labels if mode == "train" else {})}
    generator = torch.Generator().manual_seed(SEED)
    return module, {name: _tensor(one, generator) for name, one in wanted.items()}


def _transformers(model: Model) -> torch.nn.Module:
    cls = getattr(importlib.import_module("transformers"), model.cls)
    config = cls.config_class()
    shrink(config, model.config)
    module: torch.nn.Module = cls(config)
    return module


def _diffusers(model: Model) -> torch.nn.Module:
    cls = getattr(importlib.import_module("diffusers"), model.cls)
    module: torch.nn.Module = cls(**model.config)
    return module


def _timm(model: Model) -> torch.nn.Module:
    timm = importlib.import_module("timm")
    module: torch.nn.Module = timm.create_model(model.cls, **model.config)
    return module


def _called(model: Model) -> torch.nn.Module:
    module: torch.nn.Module = _part(Made(model.cls, (), model.config))
    return module


def _part(value: Any) -> Any:
    """The value with each part that it holds made."""
    match value:
        case Made():
            named = {name: _part(one) for name, one in value.named.items()}
            return _found(value.path)(*map(_part, value.positional), **named)
        case list():
            return [_part(one) for one in value]
    return value


def _found(path: str) -> Any:
    """What a dotted name means, whose first parts are modules."""
    package, *names = path.split(".")
    here, found = package, importlib.import_module(package)
    for name in names:
        here = f"{here}.{name}"
        if not hasattr(found, name):
            importlib.import_module(here)
        found = getattr(found, name)
    return found


def _tensor(wanted: Input, generator: torch.Generator) -> Any:
    match wanted.kind:
        case "ids":
            first = min(FIRST_WORD, wanted.below - 2)
            return torch.randint(first, wanted.below, wanted.shape, generator=generator)
        case "floats":
            return torch.randn(wanted.shape, generator=generator)
        case "ones":
            return torch.ones(wanted.shape, dtype=torch.long)
        case "nested":
            return _nested(wanted.values, generator)
        case "tensor":
            return torch.tensor(wanted.values)
    return wanted.values


def _nested(values: Any, generator: torch.Generator) -> Any:
    match values:
        case Input():
            return _tensor(values, generator)
        case list():
            return [_nested(one, generator) for one in values]
        case dict():
            return {name: _nested(one, generator) for name, one in values.items()}
    return values
