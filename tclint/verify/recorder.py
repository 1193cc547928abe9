"""Stands between the target and ``torch.compile`` (child process only)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

_TORCH = str(Path(torch.__file__).parent)
_MODULE_COMPILE = str(Path("nn", "modules", "module.py"))

Backend = Callable[..., Any] | str


class CompileRecorder:
    """Counts the target's own calls of ``torch.compile``, and may change what they do.

    The real function still sees the real arguments first, so that a wrong mode or an unknown
    backend fails here as it does for the user.
    """

    def __init__(self, backend: Backend | None) -> None:
        """``backend`` replaces the target's own, and so does a ``mode`` that is set later.

        ``models`` are what the target itself compiled since somebody last emptied the list.
        """
        before = torch.compile
        self.real: Callable[..., Any] = (
            before.real if isinstance(before, CompileRecorder) else before
        )
        self.calls = 0
        self.models: list[Any] = []
        self.fullgraph = False
        self.ignored = False
        self.mode = ""
        self.backend = backend

    def install(self) -> None:
        """Take the place of ``torch.compile`` for the rest of this process."""
        torch.compile = self

    def __call__(self, model: Any = None, **options: Any) -> Any:
        """Compile like ``torch.compile``."""
        caller = sys._getframe(1).f_code.co_filename
        if caller.startswith(_TORCH) and not caller.endswith(_MODULE_COMPILE):
            return self.real(model, **options)
        if model is None:
            return lambda decorated: self._compile(decorated, options)
        return self._compile(model, options)

    def compile_module_in_place(self, module: nn.Module, options: dict[str, Any]) -> None:
        """Compile so that everyone who holds the module calls the compiled form."""
        module._compiled_call_impl = self.real(module._call_impl, **options)

    def _compile(self, model: Any, options: dict[str, Any]) -> Any:
        self.calls += 1
        self.models.append(model)
        compiled = self.real(model, **options)
        if self.ignored:
            return model
        wanted: dict[str, Any] = {"fullgraph": True} if self.fullgraph else {}
        dropped: tuple[str, ...] = ()
        if self.backend is not None:
            wanted, dropped = wanted | {"backend": self.backend}, ("mode", "options")
        elif self.mode:
            wanted, dropped = wanted | {"mode": self.mode}, ("options",)
        if not wanted:
            return compiled
        kept = {key: value for key, value in options.items() if key not in dropped}
        return self.real(model, **kept | wanted)
