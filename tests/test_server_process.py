"""The real server in a process of its own, talked to over its standard streams.

It is spawned for the first test and for what it logs; the others are content with copies.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient, client_capabilities

from tests.server_process import carried_out, changed, offered, opened, play, reported

NEOVIM = client_capabilities("neovim@v0.7.0")
PRINTS = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("ä😋")
        return x * 2
"""
CLEAN = PRINTS.replace('        print("ä😋")\n', "")
READS = PRINTS.replace('print("ä😋")', 'y = ("ä😋", x.sum().item())')
BROKEN = "def f(:\n    print(1)\n"


def test_a_print_in_forward_is_reported_fixed_and_gone(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, PRINTS))
        (diagnostic,) = await reported(client)
        assert diagnostic.source == "tclint"
        assert diagnostic.range.start == types.Position(6, 8)
        fix = (await offered(client, uri, diagnostic))[0]
        assert fix.kind == types.CodeActionKind.QuickFix
        resolved = await client.code_action_resolve_async(fix)
        after = carried_out(PRINTS, resolved.edit, uri)
        compile(after, "net.py", "exec")
        client.text_document_did_change(changed(uri, 2, after))
        assert await reported(client) == []

    play(tmp_path, scene=scene, capabilities=NEOVIM)


@pytest.mark.usefixtures("copied_servers")
def test_columns_behind_an_emoji_are_in_utf_16_where_nothing_was_agreed(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, READS))
        (diagnostic,) = await reported(client)
        line = READS.splitlines()[diagnostic.range.start.line].encode("utf-16-le")
        first, last = diagnostic.range.start.character, diagnostic.range.end.character
        assert line[first * 2 : last * 2].decode("utf-16-le") == "x.sum().item()"

    play(tmp_path, scene=scene, capabilities=NEOVIM)


@pytest.mark.usefixtures("copied_servers")
def test_an_action_for_an_older_version_is_refused(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, PRINTS))
        (diagnostic,) = await reported(client)
        action = (await offered(client, uri, diagnostic))[0]
        client.text_document_did_change(changed(uri, 2, "\n" + PRINTS))
        with pytest.raises(JsonRpcException, match="has changed"):
            await client.code_action_resolve_async(action)

    play(tmp_path, scene=scene, capabilities=NEOVIM)


@pytest.mark.usefixtures("copied_servers")
def test_ignoring_a_finding_silences_it(tmp_path: Path) -> None:
    uri = "untitled:Untitled-1"

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, PRINTS))
        (diagnostic,) = await reported(client)
        actions = await offered(client, uri, diagnostic)
        ignore = next(a for a in actions if a.title.startswith("Ignore"))
        resolved = await client.code_action_resolve_async(ignore)
        after = carried_out(PRINTS, resolved.edit, uri)
        assert f"# tclint: ignore[{diagnostic.code}]\n" in after
        client.text_document_did_change(changed(uri, 2, after))
        assert await reported(client) == []

    play(tmp_path, scene=scene, capabilities=NEOVIM)


@pytest.mark.usefixtures("copied_servers")
def test_a_file_that_does_not_parse_reports_that_place_only(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, BROKEN))
        (diagnostic,) = await reported(client)
        assert (diagnostic.code, diagnostic.range.start.line) == ("TCL001", 0)
        assert await offered(client, uri, diagnostic) == []
        client.text_document_did_change(changed(uri, 2, CLEAN))
        assert await reported(client) == []

    play(tmp_path, scene=scene, capabilities=NEOVIM)


def test_a_faulty_configuration_is_logged(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()
    (tmp_path / "tclint.toml").write_text("nonsense = 1\n")

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, PRINTS))
        params = await client.wait_for_notification(types.WINDOW_LOG_MESSAGE)
        assert "nonsense" in params.message
        assert client.diagnostics == {}

    play(tmp_path, scene=scene, capabilities=NEOVIM)


@pytest.mark.usefixtures("copied_servers")
def test_hover_tells_what_the_rule_is_about(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, PRINTS))
        (diagnostic,) = await reported(client)
        hover = await client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), diagnostic.range.start)
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.value.startswith(f"**{diagnostic.code}**")

    play(tmp_path, scene=scene, capabilities=NEOVIM)
