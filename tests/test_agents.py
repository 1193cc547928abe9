"""The server for coding agents, spoken to by the official client."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tclint.agents import answers, commands
from tests.cli_runs import BREAKS
from tests.copied_command import python_of_copies

# Its package takes a second to import, and may be missing: each test that needs it asks for it.


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A server of the protocol's package sets up the logging of its process."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(BREAKS)
    return tmp_path


def client_of(server: Any) -> Any:
    """A client of the official package that talks to a server."""
    return pytest.importorskip("mcp.client.client").Client(server)


def server_of(folder: Path, *, runs_code: bool = True) -> Any:
    pytest.importorskip("mcp")
    from tclint.agents.server import make_server

    return make_server(folder, runs_code=runs_code)


def call(folder: Path, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether a tool says that it failed, and what it says."""

    async def ask() -> tuple[bool, str]:
        async with client_of(server_of(folder)) as client:
            result = await client.call_tool(tool, arguments)
            return bool(result.is_error), result.content[0].text  # type: ignore[union-attr]

    return asyncio.run(ask())


def asked(folder: Path, tool: str, **arguments: Any) -> Any:
    failed, text = call(folder, tool, **arguments)
    assert not failed, text
    return json.loads(text)


async def _names(server: Any) -> list[str]:
    async with client_of(server) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


def test_the_tools_are_those_that_the_documentation_names(tmp_path: Path) -> None:
    page = Path("docs/agents.md").read_text(encoding="utf-8")
    names = asyncio.run(_names(server_of(tmp_path)))
    assert names == ["check", "explain", "why", "propose", "trace", "verify"]
    assert all(f"`{name}`" in page for name in names)


def test_a_server_that_only_reads_has_no_tool_that_runs_code(tmp_path: Path) -> None:
    assert "verify" not in asyncio.run(_names(server_of(tmp_path, runs_code=False)))


def test_check_names_each_line_and_what_to_do(project: Path) -> None:
    told = asked(project, "check", paths=["net.py"])
    (finding,) = told["findings"]
    assert finding["place"] == "net.py:6:17"
    assert finding["code"] == "TCL101"
    assert finding["fix"].startswith("unsafe, behaviour: ")
    assert (told["total"], told["shown"]) == (1, 1)


def test_check_shows_as_many_as_were_asked_for(project: Path) -> None:
    (project / "more.py").write_text(BREAKS)
    told = asked(project, "check", limit=1)
    assert (told["total"], told["shown"], len(told["findings"])) == (2, 1, 1)


def test_propose_gives_diffs_and_writes_nothing(project: Path) -> None:
    assert asked(project, "propose", paths=["."])["patches"] == []
    (patch,) = asked(project, "propose", paths=["."], unsafe=True)["patches"]
    assert patch["file"] == "net.py"
    assert "-        scale = x.sum().item()\n" in patch["diff"]
    assert (project / "net.py").read_text() == BREAKS


def test_a_rule_and_a_line_are_explained(project: Path) -> None:
    assert call(project, "explain", rule="TCL101")[1].startswith("# item-in-compiled-region")
    assert (
        "TCL101 item-in-compiled-region  reported" in call(project, "why", file="net.py", line=6)[1]
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("check", {"paths": ["../net.py"]}, "outside of"),
        ("check", {"paths": ["/etc/passwd"]}, "outside of"),
        ("propose", {"paths": ["gone.py"]}, "gone.py is not there"),
        ("explain", {"rule": "TCL99999"}, "unknown rule"),
        ("explain", {"rule": "--all"}, "unknown rule"),
        ("trace", {"path": "net.py"}, "net.py"),
        ("check", {"limit": 10_000}, "limit"),
        ("check", {"paths": ["a\0b"]}, "no file can have that name"),
        ("check", {"paths": ["\ud800"]}, "no file can have that name"),
        ("check", {"paths": ["a" * 300]}, "is not there"),
        ("check", {"paths": ["loop"]}, "is not there"),
        ("check", {"select": ["\0"]}, "cannot be run"),
        ("check", {"select": ["--help"]}, "no rule has the code"),
        ("explain", {"rule": "x" * 300_000}, "cannot be run"),
        ("explain", {"rule": "\ud800"}, "cannot be run"),
        ("why", {"file": "net.py", "line": 10**30}, "expected FILE:LINE"),
        ("trace", {"path": "pipe"}, "pipe: it is not a regular file"),
        ("propose", {"paths": ["net.py:1"]}, "is not there"),
    ],
)
def test_what_cannot_be_done_is_said(
    project: Path, tool: str, arguments: dict[str, Any], told: str
) -> None:
    (project / "loop").symlink_to("loop")
    os.mkfifo(project / "pipe")
    failed, text = call(project, tool, **arguments)
    assert failed
    assert told in text


def test_a_link_out_of_the_folder_is_not_followed(project: Path, tmp_path_factory: Any) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.py"
    secret.write_text("password = 1\n")
    (project / "link.py").symlink_to(secret)
    assert call(project, "check", paths=["link.py"]) == (
        True,
        f"Error executing tool check: link.py is outside of {project}, where this server works",
    )


def test_a_long_diff_is_cut_between_files() -> None:
    def diff(name: str) -> str:
        return f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{'x' * 40_000}\n+y\n"

    told = answers.patches(diff("a.py") + diff("b.py"))
    assert [patch["file"] for patch in told["patches"]] == ["a.py"]
    assert told["left_out"] == ["b.py"]
    assert answers.patches("") == {"patches": []}


def _arguments(folder: Path) -> Sequence[str]:
    return ["-m", "tclint", "mcp", str(folder)]


def test_the_command_speaks_on_standard_input(project: Path) -> None:
    async def ask() -> str:
        stdio = pytest.importorskip("mcp.client.stdio")
        how = stdio.StdioServerParameters(command=sys.executable, args=[*_arguments(project)])
        async with client_of(stdio.stdio_client(how)) as client:
            result = await client.call_tool("check", {})
            return result.content[0].text  # type: ignore[union-attr]

    assert json.loads(asyncio.run(ask()))["total"] == 1


@pytest.mark.slow(seconds=20)
def test_verify_compiles_and_tells_the_breaks(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = python_of_copies(tmp_path_factory.mktemp("bin"))
    monkeypatch.setattr(commands, "module_command", lambda *rest: (str(python), "-m", *rest))
    made = "\n\ndef make():\n    return Net(), (torch.ones(3),), {}\n"
    prints = BREAKS.replace("scale = x.sum().item()", "print(x)").replace("x * scale", "x + 1")
    (project / "net.py").write_text(prints + made)
    told = asked(project, "verify", target="net.py:make", fixed=True)
    before, after = told["arms"]
    assert before["graph_breaks"] == 1
    assert before["breaks"][0].startswith("net.py:6: GB0059")
    assert (after["graph_breaks"], told["results"]) == (0, "identical")
