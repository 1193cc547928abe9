"""Servers that start with everything imported, which saves most of a second each.

The fixture ``copied_servers`` makes tests use them. Tests of the process itself spawn theirs.
"""

from __future__ import annotations

import asyncio
import functools
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_lsp import make_test_lsp_client

from tests import server_process
from tests.forks import Forkable, Forked, everything

if TYPE_CHECKING:
    import pytest
    from pygls.client import JsonRPCClient


class CopiedServer:
    """The part of ``asyncio.subprocess.Process`` that a client needs."""

    def __init__(
        self,
        process: Forked,
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader,
        unused: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr, self._unused = stdin, stdout, stderr, unused
        self.kill = self.terminate = process.kill

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it ends; two may wait at a time."""
        while self._process.poll() is None:
            await asyncio.sleep(0.005)
        self.stdin.close()
        self._unused.close()
        return self._process.returncode or 0


def copy_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start copies while the patch lasts."""
    monkeypatch.setattr(server_process, "started", _started)


async def _started() -> JsonRPCClient:
    client = make_test_lsp_client()

    async def start(*_: str, **__: object) -> CopiedServer:
        (ours, theirs), (heard, hears) = socket.socketpair(), socket.socketpair()
        with theirs, hears:
            streams = (theirs.fileno(), theirs.fileno(), hears.fileno())
            process = _ready().start("tclint", ["server"], streams, Path.cwd(), os.environ)
        out, given = await asyncio.open_unix_connection(sock=ours)
        err, nothing = await asyncio.open_unix_connection(sock=heard)
        return CopiedServer(process, given, out, err, nothing)

    spawn = asyncio.create_subprocess_exec
    asyncio.create_subprocess_exec = start  # type: ignore[assignment]
    try:
        await client.start_io("tclint")
    finally:
        asyncio.create_subprocess_exec = spawn
    return client


@functools.cache
def _ready() -> Forkable:
    modules = [
        name for name in everything("tclint", "tclint_rules")
        if not name.startswith(("tclint.agents", "tclint.review"))
    ]  # fmt: skip
    return Forkable(modules, os.environ, shared=True)
