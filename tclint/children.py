"""Starting Python: every process of ours that is a Python starts with a command from here.

With ``-m`` and ``-c``, and in the processes that ``multiprocessing`` spawns, Python looks for
modules in the folder where it starts before it looks anywhere else. That folder is the project, so
its ``typer`` or ``random.py`` would be run in the place of the real one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PACKAGE_PARENT: Final = Path(__file__).parents[1]
"""The folder that tclint is imported from."""
SAFE: Final[Mapping[str, str]] = {"PYTHONSAFEPATH": "1"}
"""What keeps the folder off the path of a Python 3.11 or later, and of all that it starts."""
FORKS: Final = sys.platform == "linux"
"""Whether processes that share our work are forks: macOS's own libraries make those unsafe."""
_HAS_SAFE_PATH: Final = sys.version_info >= (3, 11)
_RUN_MODULE: Final = (
    "import sys; del sys.path[0], sys.argv[0]; import runpy; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module of ours anywhere, and imports nothing from there.

    Packages of the user's own folder, as ``pip install --user`` makes them, and ``PYTHONPATH``
    still count: tclint itself may have been found there.
    """
    if _HAS_SAFE_PATH:
        return (sys.executable, "-P", "-m", module, *arguments)
    return (sys.executable, "-c", _RUN_MODULE, module, *arguments)


def worker_command(module: str, python: str = "") -> tuple[str, ...]:
    """The command of a worker of ours under any Python, which may have no tclint of its own.

    It is to be started in :data:`PACKAGE_PARENT`, where the module is found.
    """
    return (python or sys.executable, "-m", module)


def code_command(code: str, *arguments: str, python: str = "") -> tuple[str, ...]:
    """The command that runs some lines under any Python; its environment is to have :data:`SAFE`.

    Python 3.10 does not know that variable, and has the folder taken away by the first line.
    """
    first = "import sys\nif sys.version_info < (3, 11): del sys.path[0]\n"
    return (python or sys.executable, "-c", first + code, *arguments)


def may_share_work() -> bool:
    """Whether ``multiprocessing`` can start processes that do not import from the folder."""
    return FORKS or _HAS_SAFE_PATH


@contextmanager
def safe_spawning() -> Iterator[None]:
    """Processes that ``multiprocessing`` starts meanwhile do not import from the folder."""
    name, before = "PYTHONSAFEPATH", os.environ.get("PYTHONSAFEPATH")
    os.environ.update(SAFE)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
