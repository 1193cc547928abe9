from pathlib import Path

import pytest
from lsprotocol import types

from tclint.diagnostics import Effect
from tclint.server.abilities import Abilities
from tclint.server.analyze import View, analyze
from tclint.server.convert import severity, to_lsp
from tclint.server.document import Document, document_path
from tclint.server.hover import finding_text
from tclint.server.positions import Columns
from tests.server_fake import FakeEngine, analysis_of

PATH = Path("/project/net.py")
EVERYTHING = Abilities(related=True, tags=True, links=True, data=True)


@pytest.mark.parametrize(
    ("effect", "weak", "expected"),
    [
        (Effect.INVALID, False, "Error"),
        (Effect.INVALID, True, "Warning"),
        (Effect.GRAPH_BREAK, False, "Warning"),
        (Effect.GRAPH_BREAK, True, "Information"),
        (Effect.RECOMPILE, False, "Warning"),
        (Effect.HOST_SYNC, False, "Information"),
        (Effect.HOST_SYNC, True, "Hint"),
        (Effect.COLD_START, True, "Hint"),
    ],
)
def test_severity_follows_the_effect(effect: Effect, weak: bool, expected: str) -> None:
    assert severity(effect, weak=weak).name == expected


@pytest.mark.parametrize("effect", Effect)
def test_every_effect_has_a_severity(effect: Effect) -> None:
    assert severity(effect, weak=False) in types.DiagnosticSeverity


def test_a_diagnostic_says_where_what_and_how_it_was_reached() -> None:
    analysis = analysis_of("x = BAD\n", PATH, version=4)
    diagnostic = to_lsp(analysis, analysis.reported[0], Columns(), EVERYTHING)
    assert diagnostic.range == types.Range(types.Position(0, 4), types.Position(0, 7))
    assert (diagnostic.source, diagnostic.code) == ("tclint", "TCL901")
    assert diagnostic.code_description == types.CodeDescription("https://example.org/TCL901")
    assert diagnostic.data == {"id": "4:TCL901:1:5:0"}
    related = diagnostic.related_information or []
    assert [(r.location.uri, r.location.range.start.line) for r in related] == [
        ("file:///project/net.py", 89),
        ("file:///project/other.py", 6),
    ]


def test_a_client_that_supports_nothing_is_told_the_least() -> None:
    analysis = analysis_of("x = BAD\n", PATH)
    diagnostic = to_lsp(analysis, analysis.reported[0], Columns(), Abilities())
    assert (diagnostic.related_information, diagnostic.code_description) == (None, None)
    assert (diagnostic.data, diagnostic.tags) == (None, None)


def test_findings_keep_their_ids_while_the_version_stays() -> None:
    first, second = analysis_of("BAD BAD\n", PATH), analysis_of("BAD BAD\n", PATH)
    ids = [r.id for r in first.reported]
    assert ids == [r.id for r in second.reported]
    assert len(set(ids)) == 2
    assert not analysis_of("BAD BAD\n", PATH, version=2).find(ids)


def test_other_open_documents_are_part_of_the_analysis(tmp_path: Path) -> None:
    engine = FakeEngine()
    mine = Document("file:///a.py", tmp_path / "a.py", 1, "x = 1\n")
    other = Document("file:///b.py", tmp_path / "b.py", 1, "y = BAD\n")
    checked = analyze(engine, mine, View((mine, other)))
    assert checked[mine.uri].reported == ()
    assert checked[other.uri].reported
    assert engine.overlays == [{mine.path: "x = 1\n", other.path: "y = BAD\n"}]


def test_excluded_files_have_no_findings(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("x = BAD\n")
    assert analysis_of("x = BAD\n", path, engine=FakeEngine(excluded=True)).reported == ()
    assert analysis_of("x = BAD\n", path, engine=FakeEngine()).reported


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/n%C3%A4t.py", "/a b/nät.py"),
        ("untitled:Untitled-1", "/home/me/Untitled-1.py"),
        ("untitled:/tmp/new.py", "/home/me/new.py"),
        ("vscode-vfs://github/a/b.py", "/home/me/b.py"),
    ],
)
def test_every_document_has_a_path(uri: str, path: str) -> None:
    assert document_path(uri, Path("/home/me")) == Path(path)


@pytest.mark.parametrize(
    "uri", [f"file:///{'x' * 9_000}.py", f"untitled:{'x' * 9_000}", "file:///a%00b.py"]
)
def test_a_document_whose_name_no_file_can_have_counts_as_never_saved(
    uri: str, tmp_path: Path
) -> None:
    assert document_path(uri, tmp_path) == tmp_path / "untitled.py"


GB = "[GB0059](https://meta-pytorch.org/compile-graph-break-site/gb/gb0059.html)"


def test_hover_tells_what_to_do_instead_and_why_there_is_no_fix() -> None:
    text = finding_text(analysis_of("BAD SAD\n", PATH).reported)
    assert text == (
        f"**TCL901** `bad-word`: graph-break ({GB})\n\n`BAD` is bad\n\n"
        "Instead: Be good (`tclint fix`)\n\n"
        "Page: `tclint rule TCL901`, https://example.org/TCL901\n\n---\n\n"
        f"**TCL904** `bad-word`: graph-break ({GB})\n\n`SAD` is bad\n\n"
        "Instead: Be good (no fix: it is too sad)\n\n"
        "Page: `tclint rule TCL904`, https://example.org/TCL901"
    )
