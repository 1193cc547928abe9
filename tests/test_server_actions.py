from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from tclint.diagnostics import Decline, Edit
from tclint.server.abilities import Abilities
from tclint.server.actions import (
    FIX_ALL_KIND,
    Choice,
    Offer,
    edits_of,
    wanted,
)
from tclint.server.analyze import View
from tclint.server.positions import Columns
from tclint.server.rewriting import workspace_edit
from tclint.server.textdiff import line_edits
from tclint.source.file import SourceFile
from tclint.source.ignore_comments import ignore_edit
from tests.server_fake import FakeEngine, analysis_of

PATH = Path("/project/net.py")


def apply(file: SourceFile, edits: tuple[Edit, ...]) -> str:
    text = file.text
    for edit in sorted(edits, reverse=True):
        start, end = file.offset(edit.span.start), file.offset(edit.span.end)
        text = text[:start] + edit.content + text[end:]
    return text


def offered(text: str, only: list[str] | None = None) -> list[types.CodeAction]:
    analysis = analysis_of(text, PATH)
    offer = Offer(analysis, Columns(), Abilities(data=True))
    return list(offer.actions(analysis.reported, only))


def test_a_safe_fix_is_preferred() -> None:
    fix, ignore, explain, fix_all = offered("x = BAD\n")
    assert (fix.title, fix.kind, fix.is_preferred) == ("Be good", "quickfix", True)
    assert ignore.title == "Ignore TCL901 on this line"
    assert explain.command == types.Command(
        "Explain TCL901", "tclint.explain", arguments=["TCL901"]
    )
    assert (fix_all.title, fix_all.kind) == ("Fix all safe tclint problems", FIX_ALL_KIND)


def test_rules_whose_fixes_are_not_wanted_offer_none() -> None:
    analysis = analysis_of("x = BAD\n", PATH)
    config = replace(analysis.config, unfixable=("TCL901",))
    offer = Offer(replace(analysis, config=config), Columns(), Abilities())
    titles = [action.title for action in offer.actions(analysis.reported, None)]
    assert titles == ["Ignore TCL901 on this line", "Explain TCL901"]


def test_an_unsafe_fix_says_so_and_is_not_preferred() -> None:
    fix, *_ = offered("x = WILD\n")
    assert (fix.title, fix.is_preferred) == ("Be good (unsafe)", False)


@pytest.mark.parametrize("word", ["SAD", "SHOWN"])
def test_a_finding_without_a_fix_can_only_be_ignored(word: str) -> None:
    assert [a.title[:6] for a in offered(f"x = {word}\n")] == ["Ignore", "Explai"]


def test_two_findings_of_a_rule_on_a_line_are_ignored_together() -> None:
    titles = [a.title for a in offered("x = BAD + BAD\n")]
    assert titles.count("Ignore TCL901 on this line") == 1
    assert titles.count("Be good") == 2


def test_the_safe_fixes_of_a_rule_can_be_applied_together() -> None:
    assert "Fix all safe TCL901 problems in this file" in [a.title for a in offered("BAD\nBAD\n")]
    assert not any("in this file" in a.title for a in offered("BAD\nWILD\nWILD\n"))


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], ["quickfix"]),
        (["source"], [FIX_ALL_KIND]),
        (["source.fixAll"], [FIX_ALL_KIND]),
        ([FIX_ALL_KIND], [FIX_ALL_KIND]),
        (["source.fixAll.other", "refactor", "sour"], []),
        ([""], ["quickfix", FIX_ALL_KIND]),
    ],
    ids=str,
)
def test_only_the_kinds_that_were_asked_for_are_offered(only: list[str], kinds: list[str]) -> None:
    assert {a.kind for a in offered("x = BAD\n", only)} == set(kinds)
    assert all(wanted(kind, only) for kind in kinds)


def test_a_choice_survives_the_way_to_the_client_and_back() -> None:
    choice = Choice("file:///net.py", 3, "fix", "3:TCL901:1:5:0")
    assert Choice.from_data(choice.data()) == choice
    assert Choice.from_data({"uri": "file:///net.py"}) is None
    assert Choice.from_data(None) is None


