"""A training that a framework begins and ends, recorded as a block."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

from tclint.api.recording import recorded
from tclint.errors import UserError
from tclint.run.launch import Settings

if TYPE_CHECKING:
    from tclint.api.recording import Block


class Training:
    """Records from its beginning to its end, and then tells; one training after the other.

    The report is printed, or written to ``path``; of several ranks the first one does. What cannot
    be recorded or told is a warning: the training goes on.
    """

    _running: ClassVar[Training | None] = None

    def __init__(self, path: str | os.PathLike[str] | None, warm_up: int) -> None:
        """Begin nothing yet."""
        self._path = path
        self._settings = Settings(warm_up=warm_up)
        self._open: AbstractContextManager[Block] | None = None
        self.block: Block | None = None

    def begin(self) -> None:
        """Record from here on; a training that failed unheard is over then."""
        if Training._running is not None:
            Training._running.close()
        opened = recorded(self._settings)
        try:
            self.block = opened.__enter__()
        except (UserError, OSError) as error:
            self.block = None
            warnings.warn(f"not recorded: {error}", stacklevel=2)
        else:
            self._open, Training._running = opened, self

    def end(self, *, tells: bool) -> None:
        """Record no more, and tell what was seen."""
        block = self.block
        if not self.close() or not tells or block is None:
            return
        try:
            if self._path is None:
                sys.stdout.write(block.report())
            else:
                block.write(self._path)
        except (UserError, OSError) as error:
            warnings.warn(f"not reported: {error}", stacklevel=2)

    def close(self) -> bool:
        """Record no more; false where nothing was recorded."""
        opened, self._open, Training._running = self._open, None, None
        if opened is not None:
            opened.__exit__(None, None, None)
        return opened is not None
