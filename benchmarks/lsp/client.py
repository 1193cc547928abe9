"""A client that types, as little of one as will do: it measures the server and not itself."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Stroke:
    """What is between two places, counted from 0, becomes a text."""

    row: int
    column: int
    end_row: int
    end_column: int
    text: str


class Client:
    """A server process and its streams; one document is open in it."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tclint", "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0
        self._ask("initialize", processId=None, capabilities={}, rootUri=folder.as_uri())
        self._send("initialized")

    def __enter__(self) -> Client:
        """Nothing more is to be done."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End the server as the protocol wants it."""
        self._ask("shutdown")
        self._send("exit")
        self.process.wait(10)

    def open(self, path: Path, text: str) -> list[Any]:
        """Open a document; the answer is what is found in it."""
        item = {"uri": path.as_uri(), "languageId": "python", "version": 0, "text": text}
        self._send("textDocument/didOpen", textDocument=item)
        return self.diagnostics(0)

    def type(self, path: Path, version: int, stroke: Stroke) -> None:
        """Change the document."""
        start = {"line": stroke.row, "character": stroke.column}
        end = {"line": stroke.end_row, "character": stroke.end_column}
        self._send(
            "textDocument/didChange",
            textDocument={"uri": path.as_uri(), "version": version},
            contentChanges=[{"range": {"start": start, "end": end}, "text": stroke.text}],
        )

    def diagnostics(self, version: int) -> list[Any]:
        """Wait for what is found in a version of the document."""
        while True:
            message = self._receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params["version"] == version:
                    return list(params["diagnostics"])

    def memory(self) -> float:
        """The server's resident memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def worked(self) -> float:
        """Milliseconds that the server's threads have spent on a processor."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._send(method, number=self._number, **params)
        while True:
            message = self._receive()
            if message.get("id") == self._number:
                return message.get("result")

    def _send(self, method: str, number: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        data = json.dumps(message if number is None else message | {"id": number}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise EOFError("the server has gone")
        message: dict[str, Any] = json.loads(stream.read(length))
        return message
