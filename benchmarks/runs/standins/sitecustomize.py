"""Stands in for packages that a script imports and whose work is no part of its loop."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_NAMES = ("pandas", "sklearn", "matplotlib", "torch.utils.tensorboard", "mlperf_logging")


class Nothing:
    """Whatever is asked of it gives it back."""

    def __call__(self, *args: Any, **kwargs: Any) -> Nothing:
        """Be any function."""
        return self

    def __getattr__(self, name: str) -> Nothing:
        """Have any attribute."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class _StandIns:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Be a finder of ``sys.meta_path``."""
        if not any(name == one or name.startswith(f"{one}.") for one in _NAMES):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Be a loader."""
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Be a loader: there is nothing to run."""


sys.meta_path.insert(0, _StandIns())  # type: ignore[arg-type]
