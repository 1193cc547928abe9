"""Hear of each call of a module or of a compiled function, where nothing trains."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .backward import insert, skip_code
from .imports import AfterImport

_NAME, _COMPILING = "__tclint_called__", "__tclint_compiling__"
_COMPILES = "torch._dynamo.eval_frame"
_WRAPPERS = frozenset({"compile_wrapper", "_fn"})


class Calls:
    """Statements of ours in the functions that all such calls go through.

    Where Dynamo traces these functions, as it does if a module has hooks, it leaves them out.
    """

    def __init__(self, torch: Any, hear: Callable[[Any], None]) -> None:
        self.only: object = None
        """Where one is chosen, of others it is only heard once there were ``most`` of them."""
        self.others = 0
        self.most = 0
        self._torch = torch
        self._hear = hear
        self._function = torch.nn.Module._wrapped_call_impl
        self._whole = self._function.__code__
        self._names = [self._function.__globals__]
        self._call_out(self._function, "self")
        if _COMPILES in sys.modules:
            self._on_compiled(sys.modules[_COMPILES])
        else:
            sys.meta_path.insert(0, AfterImport({_COMPILES: self._on_compiled}))

    def stop(self) -> None:
        """Hear of no more calls."""
        if self._names:
            self._function.__code__ = self._whole
            # What was compiled until now keeps the statement.
            skip_code(self._torch, _unheard.__code__)
            for names in self._names:
                names[_NAME] = _unheard
            self._names = []

    def _on_compiled(self, frames: Any) -> None:
        """What is compiled from now on calls out as well."""
        if self._names:
            self._names.append(vars(frames))
            self._call_out(frames._TorchDynamoContext.__call__, "fn", _WRAPPERS)

    def _call_out(self, function: Any, what: str, inner: frozenset[str] = frozenset()) -> None:
        def called(one: Any) -> None:
            if one is not self.only and self.only is not None:
                self.others += 1
                if self.others <= self.most:
                    return
            self._hear(one)

        skip_code(self._torch, called.__code__)
        function.__globals__[_NAME] = called
        function.__globals__[_COMPILING] = self._torch.compiler.is_compiling
        insert(function, f"{_COMPILING}() or {_NAME}({what})", inner)


def _unheard(called: Any) -> None:
    """Stands in for what hears of calls."""
