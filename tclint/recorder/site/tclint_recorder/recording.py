"""What is known of this process, and how it ends."""

from __future__ import annotations

import os
import sys
from time import time_ns

from .lines import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_PACKAGES = ("site-packages", "dist-packages")
_OWN = os.path.dirname(os.path.abspath(__file__))


class Recording:
    """What is known of this process."""

    def __init__(self, folder: str) -> None:
        self._folder = _folder()
        self._arguments = sys.orig_argv[1:]
        self._libraries = _libraries()
        self._forked = False
        self._started = time_ns()
        self._torch: dict[str, Any] = {}
        self.at_end: list[Callable[[], object]] = []
        """What other parts still have to write."""
        self.at_fork: list[Callable[[], object]] = []
        """How other parts forget what the parent did."""
        self.undo: list[Callable[[], object]] = []
        """How other parts hear no more of the program."""
        self.how = ""
        self.uses_torch = False
        self._ended = False
        self.lines = Lines(folder)
        self.lines.describe = self._described
        self.tell()

    def tell(self, **torch: Any) -> None:
        """Write the line of the process (again), with what is known of torch by now."""
        self._torch.update(torch)
        self.lines.write("process", **self._described())

    def libraries(self) -> tuple[str, ...]:
        """The folders, each with its separator, whose code is not the program's."""
        return (*(folder + os.sep for folder in self._libraries), "<frozen ")

    def _described(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "started": self._started,
            "arguments": self._arguments,
            "folder": self._folder,
            "executable": sys.executable,
            "python": ".".join(map(str, sys.version_info[:3])),
            "libraries": self._libraries,
            "forked": self._forked,
            **_ranks(),
            **self._torch,
        }

    def has_torch(self, torch: ModuleType) -> None:
        """The program has imported torch."""
        package = os.path.dirname(os.path.abspath(str(torch.__file__)))
        if package not in self._libraries:
            self._libraries.append(package)
        self.uses_torch = True
        self.tell(torch=str(torch.__version__))

    def forked(self) -> None:
        """This process is a child now: its lines go to a file of its own, if it has any."""
        self._forked = True
        self._ended = False
        self.how = ""
        self._started = time_ns()
        self.lines.start_over(described=True)
        for forget in self.at_fork:
            forget()

    def release(self) -> None:
        """Leave the program as it was found: its further life is not recorded."""
        while self.undo:
            self.undo.pop()()

    def end(self, how: str = "") -> None:
        """Write what is left to write."""
        if self._ended:
            return
        self._ended = True
        for finish in self.at_end:
            finish()
        self.lines.write("end", at=time_ns(), how=self.how or how or _last_error() or "exit")


def _last_error() -> str:
    """The exception that ended the program: one that left its first line."""
    error = getattr(sys, "last_value", None)
    trace = getattr(error, "__traceback__", None)
    if trace is None or trace.tb_frame.f_code.co_name not in {"<module>", "_run_module_as_main"}:
        return ""
    return f"{type(error).__name__}: {error}"[:2000]


def _ranks() -> dict[str, int]:
    """What a launcher of several processes says to each."""
    ranks = {}
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        text = os.environ.get(name, "")
        if text.isdecimal():
            ranks[name.lower()] = int(text)
    return ranks


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "?"


def _libraries() -> list[str]:
    found = [os.path.dirname(os.path.abspath(str(os.__file__)))]
    found += [entry for entry in sys.path if os.path.basename(entry) in _PACKAGES]
    found += filter(None, [os.environ.get("TORCHINDUCTOR_CACHE_DIR"), _OWN])
    return list(dict.fromkeys(found))
