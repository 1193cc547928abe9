"""Files that are not what a Python file should be: each yields text or one error with a place."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclint.source.decode import MAX_BYTES, decode, read_source
from tclint.source.errors import SourceError
from tclint.source.parse import parse

BROKEN = Path(__file__).resolve().parent.parent / "fixtures" / "broken"

READABLE = {
    "byte_order_mark.py": "utf-8-sig",
    "latin1_with_coding_line.py": "iso-8859-1",
    "empty.py": "utf-8",
    "crlf.py": "utf-8",
    "carriage_returns.py": "utf-8",
    "mixed_line_ends.py": "utf-8",
    "tabs.py": "utf-8",
    "no_final_newline.py": "utf-8",
}
REFUSED = {
    "latin1_without_coding_line.py": (
        (2, 12),
        "byte 0xe9 is not UTF-8; save the file as UTF-8, or name its encoding in the first line",
    ),
    "null_byte.py": ((2, 6), "the file contains a null byte"),
    "utf16.py": ((1, 1), "UTF-16 or UTF-32"),
    "unknown_encoding.py": ((1, 1), "unknown encoding 'utf-9' in the coding line"),
    "two_encodings.py": ((1, 1), "byte order mark but its coding line says otherwise"),
    "not_a_text_encoding.py": ((1, 1), "the coding line names no encoding: 'rot13'"),
    "binary.py": ((1, 1), "byte 0x80 is not UTF-8"),
    "tabs_and_spaces.py": ((4, 20), "syntax error"),
    "unclosed_bracket.py": ((1, 5), "syntax error: '[' was never closed"),
    "python2.py": ((1, 1), "syntax error: Missing parentheses in call to 'print'"),
    "deep_nesting.py": (None, "too deeply nested to be parsed"),
    "merge_conflict.py": ((2, 1), "syntax error"),
}


@pytest.mark.parametrize("name", READABLE)
def test_readable_file_keeps_its_bytes(name: str) -> None:
    file = read_source(BROKEN / name)
    assert file.encoding == READABLE[name]
    assert file.text.encode(file.encoding) == (BROKEN / name).read_bytes()
    assert "".join(file.lines) == file.text
    tree = parse(file)
    last = max(
        (node.end_lineno or 0 for node in ast.walk(tree) if isinstance(node, ast.stmt)), default=0
    )
    assert last <= len(file.lines)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_file_names_the_place_and_the_reason(name: str) -> None:
    place, message = REFUSED[name]
    with pytest.raises(SourceError) as caught:
        parse(read_source(BROKEN / name))
    assert message in caught.value.message
    if name == "tabs_and_spaces.py":
        assert caught.value.span is not None
        assert caught.value.span.start.row == 4
    elif place is not None:
        assert caught.value.span is not None
        start = caught.value.span.start
        assert (start.row, start.column) == place
        assert str(caught.value).startswith(f"{BROKEN / name}:{start.row}:{start.column}: ")


def test_every_fixture_has_an_expectation() -> None:
    assert {path.name for path in BROKEN.glob("*.py")} == {
        *READABLE,
        *REFUSED,
        "long_chain.py",
    }


def test_long_chain_of_operators_gives_a_tree_or_the_nesting_error() -> None:
    # How long a chain may be differs between Python versions.
    try:
        parse(read_source(BROKEN / "long_chain.py"))
    except SourceError as error:
        assert "too deeply nested" in error.message


NEWER = [
    ((3, 11), "try:\n    pass\nexcept* OSError:\n    pass\n", "`except*` needs Python 3.11"),
    ((3, 12), "type Pair = tuple[int, int]\n", "the `type` statement needs Python 3.12"),
    ((3, 12), "def first[T](items: list[T]) -> T: ...\n", "a type parameter needs Python 3.12"),
    ((3, 12), "x = f'{d['key']}'\n", "the same quote inside an f-string needs Python 3.12"),
    ((3, 12), "x = f'{chr(10)!r}{'\\n'.join(y)}'\n", "needs Python 3.12"),
    ((3, 14), "try:\n    pass\nexcept A, B:\n    pass\n", "needs Python 3.14"),
    ((3, 14), "x = t'hello {name}'\n", "a template string needs Python 3.14"),
]


@pytest.mark.parametrize(("version", "text", "message"), NEWER, ids=[n[2] for n in NEWER])
def test_newer_syntax_is_named(
    version: tuple[int, int], text: str, message: str, tmp_path: Path
) -> None:
    file = decode(tmp_path / "new.py", text.encode())
    if sys.version_info >= version:
        parse(file)
        return
    with pytest.raises(SourceError) as caught:
        parse(file)
    assert message in caught.value.message
    assert "run it with Python" in caught.value.message


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="can be parsed")
@pytest.mark.parametrize(
    "text",
    [
        "x = f'{f'{f'{1}'}'}'\n",
        "if a:\n    type Pair = tuple[int, int]\n",
        "def first[T](items: list[T]) -> T:\n    return items[0]\n",
    ],
)
def test_newer_syntax_is_not_called_an_error(text: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        parse(decode(tmp_path / "new.py", text.encode()))
    assert "syntax error" not in caught.value.message


def test_syntax_that_has_no_name_yet_is_left_to_a_newer_python(tmp_path: Path) -> None:
    file = decode(tmp_path / "new.py", b"flat = [*row for row in rows]\n")
    try:
        parse(file)
    except SourceError as error:
        assert "needs a newer Python" in error.message


@pytest.mark.parametrize("name", ["utf-16", "utf-32", "punycode", "undefined", "hex", "zlib"])
def test_an_encoding_that_the_file_cannot_be_in_is_one_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="coding line"):
        decode(tmp_path / "a.py", f"# -*- coding: {name} -*-\nx = 'ä'\n".encode("latin-1"))


@pytest.mark.parametrize(
    "text",
    [
        "print 'a'\n",
        "try: pass\nexcept A as e, B: pass\n",
        "x = '\\N{no such}'\n",
        "-" * 200_000,
        "(" * 299,
    ],
)
def test_wrong_code_is_still_called_wrong(text: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        parse(decode(tmp_path / "wrong.py", text.encode()))
    assert "needs a newer Python" not in caught.value.message


def test_big_generated_file_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "generated.py"
    path.write_bytes(b"TABLE = {\n" + b"    'key': [1, 2.5, 'text'],\n" * 75_000 + b"}\n")
    assert path.stat().st_size > 2_000_000
    assert len(read_source(path).lines) == 75_002
    assert isinstance(parse(read_source(path)).body[0], ast.Assign)


def test_huge_file_is_refused_with_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "huge.py"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(SourceError, match=r"16\.0 MB is over the limit of 16 MB"):
        read_source(path)


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read: no such file or directory"):
        read_source(tmp_path / "absent.py")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(SourceError, match="not a regular file"):
        read_source(tmp_path / "pipe.py")


def test_coding_line_may_itself_hold_other_bytes(tmp_path: Path) -> None:
    file = decode(tmp_path / "a.py", b"# coding: latin-1 caf\xe9\nx = 1\n")
    assert file.text.startswith("# coding: latin-1 caf\u00e9")


def test_coding_line_after_lone_carriage_return(tmp_path: Path) -> None:
    assert (
        decode(tmp_path / "a.py", b"#!python\r# coding: latin-1\rx = '\xe9'\r").encoding
        == "iso-8859-1"
    )


def test_half_a_surrogate_pair_from_an_editor(tmp_path: Path) -> None:
    from tclint.source.file import SourceFile

    with pytest.raises(SourceError, match="surrogate"):
        parse(SourceFile.from_text(tmp_path / "a.py", "x = 1\ny = '\ud800'\n"))


def test_warnings_of_the_parser_stay_silent(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    parse(decode(tmp_path / "a.py", b"x = '\\d'\nx is 1\n"))
    # What other tests left open may be collected, and warned of, meanwhile.
    assert not [one for one in recwarn if one.category is not ResourceWarning]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_tree_or_one_error(data: bytes) -> None:
    try:
        parse(decode(Path("any.py"), data))
    except SourceError as error:
        assert error.message


@given(
    st.lists(
        st.sampled_from(
            [
                b"\xef\xbb\xbf",
                b"# coding: ",
                b"utf-8",
                b"utf-7",
                b"idna",
                b"big5",
                b"undefined",
                b"hex",
                b"\r",
                b"\n",
                b"\xe9",
                b"\0",
                b"x = '",
                b"'",
                b"\x0c",
                b"f'{",
                b"\t",
            ]
        )
    )
)
def test_any_mix_of_marks_and_coding_lines_gives_a_tree_or_one_error(pieces: list[bytes]) -> None:
    try:
        file = decode(Path("any.py"), b"".join(pieces))
        assert "".join(file.lines) == file.text
        parse(file)
    except SourceError as error:
        assert error.message