def test_the_edits_of_a_fix_come_from_the_server_and_carry_the_version() -> None:
    analysis = analysis_of("s = '😋'; x = BAD\n", PATH, version=7)
    choice = Choice(analysis.document.uri, 7, "fix", analysis.reported[0].id)
    edits = edits_of(FakeEngine(), analysis, choice, View(()))
    assert isinstance(edits, tuple)
    change = workspace_edit(analysis, edits, Columns("utf-16"), versioned=True).document_changes
    assert change == [
        types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(analysis.document.uri, 7),
            [types.TextEdit(types.Range(types.Position(0, 14), types.Position(0, 17)), "GOOD")],
        )
    ]


def test_a_client_that_knows_no_versions_gets_plain_changes() -> None:
    analysis = analysis_of("x = BAD\n", PATH)
    edit = workspace_edit(analysis, (), Columns(), versioned=False)
    assert (edit.changes, edit.document_changes) == ({PATH.as_uri(): []}, None)


def test_a_finding_of_an_earlier_version_is_refused() -> None:
    old, new = analysis_of("x = BAD\n", PATH, 1), analysis_of("x = BAD\n", PATH, 2)
    choice = Choice(new.document.uri, 2, "fix", old.reported[0].id)
    assert edits_of(FakeEngine(), new, choice, View(())) == Decline("the finding is gone")


def test_a_declined_fix_gives_its_reason() -> None:
    analysis = analysis_of("x = SAD\n", PATH)
    choice = Choice(analysis.document.uri, 1, "fix", analysis.reported[0].id)
    assert edits_of(FakeEngine(), analysis, choice, View(())) == Decline("it is too sad")


def test_fix_all_edits_only_the_lines_that_change() -> None:
    text = "a = BAD\nb = 1\nc = BAD\n"
    analysis = analysis_of(text, PATH)
    choice = Choice(analysis.document.uri, 1, "fix-all")
    edits = edits_of(FakeEngine(), analysis, choice, View((analysis.document,)))
    assert isinstance(edits, tuple)
    assert [e.span.start.row for e in edits] == [1, 3]
    assert apply(analysis.file, edits) == text.replace("BAD", "GOOD")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb", "a\nb\nc"),
        ("", "a\n"),
        ("a\n", ""),
        ("a\r\nb\r\n", "x\r\na\r\nb\r\n"),
        ("a\na\na\n", "a\nb\na\n"),
        ("a", "a\n"),
        ("same\n", "same\n"),
    ],
)
def test_line_edits_turn_one_text_into_the_other(before: str, after: str) -> None:
    file = SourceFile.from_text(PATH, before)
    assert apply(file, line_edits(file, after)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "x = 1  # tclint: ignore[TCL101]\n"),
        ("x = 1\r\n", "x = 1  # tclint: ignore[TCL101]\r\n"),
        ("x = 1", "x = 1  # tclint: ignore[TCL101]"),
        ("x = 1  # one\n", "x = 1  # one  # tclint: ignore[TCL101]\n"),
        (
            "x = 1  # tclint: ignore[TCL205]\n",
            "x = 1  # tclint: ignore[TCL205, TCL101]\n",
        ),
        ("x = (\n    1\n)\n", "x = (\n    1\n)  # tclint: ignore[TCL101]\n"),
        ("x = '''\n'''\n", "x = '''\n'''  # tclint: ignore[TCL101]\n"),
        ("x = 1 + \\\n    2\n", "x = 1 + \\\n    2  # tclint: ignore[TCL101]\n"),
        ("if x:\n    y = 1\n", "if x:  # tclint: ignore[TCL101]\n    y = 1\n"),
    ],
)
def test_ignoring_puts_a_comment_behind_the_statement(before: str, after: str) -> None:
    file = SourceFile.from_text(PATH, before)
    edit = ignore_edit(file, ["TCL101"], 1)
    assert isinstance(edit, Edit)
    assert apply(file, (edit,)) == after


@pytest.mark.parametrize("text", ["x = (\n", "x = 'a\n", "\n"])
def test_what_python_cannot_read_is_not_ignored(text: str) -> None:
    assert isinstance(ignore_edit(SourceFile.from_text(PATH, text), "TCL001", 1), Decline)
