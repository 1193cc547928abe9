"""Expressions of thousands of terms: one error for their file, and the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.snippet import parse
from tclint.lint.engine import Execution, check_files
from tclint.server.analyze import View, analyze
from tclint.server.document import Document
from tclint.server.engine import TclintEngine
from tests.cli_runs import BREAKS, tclint
from tests.samples import one_in

DEEP = {
    "a sum": lambda n: "a" + " + a" * n,
    "negations": lambda n: "-" * n + "a",
    "methods": lambda n: "a" + ".abs()" * n,
    "powers": lambda n: "a" + " ** a" * n,
    "choices": lambda n: "a if b else " * n + "a",
    "functions": lambda n: "lambda: " * n + "a",
}
HOLES = (
    "y = {}",
    "print({})",
    "n = ({}).sum().item(); y = a * n",
    "if ({}).any(): a = -a",
    "y = a + torch.zeros(3).to(({}).device)",
    "a[({}) > 0] = 0",
    'torch.compile(a, mode="max_autotune")({})',
    "y = torch.log(torch.softmax({}, -1))",
)


def _program(expression: str, hole: str) -> str:
    line = hole.format(expression)
    return f"import torch\n\n\n@torch.compile\ndef f(a, b):\n    {line}\n    return a\n"


def _elifs(number: int) -> str:
    tests = "".join("    elif a.sum() > 0:\n        a = a + 1\n" for _ in range(number))
    first = "    if b:\n        pass\n"
    return f"import torch\n\n\n@torch.compile\ndef f(a, b):\n{first}{tests}    return a\n"


@pytest.mark.parametrize("size", one_in(2, [150, 900]))
@pytest.mark.parametrize("make", DEEP.values(), ids=DEEP)
def test_fixing_loses_nothing(make: Callable[[int], str], size: int, tmp_path: Path) -> None:
    texts = {f"m{n}.py": _program(make(size), hole) for n, hole in enumerate(HOLES)}
    texts["net.py"] = BREAKS
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    run = fix_files([*tmp_path.glob("*.py")], Config(tmp_path), unsafe=True)
    changed = {file.path.name: file.after for file in run.changed}
    assert ".item()" not in changed["net.py"]
    for name, text in changed.items():
        assert text.count(make(size)) >= texts[name].count(make(size)), name


@pytest.mark.parametrize(
    ("text", "rows"),  # how many branches are followed is up to Python's own limit
    [(_program("a" + " + a" * 2000, HOLES[0]), {6}), (_elifs(800), set(range(196, 1608)))],
    ids=["a sum", "elif"],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_cannot_be_followed_is_said_at_its_place(
    text: str, rows: set[int], jobs: int, tmp_path: Path
) -> None:
    paths = [tmp_path / "deep.py", tmp_path / "net.py"]
    for path, content in zip(paths, (text, BREAKS), strict=True):
        path.write_text(content)
    run = check_files(paths, Config(tmp_path), execution=Execution(jobs))
    assert not run.errors
    said = [one.diagnostic for one in run.results if one.diagnostic.code == "TCL004"]
    assert [one.path for one in said] == [paths[0]]
    assert said[0].span.start.row in rows
    assert said[0].instead == "Split it into several statements"
    assert paths[1] in {result.diagnostic.path for result in run.results}


@pytest.mark.parametrize(
    ("text", "row"),
    [(_program("a" + " + a" * 50_000, HOLES[0]), 6), (_elifs(20_000), 8)],
    ids=["a sum", "elif"],
)
def test_what_cannot_be_parsed_is_an_error_with_its_place(
    text: str, row: int, tmp_path: Path
) -> None:
    done = tclint("check", "--isolated", "-", cwd=tmp_path, stdin=text.encode())
    # Python 3.10 does parse the sum: then it is the analysis that cannot follow.
    assert done.returncode == (2 if "could not be followed" in done.stderr else 1)
    told = done.stdout + done.stderr
    assert f":{row}:5" in told
    assert "split it into several statements" in told


def test_an_editor_still_sees_the_rest_of_the_file(tmp_path: Path) -> None:
    text = BREAKS + _program("a" + " + a" * 2000, HOLES[0])
    path = tmp_path / "deep.py"
    document = Document(path.as_uri(), path, 1, text)
    analysis = analyze(TclintEngine(), document, View((document,), (tmp_path,)))[document.uri]
    assert not analysis.is_broken
    assert analysis.reported


def test_libcst_never_gets_what_would_kill_the_process() -> None:
    with pytest.raises(Exception, match="nested too deeply"):
        parse("y = a" + " + a" * 2900 + "\n")
