"""What the real server does for clients that can do much, and for those that can do nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server_process import capable, carried_out, changed, offered, opened, play, reported

if TYPE_CHECKING:
    from pytest_lsp import LanguageClient

pytestmark = pytest.mark.usefixtures("copied_servers")

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        s = "ä😋"; y = x.sum().item()
        print(s)
        print(y)
        return x * y
"""
HELPER = "def scale(x):\n    return x * {}\n"
CALLER = """\
import torch
from helper import scale


@torch.compile
def f(x: torch.Tensor):
    return scale(x)
"""
PULL = types.DiagnosticClientCapabilities(related_document_support=True)


def codes(found: Any) -> list[str]:
    return [str(diagnostic.code) for diagnostic in found]


def identifier(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


def test_a_finding_says_where_it_is_reached_from_and_what_to_do_instead(
    tmp_path: Path,
) -> None:
    caller, helper = (tmp_path / name for name in ("caller.py", "helper.py"))
    caller.write_text(CALLER)
    helper.write_text(HELPER.format("x.sum().item()"))

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(helper.as_uri(), helper.read_text()))
        (found,) = await reported(client, helper.as_uri())
        (related,) = found.related_information or []
        assert related.location.uri == caller.as_uri()
        assert related.location.range.start.line == 6
        assert "\nInstead: Keep the value on the device as a 0-d tensor" in found.message
        assert found.code_description is not None
        assert found.code_description.href.endswith("/item_in_compiled_region.md")

    play(tmp_path, scene=scene)


def test_a_comment_that_silences_nothing_is_marked_as_unnecessary(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, "x = 1  # tclint: ignore[TCL101]\n"))
        (found,) = await reported(client)
        assert list(found.tags or ()) == [types.DiagnosticTag.Unnecessary]

    play(tmp_path, scene=scene)


def test_findings_elsewhere_follow_when_a_helper_changes(tmp_path: Path) -> None:
    caller, helper = (tmp_path / name for name in ("caller.py", "helper.py"))
    helper.write_text(HELPER.format("2"))

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(helper.as_uri(), HELPER.format("2")))
        assert await reported(client, helper.as_uri()) == []
        client.text_document_did_open(opened(caller.as_uri(), CALLER))
        assert await reported(client, caller.as_uri()) == []
        text = HELPER.format("x.sum().item()")
        client.text_document_did_change(changed(helper.as_uri(), 2, text))
        (found,) = await reported(client, helper.as_uri())
        assert found.code == "TCL101"
        unused = CALLER.replace("@torch.compile", "")
        client.text_document_did_change(changed(caller.as_uri(), 2, unused))
        assert await reported(client, helper.as_uri()) == []

    play(tmp_path, scene=scene)


def test_a_client_may_ask_for_findings(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        first = await client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(identifier(uri))
        )
        assert isinstance(first, types.RelatedFullDocumentDiagnosticReport)
        assert "TCL101" in codes(first.items)
        again = await client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(identifier(uri), previous_result_id=first.result_id)
        )
        assert isinstance(again, types.RelatedUnchangedDocumentDiagnosticReport)
        client.text_document_did_change(changed(uri, 2, "x = 1\n"))
        last = await client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(identifier(uri), previous_result_id=first.result_id)
        )
        assert isinstance(last, types.RelatedFullDocumentDiagnosticReport)
        assert list(last.items) == []
        assert client.diagnostics == {}

    play(tmp_path, scene=scene, capabilities=capable(diagnostic=PULL))


