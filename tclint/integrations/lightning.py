"""A callback for Lightning's ``Trainer``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from tclint.integrations.training import Training

if TYPE_CHECKING:
    from tclint.api.recording import Block


class TclintCallback(Callback):  # type: ignore[misc]
    """Records ``fit``, and tells what its lines cost.

    Args:
        path: where the report goes, ``.html``, ``.md``, ``.json`` or text; None prints it.
        warm_up: the first steps, which do not count.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, warm_up: int = 10) -> None:
        """Begin nothing yet."""
        super().__init__()
        self._training = Training(path, warm_up)

    @property
    def block(self) -> Block | None:
        """What was recorded: its ``answer`` is there when the training has ended."""
        return self._training.block

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Record from here on."""
        self._training.begin()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Tell."""
        self._training.end(tells=trainer.is_global_zero)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Tell what was seen until then."""
        self._training.end(tells=trainer.is_global_zero)
