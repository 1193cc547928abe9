"""What a run draws: whether two runs of other types drew the same numbers (child only)."""

from __future__ import annotations

import ctypes
import hashlib
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tclint.verify.steps import leaves


class Draws(TorchDispatchMode):  # type: ignore[misc]
    """A digest of all that operators draw while it watches, bit by bit.

    Integers are the same whatever the type of a model, and so is what is drawn in a type of its
    own, such as noise in float32. A mask of dropout has the type of what it masks.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        """Nothing is drawn yet."""
        super().__init__()
        self._drawn, self._seen = hashlib.sha256(), True
        self._left = _states(_shared())

    @property
    def digest(self) -> str:
        """The digest; ``""`` where something drew that no operator shows."""
        return self._drawn.hexdigest() if self._seen else ""

    def watched(self, call: Callable[[], object]) -> Callable[[], object]:
        """The call, watched."""

        def watching() -> object:
            self._left = _states(_shared())
            with self:
                result = call()
            self._meet(_states(_shared()))
            self._drawn.update(_of_python())
            return result

        return watching

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operator: what moves a generator draws what it gives."""
        given = kwargs or {}
        named = [one for one in (*args, *given.values()) if isinstance(one, torch.Generator)]
        before, own = _states(_shared()), _states(named)
        self._meet(before)
        result = func(*args, **given)
        self._left = _states(_shared())
        if (before, own) != (self._left, _states(named)):
            for tensor in leaves(result):
                self._drawn.update(f"{tensor.dtype} {tuple(tensor.shape)} ".encode())
                self._drawn.update(_bytes(tensor))
        return result

    def _meet(self, states: Sequence[bytes]) -> None:
        """A generator that moved since the last operator was moved by somebody else."""
        # The generators of the GPUs may have come into being by now.
        self._seen &= all(one == left for one, left in zip(states, self._left, strict=False))


def _shared() -> list[torch.Generator]:
    """The generators that operators draw from where none is named."""
    # Asked at each operator: whether there is a GPU takes far longer to say.
    ready = torch.cuda.is_initialized()
    return [torch.default_generator, *(torch.cuda.default_generators if ready else ())]


def _states(generators: Sequence[torch.Generator]) -> list[bytes]:
    # A state is a row of bytes on the CPU, whatever the generator's device.
    states = [one.get_state() for one in generators]
    return [ctypes.string_at(state.data_ptr(), state.numel()) for state in states]


def _bytes(tensor: torch.Tensor) -> bytes:
    values = tensor.detach().cpu().contiguous()
    return ctypes.string_at(values.data_ptr(), values.numel() * values.element_size())


def _of_python() -> bytes:
    """The states of generators whose numbers have no type to differ by."""
    numpy: Any = sys.modules.get("numpy")
    states = random.getstate(), numpy.random.get_state() if numpy is not None else None
    return hashlib.sha256(repr(states).encode()).digest()
