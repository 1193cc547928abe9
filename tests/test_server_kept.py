"""What the server keeps between edits: trees of statements, findings of the last good text."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.config import Config, ConfigError
from tclint.server.document import Document
from tclint.server.settings import Settings, read_settings
from tclint.server.splice import reparsed
from tclint.server.stale_findings import outside
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tests.server_fake import analysis_of

PATH = Path("/project/net.py")
TEXT = '''\
"""Doc."""
import os


@decorated(
    1,
)
def f(x):
    return x  # here


class A:
    def g(self):
        return """
        text
        """


x = 1; y = 2
z = 3
'''


def source(text: str) -> SourceFile:
    return SourceFile.from_text(PATH, text)


def again(before: str, after: str) -> ast.Module | None:
    return reparsed(source(before), parse(source(before)), source(after))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x  # here", "return x.item()  # there"),
        ("    1,", "    2,"),
        ("import os", "import io"),
        ("        text", "        ä😋"),
        ("z = 3", "def h(): pass"),
        ('"""Doc."""', "# Doc."),
        ("def g(self):", "def ggg(self): "),
    ],
)
def test_an_edited_statement_is_parsed_and_the_others_stay(old: str, new: str) -> None:
    before, after = source(TEXT), source(TEXT.replace(old, new))
    kept = parse(before)
    tree = reparsed(before, kept, after)
    assert tree is not None
    assert ast.dump(tree, include_attributes=True) == ast.dump(
        parse(after), include_attributes=True
    )
    assert {*map(id, tree.body)} & {*map(id, kept.body)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEXT, TEXT + "a = 1\n"),
        (TEXT, TEXT.replace("z = 3", "z = (")),
        (TEXT, TEXT.replace("x = 1; y = 2", "x = 1; y = 3")),
        (TEXT, TEXT.replace("z = 3", '"""')),
        ("x = 1 \\\n\n", "x = 1 \\\n+ 2\n"),
        ("if a:\n    b\n\nc\n", "if a:\n    b\nelse: d\nc\n"),
        ("if a:\n    b\n\nc\n", "if a:\n    b\n    d\nc\n"),
        ("a\n\nb\n", "a\n@c\nb\n"),
        (TEXT, TEXT),
    ],
)
def test_what_reaches_beyond_a_statement_is_not_spliced(before: str, after: str) -> None:
    tree = again(before, after)
    if tree is not None:
        assert ast.dump(tree, include_attributes=True) == ast.dump(
            parse(source(after)), include_attributes=True
        )


GOOD = "def f():\n    BAD\n\n\ndef g():\n    BAD\n    x = 1\n\n\nBAD\n"


@pytest.mark.parametrize(
    ("after", "rows"),
    [
        (GOOD.replace("x = 1", "x = ("), [2, 10]),
        (GOOD.replace("x = 1", "x = (\n    y"), [2, 11]),
        (GOOD.replace("    x = 1\n", ""), [2, 9]),
        (GOOD.replace("x = 1\n", "x = 1\n    y = (\n"), [2, 11]),
        (GOOD.replace("def f():\n", "def f(:\n"), [6, 10]),
        ("(\n" + GOOD, [3, 7, 11]),
    ],
    ids=["a line", "more lines", "fewer lines", "behind the last", "a header", "above all"],
)
def test_findings_outside_of_the_edited_function_stay(after: str, rows: list[int]) -> None:
    good = analysis_of(GOOD, PATH)
    kept = [*outside(good, source(after))]
    assert [result.diagnostic.span.start.row for result in kept] == rows
    assert all(result.diagnostic.fixable is None for result in kept)


def test_settings_are_read_from_all_that_clients_send() -> None:
    before = Settings()
    wanted = replace(before, codeLens=False)
    for said in ({"codeLens": False}, {"tclint": {"codeLens": False}}):
        assert read_settings(said, before) == (wanted, [])
    assert read_settings(None, before) == (before, [])
    assert read_settings({"codeLens": None}, before) == (before, [])


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([], "expected an object, got list"),
        ({"tclint": 1}, "expected an object, got int"),
        ({"enable": "yes"}, "enable: expected bool, got str"),
        ({"diagnosticMode": "all"}, "'all' is neither"),
        ({"colour": 1}, "there is no 'colour'"),
    ],
)
def test_settings_that_make_no_sense_do_not_count(said: object, problem: str) -> None:
    settings, (wrong,) = read_settings(said, Settings())
    assert settings == Settings()
    assert problem in wrong


def test_a_key_of_the_configuration_that_does_not_exist_is_an_error() -> None:
    settings = Settings(configuration={"selekt": ["TCL1"]})
    with pytest.raises(ConfigError, match="selekt"):
        settings.over(Config(root=PATH.parent))


def test_a_document_without_cells_is_one_part() -> None:
    document = Document("file:///net.py", PATH, 3, "x = 1\n")
    assert document.part_at(1).uri == document.uri
    assert document.part("file:///other.py") is None
    assert document.uris == (document.uri,)
