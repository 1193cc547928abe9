"""The command line."""

from __future__ import annotations

import gc
import sys

from tclint.cli.namesake import own_version, warn_of_namesake

VERSION = own_version()
FAILED = 2
INTERRUPTED = 130
# What is imported stays: looking for garbage among it takes 13 of 186 ms of imports.
FEW_COLLECTIONS = 100_000


def main() -> None:
    """Run the command that the process's arguments name, and exit with its code."""
    gc.set_threshold(FEW_COLLECTIONS)
    try:
        warn_of_namesake()
        if sys.argv[1:] in (["--version"], ["-V"]):
            print(f"tclint {VERSION}")
            return
        from tclint.cache.report_cache import replayed

        code = replayed(sys.argv[1:])
        if code is not None:
            sys.exit(code)
        # Typer is imported here so that Ctrl-C is quiet even while it loads.
        from tclint.cli.app import build

        build().main(prog_name="tclint")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the last handler: 1 would mean findings
        # Until Python 3.12, what interrupts the making of a class comes wrapped.
        if isinstance(error.__cause__, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        try:
            from tclint.crashes import told

            told(error)
        finally:
            sys.exit(FAILED)
