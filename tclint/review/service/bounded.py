"""Starts a program with limits: ``python -m tclint.review.service.bounded MEMORY FILE CPU ARGV``.

Limits are set here, in a process of its own, because a process with threads must not run Python
between fork and exec.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence

from tclint.children import module_command


def bounded(argv: Sequence[str], *, memory: int, file: int, seconds: float) -> tuple[str, ...]:
    """The command that runs another with limits: bytes of memory and of each file, CPU seconds."""
    limits = (str(memory), str(file), str(max(1, int(seconds))))
    return module_command(__name__, *limits, *argv)


def main() -> None:
    """Set the limits and become the program."""
    memory, file, seconds = (int(text) for text in sys.argv[1:4])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.execvp(sys.argv[4], sys.argv[4:])


if __name__ == "__main__":
    main()
