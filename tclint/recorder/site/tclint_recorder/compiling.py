"""Compile the models that the program calls, as ``model.compile()`` before its loop would.

``Module.__call__`` is another function until the models are known: the outermost module with
parameters of each call is one. Within that call it is torch's own again, so that Dynamo never
meets the other one. A module without parameters that gives one number with a gradient is a loss.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .lines import place, user_frame
from .recording import Recording

BLOCKS, GRAPHS = "blocks", "graphs"
_ENOUGH = 8
"""Calls without a new model after which none is expected.

They must end before steps count: whenever a function of all modules changes, Python and Dynamo
look up anew what they knew of each of them, which takes longer than a small model.
"""


class Compiling:
    """Finds the models of a program at their first calls, and has each compiled."""

    def __init__(self, torch: Any, recording: Recording, what: str) -> None:
        self._module = torch.nn.Module
        self._torch = torch
        self._recording = recording
        self._what, _, loss = what.partition("+")
        self._with_loss = bool(loss)
        self._seen: list[Any] = []
        self._losses: list[Any] = []
        self._since = 0

    def begin(self) -> None:
        """Look at calls from now on.

        Dynamo goes straight to ``forward`` where ``Module.__call__`` is what it was when Dynamo
        was imported, which making an optimizer does.
        """
        importlib.import_module("torch._dynamo")
        kind, call = self._module, self._module.__call__
        meet = self._recording.lines.guarded("compiling", self._meet)
        given = self._recording.lines.guarded("compiling", self._given)

        def called(module: Any, *args: Any, **kwargs: Any) -> Any:
            kind.__call__ = call
            try:
                may_be_loss = meet(module)
                found = call(module, *args, **kwargs)
                if may_be_loss:
                    given(module, found)
                return found
            finally:
                if self._since < _ENOUGH:
                    kind.__call__ = called

        kind.__call__ = called

    def _meet(self, module: Any) -> bool:
        """Compile what is called for the first time; true of what may turn out to be a loss."""
        self._since += 1
        if any(one is module for one in self._seen):
            if any(one is module for one in self._losses):
                self._compile_loss(module)
            return False
        self._seen.append(module)
        if next(module.parameters(), None) is None:
            return True
        self._since = 0
        chosen = [*blocks(module)] if self._what == BLOCKS else [module]
        left = [one for one in chosen if not _is_compiled(one)]
        if left and os.environ.get("TCLINT_RECORD_DRAWS"):
            _draw_as_eager()
        for one in left:
            self._compile(one)
        self._tell(module, len(left), loss=False)
        return False

    def _given(self, module: Any, found: Any) -> None:
        """What gives one number with a gradient is a loss."""
        if type(found) is self._torch.Tensor and found.numel() == 1 and found.requires_grad:
            self._losses.append(module)

    def _compile_loss(self, module: Any) -> None:
        """Compile a loss that is called again: one that is made anew each time is not."""
        self._losses = [one for one in self._losses if one is not module]
        wanted = self._with_loss and not _is_compiled(module)
        if wanted:
            self._compile(module)
        self._tell(module, int(wanted), loss=True)

    def _compile(self, module: Any) -> None:
        module.compile(**({"mode": "reduce-overhead"} if self._what == GRAPHS else {}))

    def _tell(self, module: Any, compiled: int, *, loss: bool) -> None:
        self._recording.lines.write(
            "model",
            name=type(module).__qualname__,
            place=place(user_frame(sys._getframe(), self._recording.libraries())),
            compiled=compiled,
            loss=loss,
            blocks=len([*blocks(module)]),
        )


def blocks(module: Any) -> Iterator[Any]:
    """The outermost modules of which there are several of a kind: the layers of a list."""
    kinds = Counter(type(one) for one in module.children() if any(one.children()))
    repeated = [one for one in module.children() if kinds[type(one)] > 1]
    yield from repeated
    for child in module.children():
        if not any(one is child for one in repeated):
            yield from blocks(child)


def _draw_as_eager() -> None:
    """Have dropout draw what it draws in eager code: so losses can be compared."""
    from torch._inductor import config

    config.fallback_random = True


def _is_compiled(module: Any) -> bool:
    compiled = getattr(module, "_compiled_call_impl", None) is not None
    return compiled or type(module).__name__ == "OptimizedModule"
