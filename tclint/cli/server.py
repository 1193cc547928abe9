"""``tclint server``: the language server."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Annotated, BinaryIO, cast

import typer

_STACK = 64 * 1024 * 1024


def server(
    tcp: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Listen on a port instead of standard input."),
    ] = None,
) -> None:
    """Run the language server: diagnostics while you type, fixes as code actions."""
    address = _address(tcp) if tcp is not None else None
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
    instance = create_server(TclintEngine())
    if address is None:
        instance.start_io(cast("BinaryIO", Input(sys.stdin.buffer)))
    else:
        instance.start_tcp(*address)


def _address(text: str) -> tuple[str, int]:
    host, separator, port = text.rpartition(":")
    if not separator or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT", param_hint="--tcp")
    return host.strip("[]") or "127.0.0.1", int(port)