def test_the_workspace_can_be_asked_for(tmp_path: Path) -> None:
    net = tmp_path / "net.py"
    net.write_text(NET)

    async def scene(client: LanguageClient) -> None:
        report = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
        (item,) = report.items
        assert isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
        assert (item.uri, "TCL101" in codes(item.items)) == (net.as_uri(), True)
        known = [types.PreviousResultId(item.uri, item.result_id or "")]
        (again,) = (
            await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(known))
        ).items
        assert isinstance(again, types.WorkspaceUnchangedDocumentDiagnosticReport)
        net.write_text("x = 1\n")
        (last,) = (
            await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(known))
        ).items
        assert isinstance(last, types.WorkspaceFullDocumentDiagnosticReport)
        assert list(last.items) == []

    options = {"diagnosticMode": "workspace"}
    play(tmp_path, scene=scene, capabilities=capable(diagnostic=PULL), options=options)


def test_files_that_are_not_open_are_reported_where_the_settings_ask_for_it(
    tmp_path: Path,
) -> None:
    net, other = tmp_path / "net.py", tmp_path / "other.py"
    net.write_text(NET)

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(other.as_uri(), "x = 1\n"))
        found = await reported(client, net.as_uri())
        assert "TCL101" in codes(found)

    play(tmp_path, scene=scene, options={"diagnosticMode": "workspace"})


def test_all_fixes_of_a_rule_and_all_safe_fixes(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        found = await reported(client)
        printed = next(d for d in found if d.code == "TCL120")
        actions = {action.title: action for action in await offered(client, uri, printed)}
        rule = actions["Fix all safe TCL120 problems in this file"]
        edit = (await client.code_action_resolve_async(rule)).edit
        after = carried_out(NET, edit, uri)
        client.text_document_did_change(changed(uri, 2, after))
        assert "TCL120" not in codes(await reported(client))
        compile(after, "net.py", "exec")
        client.text_document_did_change(changed(uri, 3, NET))
        await reported(client)
        everything = await client.text_document_code_action_async(
            types.CodeActionParams(
                identifier(uri),
                types.Range(types.Position(0, 0), types.Position(0, 0)),
                types.CodeActionContext([], only=["source.fixAll"]),
            )
        )
        (all_safe,) = everything or []
        assert isinstance(all_safe, types.CodeAction)
        edit = (await client.code_action_resolve_async(all_safe)).edit
        client.text_document_did_change(changed(uri, 4, carried_out(NET, edit, uri)))
        assert "TCL120" not in codes(await reported(client))

    play(tmp_path, scene=scene)


def test_a_rule_is_explained(tmp_path: Path) -> None:
    async def scene(client: LanguageClient) -> None:
        page = await client.workspace_execute_command_async(
            types.ExecuteCommandParams("tclint.explain", ["TCL101"])
        )
        assert isinstance(page, str)
        assert page.startswith("# item-in-compiled-region (TCL101)")
        assert client.messages[-1].message.startswith("TCL101: ")
        with pytest.raises(JsonRpcException, match="no rule has the code"):
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams("tclint.explain", ["TCL999999"])
            )

    play(tmp_path, scene=scene)


