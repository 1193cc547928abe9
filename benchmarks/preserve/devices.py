"""The devices that programs run on: what is created there, and whether they still answer."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Devices:
    """All inputs are on the first; where there is a second one, some of them are there in turn."""

    first: str = "cpu"
    second: str = ""

    @classmethod
    def of_text(cls, text: str) -> Devices:
        """The devices that ``cuda``, ``cuda,cpu`` or ``cuda:0,cuda:1`` stands for.

        Raises:
            ValueError: one of them is none, or there are more than two.
        """
        names = text.split(",")
        if len(names) > 2:
            raise ValueError("one device or two, as in cuda,cpu")
        try:
            return cls(*(str(torch.device(name)) for name in names))
        except RuntimeError as error:
            raise ValueError(str(error)) from error

    def __str__(self) -> str:
        """Its names, as they are given."""
        return ",".join(name for name in (self.first, self.second) if name)

    @property
    def is_gpu(self) -> bool:
        """Whether inputs are on a GPU."""
        return self.first.startswith("cuda")

    @property
    def narrow(self) -> tuple[str, ...]:
        """The dtypes that autocast is used with."""
        return ("bfloat16", "float16") if self.is_gpu else ("bfloat16",)

    @property
    def seconds(self) -> int:
        """How long a program may take; on a GPU, its process has to make a context first."""
        return 15 if self.is_gpu else 6

    @property
    def patience(self) -> int:
        """How many times longer that may be by the clock, where nobody else needs the processor."""
        return 2 if self.is_gpu else 20

    def autocast(self, dtype: str) -> Callable[[], Any]:
        """What makes a context in which operations run in a dtype."""
        kind = torch.device(self.first).type
        return functools.partial(torch.autocast, kind, getattr(torch, dtype))

    def of(self, *, away: bool) -> contextlib.AbstractContextManager[Any]:
        """A context in which tensors are created where an argument is."""
        name = self.second if away else self.first
        return contextlib.nullcontext() if name == "cpu" else torch.device(name)

    def generators(self) -> list[torch.Generator]:
        """The generators that programs draw from."""
        if not self._gpus:
            return [torch.default_generator]
        torch.cuda.init()
        places = sorted({torch.device(name).index or 0 for name in self._gpus})
        return [torch.default_generator, *(torch.cuda.default_generators[i] for i in places)]

    def begin(self) -> None:
        """Use each device once.

        Raises:
            RuntimeError: one of them is not there.
            AssertionError: torch was built without it.
        """
        for name in (self.first, self.second or self.first):
            torch.ones(1, device=name).add_(1).cpu()

    def answer(self) -> bool:
        """Whether no kernel of a GPU has failed: after that the process can use it no more."""
        try:
            for name in self._gpus:
                torch.cuda.synchronize(name)
        except RuntimeError:
            return False
        return True

    @property
    def _gpus(self) -> list[str]:
        return [name for name in (self.first, self.second) if name.startswith("cuda")]


CPU = Devices()
