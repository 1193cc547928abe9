"""``tclint server``: the language server."""

from __future__ import annotations

import gc
import sys
import threading
from typing import BinaryIO, cast

import typer

_STACK = 64 * 1024 * 1024


def server() -> None:
    """Run the language server: diagnostics while you type, fixes as code actions."""
    try:
        from tclint.server.engine import TclintEngine
        from tclint.server.features import create_server
        from tclint.server.protocol import Input
    except ModuleNotFoundError as error:
        if error.name not in {"lsprotocol", "pygls"}:
            raise
        typer.echo(
            f"tclint server needs {error.name}: pip install 'tclint-torch[server]'", err=True
        )
        raise typer.Exit(2) from error
    # Deeply nested programs are parsed recursively, and some systems give threads little stack.
    threading.stack_size(_STACK)
    # Between analyses only: the server says when.
    gc.disable()
    create_server(TclintEngine()).start_io(cast("BinaryIO", Input(sys.stdin.buffer)))
