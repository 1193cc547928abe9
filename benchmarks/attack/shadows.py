"""Folders whose modules have the names of those that tclint imports: every command meets them.

Promised: the command ``tclint`` imports nothing from the folder that it works on, nor does any
process that it starts before it runs what the user asked it to run. Failures are traps that were
sprung, answers that are missing, and what no run may show.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.attack.command import (
    SECONDS,
    TCLINT,
    Done,
    clean_environment,
    complaints,
    ran,
    words,
)
from benchmarks.attack.kind import Kind, Slice, Tried

NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sum().item()
        return x * y


def make():
    return Net(), (torch.ones(3),), {}
"""
PACKAGES = ("typer", "torch", "tclint", "tclint_rules", "libcst", "mcp", "pygls", "yaml", "numpy")
MODULES = (
    "sitecustomize", "usercustomize", "random", "token", "tokenize", "linecache", "runpy", "json",
    "typing", "ast", "re", "os", "socket", "struct", "selectors", "signal", "tempfile", "pickle",
    "multiprocessing", "importlib", "encodings", "resource", "ctypes", "asyncio", "click", "rich",
    "packaging", "pathspec", "tomllib", "jinja2", "httpx", "pygments", "anyio", "pydantic",
    "mcp_types",
)  # fmt: skip
OTHERS = 12
_NOTIFICATIONS = ("notifications/", "initialized", "textDocument/did", "exit")


@dataclass(frozen=True, slots=True)
class Drill:
    """A command, and what it must print.

    ``messages`` are JSON-RPC requests for a server that speaks it on standard input, each of which
    has to be answered without an error; ``framed`` as an editor does.
    """

    name: str
    arguments: tuple[str, ...]
    shows: str = ""
    messages: tuple[tuple[str, dict[str, Any]], ...] = ()
    framed: bool = False


def set_traps(folder: Path, canary: Path) -> None:
    """Fill a folder with modules that tell the canary of their import, and with programs."""
    for name in (*PACKAGES, *MODULES):
        place = folder / (f"{name}/__init__.py" if name in PACKAGES else f"{name}.py")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"with open({str(canary)!r}, 'a') as f:\n    f.write('{name} ')\n")
    (folder / "tclint" / "__main__.py").write_text("")
    (folder / "net.py").write_text(NET)
    (folder / "tclint.toml").write_text("")
    (folder / "FLEET.toml").write_text('[fleet]\nname = "x"\n[[target]]\nfactory = "net.py:make"\n')
    many = folder / "many"
    many.mkdir()
    for number in range(OTHERS):
        (many / f"m{number}.py").write_text(NET)


def tried(part: Slice) -> Iterator[Tried]:
    """Try the drills; the seed plays no part."""
    for number in part.numbers:
        drill = DRILLS[number % len(DRILLS)]
        folder = part.folder / str(number)
        folder.mkdir(parents=True)
        bad = [*endured(drill, folder)]
        yield Tried(number, drill.name, "\n".join(bad) or None)
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)


def endured(drill: Drill, folder: Path) -> Iterator[str]:
    """Run a command among traps, and say what went wrong."""
    project, canary = folder / "project", folder / "canary"
    set_traps(project, canary)
    (project / "net.py").write_text("")
    git = ["git", "-c", "user.name=e", "-c", "user.email=e@example.org"]
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "one")):
        subprocess.run([*git, *arguments], cwd=project, env=clean_environment(), check=True)
    (project / "net.py").write_text(NET)
    done = asked(drill, project) if drill.messages else ran(*drill.arguments, folder=project)
    yield from complaints(done)
    if drill.shows not in done.out.decode("utf-8", "replace"):
        yield f"it did not show {drill.shows!r}: {words(done.printed)}"
    if canary.exists():
        yield f"it imported {canary.read_text()}"


def asked(drill: Drill, project: Path) -> Done:
    """Hold a session with a server."""
    process = subprocess.Popen(
        [TCLINT, *drill.arguments], cwd=project, env=clean_environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    try:
        for number, (method, params) in enumerate(drill.messages):
            notifies = method.startswith(_NOTIFICATIONS)
            given = {"jsonrpc": "2.0", "method": method, "params": params}
            data = json.dumps(given if notifies else given | {"id": number}).encode()
            head = b"Content-Length: %d\r\n\r\n" % len(data) if drill.framed else b""
            process.stdin.write(head + data + (b"" if drill.framed else b"\n"))
            process.stdin.flush()
            if not notifies:
                answers.append(_answer(process.stdout, number, framed=drill.framed))
        _, err = process.communicate()
    except (BrokenPipeError, ValueError):
        process.kill()
        _, err = process.communicate()
    timed_out = not timer.is_alive()
    timer.cancel()
    lacks = any("result" not in one or (one["result"] or {}).get("isError") for one in answers)
    code = None if timed_out else 2 if lacks and not process.returncode else process.returncode
    return Done(code, json.dumps(answers).encode(), err)


def _answer(stream: IO[bytes], number: int, *, framed: bool) -> dict[str, Any]:
    """The next message that answers a request.

    Raises:
        ValueError: the server has ended.
    """
    while True:
        line = stream.readline()
        if framed and line.lower().startswith(b"content-length"):
            size = int(line.partition(b":")[2])
            while line.strip():
                line = stream.readline()
            line = stream.read(size)
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return dict(message)


def _tool(name: str, **arguments: Any) -> Drill:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}}
    start["clientInfo"] = {"name": "attack", "version": "1"}
    messages = (
        ("initialize", start),
        ("notifications/initialized", {}),
        ("tools/call", {"name": name, "arguments": arguments}),
    )
    shows = {"check": "TCL101", "explain": "TCL101", "why": "TCL101", "propose": "net.py"}[name]
    return Drill(f"mcp {name}", ("mcp", ".", "--read-only"), shows, messages)


_OPENED = {"uri": "file:///net.py", "languageId": "python", "version": 1, "text": NET}
_SERVER = (
    ("initialize", {"processId": None, "capabilities": {}, "rootUri": None}),
    ("initialized", {}),
    ("textDocument/didOpen", {"textDocument": _OPENED}),
    (
        "textDocument/hover",
        {"textDocument": {"uri": "file:///net.py"}, "position": {"line": 5, "character": 14}},
    ),
    ("shutdown", {}),
    ("exit", {}),
)
_RUNS: Sequence[tuple[str, str]] = (
    ("check", "TCL101"),
    ("check --jobs 4 --no-cache", "many/m3.py"),
    ("check --diff-only HEAD", "TCL101"),
    ("check --explain-types net.py:6", "TCL101"),
    ("check --output-format sarif", "TCL101"),
    ("fix --diff --unsafe-fixes", "net.py"),
    ("fix --unsafe-fixes", ""),
    ("rule TCL101", "TCL101"),
    ("rule", "TCL101"),
    ("config", "select"),
    ("upgrade --from 2.6 --to 2.13", ""),
    ("review --dry-run --base HEAD", ""),
    ("trace net.py", ""),
    ("run --compare net.py net.py", ""),
    ("run -- true", ""),
    ("fleet report --store none.sqlite", ""),
    ("clean", ""),
    ("--version", "tclint"),
    ("--help", "check"),
)
DRILLS = (
    *(Drill(f"tclint {line}", tuple(line.split()), shows) for line, shows in _RUNS),
    _tool("check"),
    _tool("explain", rule="TCL101"),
    _tool("why", file="net.py", line=6),
    _tool("propose", unsafe=True),
    Drill("server", ("server",), "", _SERVER, framed=True),
)
KIND = Kind("shadows", len(DRILLS), 4, tried)