@pytest.mark.parametrize(
    ("row", "word", "said"),
    [
        (6, "x.sum", "`x`: tensor"),
        (8, "y)", "read from a tensor"),
        (9, "TCL101", "# item-in-compiled-region (TCL101)"),
        (6, "x.sum().item", "**TCL101**"),
    ],
    ids=["a name", "a number from the device", "a code", "a finding"],
)
def test_hover(tmp_path: Path, row: int, word: str, said: str) -> None:
    uri = (tmp_path / "net.py").as_uri()
    text = NET.replace("return x * y", "return x * y  # noqa: TCL101")
    if not said.startswith("**"):
        text = text.replace("y = x.sum().item()", "y = x.sum().item()  # tclint: ignore")
        text = text.replace("print(y)", "print(y)  # tclint: ignore")

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, text))
        await reported(client)
        line = text.splitlines()[row]
        column = len(line[: line.index(word)].encode("utf-16-le")) // 2
        hover = await client.text_document_hover_async(
            types.HoverParams(identifier(uri), types.Position(row, column))
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert said in hover.contents.value

    play(tmp_path, scene=scene)


COMPILED = """\
import torch


def shown(x: torch.Tensor):
    print(x)
    return x * x.max().item()


fast = torch.compile(shown)
"""


def test_a_lens_tells_where_a_function_is_compiled_and_how_often_it_breaks(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(COMPILED)

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(path.as_uri(), COMPILED))
        params = types.CodeLensParams(identifier(path.as_uri()))
        (one,) = await client.text_document_code_lens_async(params) or []
        assert one.command is not None
        assert one.range.start.line == 3
        assert one.command.title == "Compiled at net.py:9: 2 graph breaks in this file"
        assert not one.command.command, "there is nothing to run"

    play(tmp_path, scene=scene)


def cells(*texts: str) -> types.DidOpenNotebookDocumentParams:
    uris = [f"vscode-notebook-cell:/net.ipynb#{number}" for number in range(len(texts))]
    kind = types.NotebookCellKind.Code
    return types.DidOpenNotebookDocumentParams(
        types.NotebookDocument(
            uri="file:///nowhere/net.ipynb",
            notebook_type="jupyter-notebook",
            version=1,
            cells=[types.NotebookCell(kind, uri) for uri in uris],
        ),
        [
            types.TextDocumentItem(uri, "python", 1, text)
            for uri, text in zip(uris, texts, strict=True)
        ],
    )


def test_notebooks_are_checked_and_fixed_cell_by_cell() -> None:
    first, *rest = NET.partition("class Net")
    rest_text = "".join(rest)

    async def scene(client: LanguageClient) -> None:
        client.notebook_document_did_open(cells("%matplotlib inline\n" + first, rest_text))
        uri = "vscode-notebook-cell:/net.ipynb#1"
        found = await reported(client, uri)
        assert "TCL101" in codes(found)
        printed = next(d for d in found if d.code == "TCL120")
        assert printed.range.start.line == 3
        fix = (await offered(client, uri, printed))[0]
        after = carried_out(rest_text, (await client.code_action_resolve_async(fix)).edit, uri)
        assert "is_compiling()" in after
        assert not client.diagnostics["vscode-notebook-cell:/net.ipynb#0"]
        item = types.VersionedTextDocumentIdentifier(2, uri)
        whole = types.TextDocumentContentChangeWholeDocument(after)
        content = types.NotebookDocumentCellContentChanges(item, [whole])
        client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(2, "file:///nowhere/net.ipynb"),
                types.NotebookDocumentChangeEvent(
                    cells=types.NotebookDocumentCellChanges(text_content=[content])
                ),
            )
        )
        assert codes(await reported(client, uri)).count("TCL120") == 1

    play(scene=scene)


def test_each_folder_has_its_own_configuration_and_settings(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    for folder in (one, two, three):
        folder.mkdir()
    (one / "tclint.toml").write_text('ignore = ["TCL1"]\n')
    settings = {two.as_uri(): {"configuration": {"select": ["TCL120"]}}, "": {}}

    async def scene(client: LanguageClient) -> None:
        said = {}
        for folder in (one, two, three):
            uri = (folder / "net.py").as_uri()
            client.text_document_did_open(opened(uri, NET))
            said[folder] = set(codes(await reported(client, uri)))
        assert not {"TCL101", "TCL120"} & said[one]
        assert said[two] == {"TCL120"}
        assert said[three] >= {"TCL101", "TCL120"}

    workspace = types.WorkspaceClientCapabilities(configuration=True, workspace_folders=True)
    play(
        one, two, three,
        scene=scene, configuration=settings, capabilities=capable(workspace=workspace),
    )  # fmt: skip


def test_a_configuration_that_changes_holds_from_then_on(tmp_path: Path) -> None:
    uri, file = (tmp_path / "net.py").as_uri(), tmp_path / "tclint.toml"
    file.touch()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        assert "TCL101" in codes(await reported(client))
        assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in client.registered  # type: ignore[attr-defined]
        file.write_text('ignore = ["TCL101"]\n')
        event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert "TCL101" not in codes(await reported(client))
        file.write_text("nonsense = 1\n")
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        params = await client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)
        assert "nonsense" in params.message

    watches = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watches)
    play(tmp_path, scene=scene, capabilities=capable(workspace=workspace))


