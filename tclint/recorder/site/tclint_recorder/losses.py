"""The numbers on which ``backward`` was called, read when nobody waits for them."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from .lines import place, user_frame
from .recording import Recording


class Losses:
    """Copies of the first losses, on their own device until the last one is taken."""

    def __init__(self, torch: Any, recording: Recording, wanted: int) -> None:
        self._torch = torch
        self._recording = recording
        self._wanted = wanted
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a fork."""
        self._taken: list[tuple[int, dict[str, Any]]] = []
        self._kept: Any = None
        self._kind: tuple[Any, Any] | None = None
        self._places: Sequence[Any] = ()
        """The numbers that are kept, each as a tensor: so a copy is all that a step pays for."""
        self.ends: Sequence[int] = ()
        """When the steps ended, which tells the step of each."""
        self.open = self._wanted > 0

    def take(self, outputs: Any, now: int) -> None:
        """Keep a copy of what ``backward`` is called on, where it is one number."""
        torch = self._torch
        loss = outputs[0]
        if len(outputs) > 1 or type(loss) is not torch.Tensor:
            return
        if torch._C._autograd._profiler_enabled():
            return
        if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
            # No mode of the program's hears of the copy.
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
                copied = self._copy(loss)
        else:
            copied = self._copy(loss)
        if copied:
            self._taken.append((now, place(user_frame(sys._getframe(), self._foreign))))
            self.open = len(self._taken) < self._wanted

    def _copy(self, loss: Any) -> bool:
        if loss.numel() != 1 or loss.layout != self._torch.strided or self._captured(loss):
            return False
        kind = loss.dtype, loss.device
        if self._kind is None:
            self._begin(kind)
        if kind != self._kind:
            return False
        loss = loss.detach()
        self._places[len(self._taken)].copy_(loss if loss.dim() == 0 else loss.reshape(()))
        return True

    def _begin(self, kind: tuple[Any, Any]) -> None:
        with self._torch.no_grad():
            self._kept = self._torch.empty(self._wanted, dtype=kind[0], device=kind[1])
            self._places = self._kept.unbind()
        self._kind = kind
        self._foreign = self._recording.libraries()

    def write(self) -> None:
        """Write what was taken; waits for the device."""
        self.open = False
        if self._kept is None:
            return
        torch = self._torch
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            values = self._kept[: len(self._taken)].tolist()
        self._kept, self._places = None, ()
        for value, (at, where) in zip(values, self._taken, strict=True):
            # Where a `backward` ends the step, the loss is of the step that it ends.
            step = bisect_left(self.ends, at)
            self._recording.lines.write("loss", step=step, value=float(value).hex(), place=where)

    def _captured(self, loss: Any) -> bool:
        return bool(loss.is_cuda and self._torch.cuda.is_current_stream_capturing())
