"""``tclint verify`` as a task of the editor: a child process, progress, an end when unwanted."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from lsprotocol import types

from tclint.children import module_command

if TYPE_CHECKING:
    from tclint.server.session import TclintServer

EVERY: Final = 1.0
"""Seconds between two reports of progress."""
GRACE: Final = 10.0
"""Seconds that a run which is ended has to end its own children."""
_RUNNING: Final[set[tuple[Path, str]]] = set()


class Verification:
    """One run of ``tclint verify`` on a target, in a folder."""

    def __init__(self, server: TclintServer, target: str, folder: Path) -> None:
        self._server = server
        self._target = target
        self._folder = folder
        self._token = f"tclint-verify-{uuid4()}"

    async def run(self) -> dict[str, Any]:
        """Run to the end, and tell the client how it went; also the answer to its command."""
        key = self._folder, self._target
        if key in _RUNNING:
            return self._tell({"status": "busy", "code": None, "report": ""})
        _RUNNING.add(key)
        try:
            async with self._progress() as cancelled:
                return self._tell(await self._outcome(cancelled))
        finally:
            _RUNNING.discard(key)

    async def _outcome(self, cancelled: asyncio.Future[Any]) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            *module_command("tclint", "verify", self._target),
            cwd=self._folder, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        reading = asyncio.ensure_future(process.communicate())
        try:
            begun = monotonic()
            while not reading.done() and not cancelled.done():
                await asyncio.wait(
                    {reading, cancelled}, timeout=EVERY, return_when=asyncio.FIRST_COMPLETED
                )
                self._report(f"{monotonic() - begun:.0f} s")
        finally:
            if process.returncode is None:
                await _end(process)
        said, complained = await reading
        status = "cancelled" if cancelled.done() else "done"
        text = (said if process.returncode in (0, 1) else complained).decode("utf-8", "replace")
        return {"status": status, "code": process.returncode, "report": text}

    def _tell(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """A message in one line, and the report in the log."""
        status, code = outcome["status"], outcome["code"]
        kind = types.MessageType.Info if code == 0 else types.MessageType.Warning
        if status == "cancelled":
            message = f"tclint verify {self._target}: cancelled"
        elif status == "busy":
            message = f"tclint verify {self._target} is running already"
        else:
            ends = {0: "passed", 1: "did not pass"}
            message = f"tclint verify {self._target} {ends.get(code, 'failed')}"
            said = self._in_short(outcome["report"], code)
            message += f": {said}" if said else "; the log has the report"
        outcome["message"] = message
        self._server.window_show_message(types.ShowMessageParams(kind, message))
        if outcome["report"]:
            self._server.window_log_message(types.LogMessageParams(kind, outcome["report"]))
        return outcome

    def _in_short(self, report: str, code: int) -> str:
        """What the report says of the target in one line; an error's first line."""
        lines = [line.strip() for line in report.splitlines() if line.strip()]
        if code not in (0, 1):
            return lines[0] if lines else ""
        about = f"{self._target}: "
        return next((line.removeprefix(about) for line in lines if line.startswith(about)), "")

    @contextlib.asynccontextmanager
    async def _progress(self) -> AsyncIterator[asyncio.Future[Any]]:
        """Show progress where the client can; the future is done when it cancels."""
        cancelled: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if not self._server.client.progress:
            yield cancelled
            return
        progress = self._server.work_done_progress
        await progress.create_async(self._token)
        title = f"Verifying {self._target}"
        progress.begin(self._token, types.WorkDoneProgressBegin(title, cancellable=True))
        loop = asyncio.get_running_loop()
        progress.tokens[self._token].add_done_callback(
            lambda _: loop.call_soon_threadsafe(_set, cancelled)
        )
        try:
            yield cancelled
        finally:
            progress.end(self._token, types.WorkDoneProgressEnd())
            progress.tokens.pop(self._token, None)

    def _report(self, message: str) -> None:
        if self._server.client.progress:
            self._server.work_done_progress.report(
                self._token, types.WorkDoneProgressReport(message=message)
            )


def _set(cancelled: asyncio.Future[Any]) -> None:
    if not cancelled.done():
        cancelled.set_result(None)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let a run end its children; one that does not end is killed."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), GRACE)
        except asyncio.TimeoutError:
            process.kill()
