"""Garbage to the language server: messages that no editor would send.

Promised: what is no message, asks for something else, or speaks of places, documents and files
that do not exist costs at most an error in answer; the server goes on, and tells of a good
document what it told before. It reads no pipe and no device, whatever a document is called. A
head that makes no sense may end the server, but leaves no process that hangs. Failures are a
server that has ended or does not answer, other findings, and memory without bound.
"""

from __future__ import annotations

import contextlib
import json
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.attack.caches import change
from benchmarks.attack.command import clean_environment
from benchmarks.attack.kind import Kind, Slice, Tried
from benchmarks.attack.mutants import broken

GOOD = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> float:
    return x.sum().item()
"""
PATIENCE = 60
GROWTH = 768 << 20
URIS = (
    "", "x", "file:///dev/zero", "file:///dev/stdin", "file://", "file:///%00.py", "http://x/y.py",
    "untitled:1", "file:///" + "x" * 9_000 + ".py", "file:///a/../../b.py", "file:///tmp", "\ud800",
    "file:///proc/self/mem", "git:/x.py", "vscode-notebook-cell:/a#b",
)  # fmt: skip
PLACES = (-1, 0, 1, 3, 10**6, 2**31, 2**53, 2**70, 1.5, None, "x")
ASKED = (
    "textDocument/hover", "textDocument/codeAction", "textDocument/codeLens",
    "textDocument/diagnostic", "textDocument/didOpen",
    "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
    "workspace/executeCommand", "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders", "codeAction/resolve",
    "notebookDocument/didOpen", "notebookDocument/didChange", "workspace/diagnostic", "$/setTrace",
    "window/workDoneProgress/cancel", "initialize", "initialized", "x/y", "$/cancelRequest", "",
)  # fmt: skip


class Server:
    """A server process, and the answers that it has given."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tclint.toml").write_text("")
        (folder / "good.py").write_text(GOOD)
        self.uri = (folder / "good.py").as_uri()
        self._folder = folder
        self._log = (folder / "server.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tclint", "server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            env=clean_environment(), start_new_session=True,
        )  # fmt: skip
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self._number = 10**6
        self.ask("initialize", processId=None, capabilities={}, rootUri=folder.as_uri())
        self.say({"jsonrpc": "2.0", "method": "initialized", "params": {}})
        self._version = 0

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def frame(self, body: bytes) -> None:
        """Send bytes as a message."""
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def say(self, message: Any) -> None:
        """Send a message."""
        self.frame(json.dumps(message).encode())

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request, and wait for its answer.

        Raises:
            AssertionError: there is none.
        """
        self._number += 1
        number = self._number
        self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self._next(lambda message: message.get("id") == number and "method" not in message)

    def findings(self) -> list[str]:
        """The codes that are found in the good document.

        Raises:
            AssertionError: the server does not say.
        """
        self._version += 1
        version = self._version
        item = {"uri": self.uri, "languageId": "python", "version": version, "text": GOOD}
        self.notify("textDocument/didOpen", textDocument=item)
        message = self._next(
            lambda one: (
                one.get("method") == "textDocument/publishDiagnostics"
                and one["params"]["uri"] == self.uri
                and one["params"].get("version") == version
            )
        )
        self.notify("textDocument/didClose", textDocument={"uri": self.uri})
        return sorted(str(one.get("code")) for one in message["params"]["diagnostics"])

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.say({"jsonrpc": "2.0", "method": method, "params": params})

    def memory(self) -> int:
        """The bytes of memory that are in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024

    def end(self) -> int | None:
        """Close the connection; the exit code, None if the server had to be killed."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self._log.close()

    def words(self) -> str:
        """The end of what the server has logged."""
        return (self._folder / "server.log").read_text("utf-8", "replace")[-1500:]

    def _next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            try:
                message = self._said.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"no answer; log: {self.words()}") from None
            assert message is not None, f"the server has ended: {self.words()}"
            if wanted(message):
                return message

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline():
            name, _, value = line.strip().partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            elif not name:
                self._said.put(json.loads(stream.read(length)))
        self._said.put(None)


def tried(part: Slice) -> Iterator[Tried]:
    """Send garbage to one server, and see after each that it still tells what it should."""
    server, usual = started(part.folder / "first")
    try:
        for number in part.numbers:
            sort = SORTS[number % len(SORTS)]
            try:
                sort(server, part.chance(number))
                if sort is heads:
                    failure = None if server.end() is not None else "the server hangs"
                    server, usual = started(part.folder / f"after{number}")
                else:
                    found = server.findings()
                    failure = None if found == usual else f"{found} instead of {usual}"
                    if server.memory() > GROWTH:
                        failure = f"{server.memory() >> 20} MiB in use"
            except AssertionError as error:
                failure = str(error)
                server.end()
                server, usual = started(part.folder / f"after{number}")
            yield Tried(number, sort.__name__.replace("_", " "), failure)
    finally:
        server.end()


def started(folder: Path) -> tuple[Server, list[str]]:
    """A new server, and what it finds in the good document."""
    shutil.rmtree(folder, ignore_errors=True)
    server = Server(folder)
    usual = server.findings()
    assert usual, "nothing is found in the good document"
    return server, usual


def bodies(server: Server, chance: Random) -> None:
    """Messages whose text is no message."""
    server.frame(
        chance.choice(
            (chance.randbytes(900), b"", b"null", b"[]", b"1", b'"x"', b"[" * 100_000, b"{}",
             b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "1.0", "method": "x"}', b'{"id": 9}', b"\xff\xfe",
             b'{"jsonrpc": "2.0", "id": 5, "result": null}', b"[{}, {}]", b"9" * 6_000,
             b'{"jsonrpc": "2.0", "id": ' + b"9" * 6_000 + b', "method": "shutdown2"}')
        )
    )  # fmt: skip


def methods(server: Server, chance: Random) -> None:
    """Any method with parameters of any shape, as a request or not."""
    odd: tuple[Any, ...] = (None, [], {}, "x", 1, {"textDocument": None}, {"textDocument": {}})
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": chance.choice(ASKED)}
    if chance.random() < 0.8:
        message["params"] = chance.choice(odd)
    if chance.random() < 0.5:
        message["id"] = chance.choice((chance.randrange(9), "x", None, 1.5, [], {}, 2**70))
    server.say(message)


def params(server: Server, chance: Random) -> None:
    """Sensible parameters with something odd in a place or two."""
    place = {"line": chance.choice(PLACES), "character": chance.choice(PLACES)}
    uri = chance.choice((server.uri, *URIS))
    said: Any = {
        "textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": GOOD},
        "position": place,
        "range": {"start": place, "end": {"line": 0, "character": 0}},
        "context": {"diagnostics": [], "only": ["quickfix"], "triggerKind": 1},
        "contentChanges": [{"range": {"start": place, "end": place}, "text": "x"}],
        "command": chance.choice(("tclint.verify", "tclint.fixAll", "x")),
        "arguments": [uri, place, None],
        "changes": [{"uri": uri, "type": 9}],
        "event": {"added": [{"uri": uri, "name": "x"}], "removed": []},
        "settings": {"tclint": {"select": 1, "scope": []}},
    }
    for _ in range(chance.choice((0, 1, 1, 3))):
        change(said, chance)
    method = chance.choice(ASKED[:17])
    message = {"jsonrpc": "2.0", "method": method, "params": said, "id": chance.randrange(99)}
    if chance.random() < 0.5:
        del message["id"]
    server.say(message)


def documents(server: Server, chance: Random) -> None:
    """Broken programs under odd names, changed backwards."""
    uri = chance.choice(URIS)
    text = broken(chance).decode("utf-8", "replace")
    item = {"uri": uri, "languageId": chance.choice(("python", "x")), "version": 9, "text": text}
    server.notify("textDocument/didOpen", textDocument=item)
    span = {"start": {"line": 9, "character": 9}, "end": {"line": 1, "character": 1}}
    changes = [{"range": span, "text": "\x00"}, {"text": text[: len(text) // 2]}]
    server.notify(
        "textDocument/didChange", textDocument={"uri": uri, "version": 1}, contentChanges=changes
    )
    if chance.random() < 0.7:
        server.notify("textDocument/didClose", textDocument={"uri": uri})


def heads(server: Server, chance: Random) -> None:
    """Heads of messages that make no sense; the connection is closed after them."""
    server.write(
        chance.choice(
            (b"Content-Length: -1\r\n\r\n", b"Content-Length: x\r\n\r\n{}", b"\r\n\r\n\r\n",
             b"Content-Length: 99999999999\r\n\r\n{}", b"GET / HTTP/1.1\r\n\r\n",
             chance.randbytes(5_000), b"Content-Length: 5\r\n\r\n{}", b"X" * 300_000)
        )
    )  # fmt: skip


def lengths(server: Server, chance: Random) -> None:
    """Lengths that no message has, and what they announce: the next message is read again."""
    digits = chance.choice((10, 12, 20, 23, 1_000, 5_000, 100_000))
    body = chance.choice((b"", b"{}", b'{"jsonrpc": "2.0"', chance.randbytes(90), b"\r\n\r\n"))
    server.write(b"Content-Length: " + b"9" * digits + b"\r\n\r\n" + body)


def places(server: Server, chance: Random) -> None:
    """Requests about places that there are not: each is answered, with an error or without."""
    uri = chance.choice((server.uri, *URIS))
    place = {
        "line": chance.choice((-1, 2**31, 2**70, 1.5, None)),
        "character": chance.choice(PLACES),
    }
    method = chance.choice(("hover", "codeAction", "codeLens", "diagnostic"))
    spoken: dict[str, Any] = {"position": place, "range": {"start": place, "end": place}}
    spoken |= {"textDocument": {"uri": uri}, "context": {"diagnostics": []}}
    server.ask(f"textDocument/{method}", **spoken)


SORTS = (
    bodies, methods, params, documents, methods, params, documents, params, methods, heads,
    lengths, places,
)  # fmt: skip
KIND = Kind("garbage", 200, 50, tried)
