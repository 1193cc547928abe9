"""In a large folder an open file is checked with the closed files that have to do with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import load_config
from tclint.server import neighbours, program
from tclint.server.programs import Programs
from tests.test_named_files import BASE, COMPILES, HELPER, SUB, lay_out, rows

MAIN = COMPILES.format(imports="from a import helper", target="helper")


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder counts as large."""
    monkeypatch.setattr(program, "WHOLE", 1)


class Editor:
    """Documents that are open in a folder."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder, self.programs = folder, Programs()
        self.texts = {folder / name: (folder / name).read_text("utf-8") for name in names}

    def found(self, name: str) -> set[tuple[str, int]]:
        """Where the open files have findings when one of them is checked."""
        config = load_config(self.folder)
        known = self.programs.enter(config, self.folder)
        paths = known.checked(self.folder / name, [*self.texts], self.texts)
        return rows(known.check(paths, config, self.texts))

    def type(self, name: str, text: str) -> None:
        """Put another text into a document."""
        self.texts = {**self.texts, self.folder / name: text}


def test_an_open_file_reads_what_it_imports(tmp_path: Path) -> None:
    lay_out(tmp_path, {"base.py": BASE, "sub.py": SUB.format(base="base")})
    assert Editor(tmp_path, "sub.py").found("sub.py") == {("sub.py", 6)}


def test_an_open_file_is_checked_with_what_compiles_it(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": HELPER, "main.py": MAIN})
    editor = Editor(tmp_path, "a.py")
    assert editor.found("a.py") == {("a.py", 2)}
    editor.type(
        "a.py", HELPER.replace("x.max()", "(x + 1).max()").replace("return", "y = 1; return")
    )
    assert editor.found("a.py") == {("a.py", 2)}


def test_an_open_caller_counts_as_it_is_typed(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": HELPER, "main.py": "from a import helper\n"})
    editor = Editor(tmp_path, "a.py", "main.py")
    assert editor.found("a.py") == set()
    editor.type("main.py", MAIN)
    assert editor.found("a.py") == {("a.py", 2)}


def test_a_caller_that_is_saved_elsewhere_counts_once_the_server_hears_of_it(
    tmp_path: Path,
) -> None:
    lay_out(tmp_path, {"a.py": HELPER, "main.py": "import torch\n"})
    editor = Editor(tmp_path, "a.py")
    assert editor.found("a.py") == set()
    (tmp_path / "main.py").write_text(MAIN, "utf-8")
    editor.programs.forget()
    assert editor.found("a.py") == {("a.py", 2)}


def test_what_closed_files_cost_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "CLOSED", len(BASE) - 1)
    lay_out(tmp_path, {"base.py": BASE, "sub.py": SUB.format(base="base")})
    assert Editor(tmp_path, "sub.py").found("sub.py") == set()
    assert Editor(tmp_path, "sub.py", "base.py").found("sub.py") == {("sub.py", 6)}


def test_callers_stay_known_while_one_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, {"a.py": HELPER, "main.py": MAIN})
    editor, searched = Editor(tmp_path, "a.py"), []
    search = neighbours.Callers.of
    monkeypatch.setattr(
        neighbours.Callers, "of", lambda *a, **k: searched.append(a) or search(*a, **k)
    )
    for number in range(5):
        editor.type("a.py", f"{HELPER}\n\nx = {number}\n")
        assert editor.found("a.py") == {("a.py", 2)}
    assert len(searched) == 1
    editor.type("a.py", f"import torch\n{HELPER}")
    assert editor.found("a.py") == {("a.py", 3)}
    assert len(searched) == 2
