"""``tclint mcp``: a server for coding agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.terminal import fail


def mcp(
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="The project to work on.")
    ] = Path(),
    *,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tool that runs the project's code.")
    ] = False,
) -> None:
    """Offer check, explain, propose, verify and trace to coding agents (MCP on standard input)."""
    try:
        from tclint.agents.server import make_server
    except ModuleNotFoundError as error:
        if error.name not in {"mcp", "mcp_types", "pydantic"}:
            raise
        fail(f"tclint mcp needs {error.name}: install tclint with the extra `mcp`")
    make_server(folder.resolve(), runs_code=not read_only).run()
