"""The other distribution with a package and a command of this name: a linter for Tcl.

Whichever was installed last has its files in the place of the other's. Theirs has no
``tclint/cli/__init__.py``, so that ours runs for their command too, and can say what happened.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

TYPE_CHECKING = False  # see tclint.cache.envelope
if TYPE_CHECKING:
    from typing import Final

_OUT: Final = "`pip uninstall tclint`, then install tclint-torch again with `--force-reinstall`"
_FAILED: Final = 2


def own_version() -> str:
    """The version of this tclint; the process ends where its package is another's."""
    import tclint

    # Theirs defines nothing. Ours may be asked for while it is being replaced.
    if "check" in getattr(tclint, "__all__", ()):
        return tclint.__version__
    _say(f"error: a linter for Tcl that is called tclint, too, replaced files of this one: {_OUT}")
    sys.exit(_FAILED)


def warn_of_namesake() -> None:
    """Say that the other one is installed in the same place, where the next update breaks both."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120
    try:
        names = os.listdir(folder)  # noqa: PTH208 (in every run)
    except OSError:  # a zip file
        return
    if any(name.startswith("tclint-") and name.endswith("-info") for name in names):
        _say(
            "warning: a linter for Tcl that is called tclint, too, is installed in the same place, "
            f"and an update of either breaks both: {_OUT}"
        )


def _say(text: str) -> None:
    with suppress(OSError, AttributeError, ValueError):  # it is full, missing, or closed
        sys.stderr.write(f"{text}\n")
