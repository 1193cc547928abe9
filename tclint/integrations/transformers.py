"""A callback for the ``Trainer`` of transformers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from tclint.integrations.training import Training

if TYPE_CHECKING:
    from tclint.api.recording import Block


class TclintCallback(TrainerCallback):  # type: ignore[misc]
    """Records ``train``, and tells what its lines cost.

    The trainer tells nobody of a training that fails: what was recorded of it is let go when the
    next one begins.

    Args:
        path: where the report goes, ``.html``, ``.md``, ``.json`` or text; None prints it.
        warm_up: the first steps, which do not count.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, warm_up: int = 10) -> None:
        """Begin nothing yet."""
        self._training = Training(path, warm_up)

    @property
    def block(self) -> Block | None:
        """What was recorded: its ``answer`` is there when the training has ended."""
        return self._training.block

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Record from here on."""
        self._training.begin()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Tell."""
        self._training.end(tells=state.is_world_process_zero)
