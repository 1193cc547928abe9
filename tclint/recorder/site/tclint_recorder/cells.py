"""The texts of IPython's cells: code that runs under names of files that are on no disk."""

from __future__ import annotations

import linecache
import sys
from typing import Any

from .recording import Recording


class Cells:
    """Writes each cell that the program's IPython has run, as its own tracebacks name it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._written: dict[str, int] = {}

    def write(self) -> None:
        """Write the cells that are not written yet."""
        package: Any = sys.modules.get("IPython")
        shell = package.get_ipython() if hasattr(package, "get_ipython") else None
        numbers: dict[str, int] = getattr(getattr(shell, "compile", None), "_filename_map", {})
        for name, number in [*numbers.items()]:
            text = "".join(linecache.getlines(name))
            if text and self._written.get(name) != number:
                self._written[name] = number
                self._recording.lines.write("cell", filename=name, name=f"In[{number}]", text=text)
