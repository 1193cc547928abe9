"""What the installed torch accepts in ``torch.compile`` calls."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Sequence
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor

CONFIGS = (torch._dynamo.config, torch._inductor.config, torch._functorch.config)


def accepted() -> dict[str, set[str]]:
    """The names of each kind; an option comes with its type, a setting with its module."""
    return {
        "arguments": set(inspect.signature(torch.compile).parameters),
        "modes": set(torch._inductor.list_mode_options()),
        "backends": set(torch._dynamo.list_backends(exclude_tags=())),
        "options": _options(torch._inductor.config),
        "settings": _settings(CONFIGS),
    }


def _options(inductor: Any) -> set[str]:
    return {f"{name}:{_type(inductor, name)}" for name in inductor.get_config_copy()}


def _type(inductor: Any, name: str) -> str:
    """The type that torch.compile insists on for an option; empty where it accepts any."""
    wanted = inductor.get_type(name)
    return wanted.__name__ if isinstance(wanted, type) and not typing.get_origin(wanted) else ""


def _settings(modules: Sequence[Any]) -> set[str]:
    """What can be read from modules of settings: settings, old names of them, functions."""
    return {
        f"{module.__name__.removeprefix('torch.')}.{name}"
        for module in modules
        for name in {*dir(module), *dir(type(module)), *module._config}
    }