def test_unknown_settings_are_told_once(tmp_path: Path) -> None:
    async def scene(client: LanguageClient) -> None:
        params = await client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)
        assert params.message.startswith("tclint: settings: there is no 'codeLen'")

    play(tmp_path, scene=scene, options={"codeLen": True})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_partial_changes_and_places_in_each_encoding(tmp_path: Path, encoding: str) -> None:
    uri = (tmp_path / "net.py").as_uri()
    unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if unit == 1 else f"{encoding}-le"

    def units(text: str) -> int:
        return len(text.encode(codec)) // unit

    line = NET.splitlines()[6]

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        found = next(d for d in await reported(client) if d.code == "TCL101")
        start = units(line[: line.index("x.sum")])
        assert (found.range.start.line, found.range.start.character) == (6, start)
        assert found.range.end.character == units(line)
        area = types.Range(found.range.start, types.Position(6, units(line)))
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, uri),
                [types.TextDocumentContentChangePartial(area, "1")],
            )
        )
        assert "TCL101" not in codes(await reported(client))

    general = types.GeneralClientCapabilities(
        position_encodings=[types.PositionEncodingKind(encoding)]
    )
    play(tmp_path, scene=scene, capabilities=capable(general=general))


def test_findings_stay_outside_of_a_function_that_cannot_be_read(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()
    text = NET + "\n    def other(self, x):\n        return x.tolist()\n"
    above = "\n\ndef last(x):\n    return x\n"

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, text + above))
        before = await reported(client)
        assert "TCL101" in codes(before)
        broken = text + above.replace("return x", "y = (\n    return x")
        client.text_document_did_change(changed(uri, 2, broken))
        during = await reported(client)
        assert codes(during)[0] == "TCL001"
        assert [(d.code, d.range) for d in during[1:]] == [(d.code, d.range) for d in before]
        inside = (text + above).replace("print(s)", "print(s")
        client.text_document_did_change(changed(uri, 3, inside))
        assert "TCL101" not in codes(await reported(client))
        client.text_document_did_change(changed(uri, 4, text + above))
        assert codes(await reported(client)) == codes(before)

    play(tmp_path, scene=scene)


def test_a_client_that_supports_nothing_optional_is_served(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        found = next(d for d in await reported(client) if d.code == "TCL101")
        assert (found.data, found.code_description, found.tags) == (None, None, None)
        actions = await client.text_document_code_action_async(
            types.CodeActionParams(identifier(uri), found.range, types.CodeActionContext([found]))
        )
        assert [a.command for a in actions or []] == ["tclint.explain"]

    play(tmp_path, scene=scene, capabilities=types.ClientCapabilities())


def test_a_storm_of_changes_ends_with_what_holds_then(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        for version in range(2, 300):
            text = NET if version % 2 else NET.replace(".item()", "")
            client.text_document_did_change(changed(uri, version, "\n" * version + text))
        rows: list[int] = []
        while 299 + 6 not in rows:
            found = await reported(client)
            rows = [d.range.start.line for d in found if d.code == "TCL101"]

    play(tmp_path, scene=scene)


def test_a_file_outside_of_the_workspace_is_checked(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    uri = (outside / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        assert "TCL101" in codes(await reported(client))

    play(inside, scene=scene)


def test_a_server_that_was_killed_can_be_started_again(tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()

    async def scene(client: LanguageClient) -> None:
        client.text_document_did_open(opened(uri, NET))
        assert "TCL101" in codes(await reported(client))

    for _ in range(2):
        play(tmp_path, scene=scene)
