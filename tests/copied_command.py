"""``python copied_command.py -m tclint ...``: the command, whose children that compile are copies.

A test hands :func:`python_of_copies` to what starts the command, which takes it for Python.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

RUN = "PYTEST_XDIST_TESTRUNUID"


def python_of_copies(folder: Path) -> Path:
    """A program in this folder that is called as Python is, for ``-m tclint`` alone."""
    from tests.verify_children import prepare

    prepare()  # here: what is copied keeps the streams of the process that starts it
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    program.chmod(0o755)
    return program


def settings_of_torch() -> dict[str, str]:
    """What a command needs in an environment of its own, to use what this process has prepared."""
    from tests.forks import read_when_imported

    named = {name: os.environ[name] for name in (RUN,) if name in os.environ}
    return dict(read_when_imported(os.environ)) | named


def _run() -> None:
    sys.path[0] = str(Path(__file__).parents[1])
    import pytest

    from tclint.cli import main
    from tests.verify_children import copy_children

    sys.path[0] = str(Path.cwd())
    del sys.argv[1:3]
    copy_children(pytest.MonkeyPatch())
    main()


if __name__ == "__main__":
    _run()
