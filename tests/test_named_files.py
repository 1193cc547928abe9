"""A named file is checked as a run over its project would check it, and nothing else is told."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.cache.imports import SETTLED, Imports
from tclint.config import load_config
from tclint.files import version_of
from tclint.lint import around, callers, project_files
from tclint.lint.engine import Run, check_files
from tclint.lint.outlines import imports
from tclint.report.summary import summary
from tclint.source.discovery import discover
from tests.cli_runs import tclint

HELPER = """\
def helper(x):
    return x.max().item()
"""
COMPILES = """\
import torch
{imports}
step = torch.compile({target})
"""
CALLS = """\
import torch
{imports}

class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return {target}(x)
"""
BASE = """\
import torch


class Base(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x * self.scale(x)

    def scale(self, x):
        return 1.0
"""
SUB = """\
from {base} import Base


class Sub(Base):
    def scale(self, x):
        return x.sum().item()
"""


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    """Write files, of which the names of folders that are packages end in a dot."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


def named(*files: Path) -> Run:
    """A run over single files."""
    return check_files(files, replace(load_config(files[0].parent), partial=True))


def told(run: Run) -> set[tuple[str, str, int, int]]:
    """What a run says: files by their names."""
    found = (result.diagnostic for result in run.results)
    return {(d.path.name, d.code, d.span.start.row, d.span.start.column) for d in found}


def rows(run: Run) -> set[tuple[str, int]]:
    """Where a run found something."""
    return {(name, row) for name, _, row, _ in told(run)}


def test_a_subclass_finds_its_base_in_the_next_file(tmp_path: Path) -> None:
    lay_out(tmp_path, {"base.py": BASE, "sub.py": SUB.format(base="base")})
    assert rows(named(tmp_path / "sub.py")) == {("sub.py", 6)}


def test_a_base_is_checked_with_what_the_subclass_in_the_next_file_calls(tmp_path: Path) -> None:
    base = BASE.replace("1.0", "1.0\n\n    def read(self, x):\n        return x.sum().item()")
    sub = SUB.format(base="base").replace("x.sum().item()", "self.read(x)")
    lay_out(tmp_path, {"base.py": base, "sub.py": sub})
    assert rows(named(tmp_path / "base.py")) == {("base.py", 12)}


@pytest.mark.parametrize(
    ("imports", "target"),
    [
        ("from lib.ops import helper", "helper"),
        ("from lib.ops import helper as h", "h"),
        ("from lib.ops import (  # all of (it)\n    helper,\n)", "helper"),
        ("from lib.ops import \\\n    helper", "helper"),
        ("import lib.ops", "lib.ops.helper"),
        ("import lib.ops as ops", "ops.helper"),
        ("from lib import ops", "ops.helper"),
        ("from lib import helper", "helper"),
        ("import lib", "lib.helper"),
        ("import lib", "lib.ops.helper"),
    ],
)
@pytest.mark.parametrize("caller", [COMPILES, CALLS], ids=["compiles", "calls"])
def test_what_a_file_elsewhere_compiles_is_found_however_it_is_imported(
    tmp_path: Path, imports: str, target: str, caller: str
) -> None:
    lay_out(
        tmp_path,
        {
            "lib/__init__.py": "from . import ops\nfrom .ops import helper\n",
            "lib/ops.py": HELPER,
            "main.py": caller.format(imports=imports, target=target),
            "pyproject.toml": "",
        },
    )
    assert rows(named(tmp_path / "lib/ops.py")) == {("ops.py", 2)}


def test_callers_are_followed_to_the_code_that_compiles(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/a.py": HELPER,
            "pkg/b.py": "from .a import helper\n\n\ndef middle(x):\n    return helper(x)\n",
            "pkg/c.py": "from .b import middle as m\n\n\ndef outer(x):\n    return m(x)\n",
            "scripts/train.py": COMPILES.format(imports="from pkg.c import outer", target="outer"),
            "setup.cfg": "",
        },
    )
    assert rows(named(tmp_path / "pkg/a.py")) == {("a.py", 2)}


def test_a_function_that_nobody_compiles_stays_without_findings(tmp_path: Path) -> None:
    other = COMPILES.format(imports="from a import other", target="other")
    helpers = HELPER + "\n\ndef other(x):\n    return x + 1\n"
    lay_out(tmp_path, {"a.py": helpers, "main.py": other})
    assert rows(named(tmp_path / "a.py")) == set()


def test_nothing_is_told_of_files_that_are_not_named(tmp_path: Path) -> None:
    broken, rude = "def f(:\n", "# tclint: ignore[TCL101]\n" + BASE
    sub = SUB.format(base="base")
    lay_out(tmp_path, {"base.py": BASE, "sub.py": sub, "broken.py": broken, "rude.py": rude})
    run = named(tmp_path / "base.py")
    assert rows(run) == set()
    assert run.errors == ()
    assert run.files == 1


def test_a_file_that_cannot_be_read_does_not_matter_to_others(tmp_path: Path) -> None:
    lay_out(tmp_path, {"base.py": BASE, "sub.py": SUB.format(base="base")})
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00import base\x00")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "circle").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "secret.py").write_text("import base\n")
    (tmp_path / "secret.py").chmod(0)
    run = named(tmp_path / "sub.py")
    assert (rows(run), run.errors) == ({("sub.py", 6)}, ())


def test_what_the_configuration_excludes_is_not_read(tmp_path: Path) -> None:
    main = COMPILES.format(imports="from a import helper", target="helper")
    lay_out(tmp_path, {"a.py": HELPER, "old/main.py": main, "pyproject.toml": "[tool.tclint]\n"})
    assert rows(named(tmp_path / "a.py")) == {("a.py", 2)}
    (tmp_path / "pyproject.toml").write_text("[tool.tclint]\nexclude = ['old']\n")
    assert rows(named(tmp_path / "a.py")) == set()


def test_what_git_ignores_is_not_read(tmp_path: Path) -> None:
    main = COMPILES.format(imports="from a import helper", target="helper")
    lay_out(tmp_path, {"a.py": HELPER, "build2/main.py": main, ".gitignore": "build2/\n"})
    (tmp_path / ".git").mkdir()
    assert rows(named(tmp_path / "a.py")) == set()


def test_files_with_a_configuration_of_their_own_are_another_program(tmp_path: Path) -> None:
    main = COMPILES.format(imports="from a import helper", target="helper")
    lay_out(
        tmp_path,
        {"a.py": HELPER, "apart/main.py": main, "tclint.toml": "", "apart/tclint.toml": ""},
    )
    assert rows(named(tmp_path / "a.py")) == set()
    (tmp_path / "apart/tclint.toml").write_text("no TOML")
    assert rows(named(tmp_path / "a.py")) == set()


@pytest.mark.parametrize("marker", [".git", "pyproject.toml", "setup.py", "setup.cfg"])
def test_a_project_ends_where_something_marks_it(tmp_path: Path, marker: str) -> None:
    main = COMPILES.format(imports="from pkg.a import helper", target="helper")
    lay_out(
        tmp_path,
        {
            "main.py": main,
            "project/pkg/__init__.py": "",
            "project/pkg/a.py": HELPER,
            f"project/{marker}": "",
        },
    )
    assert rows(named(tmp_path / "project/pkg/a.py")) == set()
    (tmp_path / "main.py").rename(tmp_path / "project/main.py")
    assert rows(named(tmp_path / "project/pkg/a.py")) == {("a.py", 2)}


def test_of_an_unmarked_package_only_the_package_is_read(tmp_path: Path) -> None:
    """As of one that is installed: others lie beside it."""
    main = COMPILES.format(imports="from pkg.a import helper", target="helper")
    lay_out(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": HELPER, "other/main.py": main})
    assert rows(named(tmp_path / "pkg/a.py")) == set()
    lay_out(tmp_path, {"pkg/sub/__init__.py": "", "pkg/sub/main.py": main})
    assert rows(named(tmp_path / "pkg/a.py")) == {("a.py", 2)}


def test_a_lone_file_in_a_large_folder_is_checked_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_files, "FEW", 3)
    lay_out(tmp_path, {f"{number}.txt": "" for number in range(4)} | {"a.py": HELPER})
    main = COMPILES.format(imports="from a import helper", target="helper")
    lay_out(tmp_path, {"main.py": main})
    run = named(tmp_path / "a.py")
    assert rows(run) == set()
    assert f"{tmp_path} is too large to be searched for callers." in summary(run)


def test_a_vast_project_gives_way_to_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_files, "MOST", 10)
    main = COMPILES.format(imports="from pkg.a import helper", target="helper")
    files = {"pkg/__init__.py": "", "pkg/a.py": HELPER, "pkg/main.py": main, "pyproject.toml": ""}
    lay_out(tmp_path, files | {f"data/{number}.txt": "" for number in range(20)})
    run = named(tmp_path / "pkg/a.py")
    assert rows(run) == {("a.py", 2)}
    assert str(tmp_path) in summary(run)


def test_callers_that_are_too_many_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = COMPILES.format(imports="from a import helper", target="helper")
    monkeypatch.setattr(around, "CALLERS", 2 * len(main))
    lay_out(tmp_path, {"a.py": HELPER} | {f"main{number}.py": main for number in range(5)})
    run = named(tmp_path / "a.py")
    assert rows(run) == {("a.py", 2)}
    assert "3 more files that may call into this" in summary(run)
    assert "may call into this" not in summary(named(tmp_path / "main1.py"))


def test_the_search_ends_where_very_much_rests_on_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "MAX_SEARCHED", 1)
    middle = "from a import helper\n\n\ndef middle(x):\n    return helper(x)\n"
    main = COMPILES.format(imports="from b import middle", target="middle")
    lay_out(tmp_path, {"a.py": HELPER, "b.py": middle, "main.py": main})
    run = named(tmp_path / "a.py")
    assert rows(run) == set()
    assert run.around.left_out


def test_tests_are_looked_into_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MAX_SEARCHED", 1000)
    middle = "from a import helper\n\n\ndef middle(x):\n    return helper(x)\n"
    main = COMPILES.format(imports="from b import middle", target="middle")
    asks = "from a import helper\n\n\ndef test_helper():\n    assert helper(1)\n" + "#" * 300
    tests = {f"tests/test_a{number}.py": asks for number in range(10)}
    lay_out(tmp_path, {"a.py": HELPER, "b.py": middle, "main.py": main, **tests, "setup.cfg": ""})
    run = named(tmp_path / "a.py")
    assert rows(run) == {("a.py", 2)}
    assert run.around.left_out


def test_it_makes_no_difference_how_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, {"pkg/base.py": BASE, "pkg/sub.py": SUB.format(base="base"), "setup.cfg": ""})
    (tmp_path / "link").symlink_to(tmp_path / "pkg")
    monkeypatch.chdir(tmp_path / "pkg")
    names = ("sub.py", "./sub.py", "../pkg/sub.py", "../link/sub.py", str(tmp_path / "pkg/sub.py"))
    for name in names:
        assert rows(named(Path(name))) == {("sub.py", 6)}, name


def test_a_file_that_is_named_by_a_link_stays_one_file(tmp_path: Path) -> None:
    lay_out(tmp_path, {"base.py": BASE, "sub.py": SUB.format(base="base")})
    (tmp_path / "other.py").symlink_to(tmp_path / "sub.py")
    run = named(tmp_path / "other.py")
    assert rows(run) == {("other.py", 6)}


def test_several_named_files_have_one_project_around_them(tmp_path: Path) -> None:
    main = COMPILES.format(imports="from a import helper", target="helper")
    files = {"a.py": HELPER, "main.py": main, "base.py": BASE, "sub.py": SUB.format(base="base")}
    lay_out(tmp_path, files)
    run = named(tmp_path / "a.py", tmp_path / "sub.py")
    assert rows(run) == {("a.py", 2), ("sub.py", 6)}


def test_a_notebook_calls_into_a_file(tmp_path: Path) -> None:
    source = ["import torch\n", "from a import helper\n", "step = torch.compile(helper)\n"]
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    cells = str([cell]).replace("'", '"').replace("\n", "\\n")
    lay_out(tmp_path, {"a.py": HELPER})
    (tmp_path / "main.ipynb").write_text(
        f'{{"cells": {cells}, "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    )
    assert rows(named(tmp_path / "a.py")) == {("a.py", 2)}


def test_configured_functions_elsewhere_are_callers(tmp_path: Path) -> None:
    caller = "from a import helper\n\n\ndef go(x):\n    return helper(x)\n"
    lay_out(tmp_path, {"a.py": HELPER, "b.py": caller, "tclint.toml": 'compiled = ["b:go"]\n'})
    assert rows(named(tmp_path / "a.py")) == {("a.py", 2)}


def test_the_text_of_an_editor_stands_in_for_the_file(tmp_path: Path) -> None:
    lay_out(tmp_path, {"base.py": BASE, "sub.py": ""})
    config = replace(load_config(tmp_path), partial=True)
    file = tmp_path / "sub.py"
    assert rows(check_files([file], config, {file: SUB.format(base="base")})) == {("sub.py", 6)}


def test_a_run_over_a_folder_has_nothing_around_it(tmp_path: Path) -> None:
    main = COMPILES.format(imports="from lib.a import helper", target="helper")
    lay_out(tmp_path, {"lib/a.py": HELPER, "main.py": main, "pyproject.toml": ""})
    config = load_config(tmp_path)
    run = check_files(discover([tmp_path / "lib"], config).files, config)
    assert (rows(run), run.around.files) == (set(), ())


@pytest.mark.parametrize("seed", range(40))
def test_a_file_is_told_what_a_run_over_the_project_tells_of_it(tmp_path: Path, seed: int) -> None:
    files = project(random.Random(seed))
    lay_out(tmp_path, files)
    config = load_config(tmp_path)
    every = discover([tmp_path], config).files
    whole = told(check_files(every, config))
    for path in every:
        own = {one for one in whole if one[0] == path.name}
        assert told(named(path)) == own, (path.name, files)


def project(chance: random.Random) -> dict[str, str]:
    """A package whose files call each other, and scripts that compile some of them."""
    names = [f"m{number}" for number in range(chance.randint(3, 7))]
    files = {"pyproject.toml": "", "pkg/__init__.py": "", "pkg/sub/__init__.py": ""}
    places = {name: chance.choice(("pkg", "pkg.sub")) for name in names}
    for number, name in enumerate(names):
        known = names[:number]
        files[f"{places[name].replace('.', '/')}/{name}.py"] = module(chance, name, known, places)
        if chance.random() < 0.3:
            files["pkg/__init__.py"] += f"from {places[name]}.{name} import f_{name}, C_{name}\n"
    for number in range(chance.randint(0, 2)):
        files[f"run{number}.py"] = script(chance, names, places)
    return files


def imported(chance: random.Random, name: str, places: dict[str, str]) -> tuple[str, str]:
    """A statement that imports a module's names, and what stands before them then."""
    place = places[name]
    return chance.choice(
        (
            (f"from {place}.{name} import f_{name}, C_{name}", ""),
            (f"from {place} import {name}", f"{name}."),
            (f"import {place}.{name}", f"{place}.{name}."),
            (f"import {place}.{name} as other", "other."),
            (f"from {place}.{name} import *", ""),
        )
    )


def module(chance: random.Random, name: str, known: list[str], places: dict[str, str]) -> str:
    """A file with a function and a class, which call what other files have."""
    line, call, base = "", "x.sum().item()", "torch.nn.Module"
    if known and chance.random() < 0.8:
        other = chance.choice(known)
        line, prefix = imported(chance, other, places)
        call = chance.choice((f"{prefix}f_{other}(x)", f"{prefix}C_{other}()(x)", call))
        base = chance.choice((base, f"{prefix}C_{other}"))
    method = chance.choice(("forward", "forward", "scale"))
    used = chance.choice((f"f_{name}(x)", "x + 1", "self.scale(x)" if method == "forward" else "x"))
    return (
        f"import torch\n{line}\n\n\ndef f_{name}(x):\n    return x * {call}\n\n\n"
        f"class C_{name}({base}):\n    def {method}(self, x):\n        return {used}\n"
    )


def script(chance: random.Random, names: list[str], places: dict[str, str]) -> str:
    """A file that compiles something."""
    name = chance.choice(names)
    line, prefix = imported(chance, name, places)
    target = chance.choice((f"{prefix}f_{name}", f"{prefix}C_{name}()"))
    return f"import torch\n{line}\nstep = torch.compile({target})\nstep(torch.ones(2))\n"


def test_standard_input_is_checked_as_the_file_that_it_stands_for(tmp_path: Path) -> None:
    lay_out(tmp_path, {"base.py": BASE, "sub.py": "", "pyproject.toml": ""})
    text = SUB.format(base="base").encode()
    done = tclint("check", "-", "--stdin-filename", "sub.py", cwd=tmp_path, stdin=text)
    assert "sub.py:6:" in done.stdout


def test_what_a_line_is_taken_for_is_explained_with_its_callers(tmp_path: Path) -> None:
    main = COMPILES.format(imports="from a import helper", target="helper")
    lay_out(tmp_path, {"a.py": HELPER, "main.py": main, "pyproject.toml": ""})
    done = tclint("check", "a.py", "--explain-types", "a.py:2", cwd=tmp_path)
    assert "in region `helper`, compiled at main.py:3" in done.stdout


def test_a_remembered_run_looks_for_callers_again(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": HELPER, "pyproject.toml": "", "main.py": ""})

    def told() -> bool:
        return "TCL101" in tclint("check", "a.py", cwd=tmp_path).stdout

    assert not told()
    (tmp_path / "main.py").write_text(
        COMPILES.format(imports="from a import helper", target="helper")
    )
    assert told()
    assert told()
    (tmp_path / "main.py").rename(tmp_path / "other.py")
    assert told()
    (tmp_path / "other.py").unlink()
    assert not told()


def test_remembered_imports_are_read_again_when_files_change(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": "import b\n", "b.py": "import c\n"})
    for name in ("a.py", "b.py"):
        os.utime(tmp_path / name, ns=(1, 1))
    paths = [tmp_path / "a.py", tmp_path / "b.py", tmp_path / "gone.py"]
    first = Imports(None)
    found = first.of(paths)
    assert [(path.name, [row.source for row in rows]) for path, rows in found] == [
        ("a.py", ["b"]),
        ("b.py", ["c"]),
    ]
    rows = first.rows(-SETTLED)
    again = Imports(rows)
    assert (again.of(paths), again.is_new) == (found, False)
    (tmp_path / "b.py").write_text("import d\n")
    again = Imports(rows)
    assert again.of(paths)[1][1][0].source == "d"
    assert again.is_new


@pytest.mark.parametrize(
    "planted",
    [
        [],
        "x",
        {"a": 1},
        {"a.py": [[1], 2]},
        {"a.py": [None, [[1, 2]]]},
        {"a.py": [None, [["", "b"]]]},
    ],
)
def test_imports_that_somebody_made_up_are_read_anew(tmp_path: Path, planted: object) -> None:
    lay_out(tmp_path, {"a.py": "import b\n"})
    if isinstance(planted, dict):
        version = version_of(tmp_path / "a.py")
        rows = (row for row in planted.values() if isinstance(row, list))
        planted = {str(tmp_path / "a.py"): [version, row[1]] for row in rows}
    imports = Imports(planted)
    assert imports.of([tmp_path / "a.py"]) == Imports(None).of([tmp_path / "a.py"])


def test_a_fix_of_a_named_file_knows_its_callers(tmp_path: Path) -> None:
    helper = (
        "def helper(x):\n    y = (x + 1).relu()\n    top = y.max().item()\n    return y * top\n"
    )
    main = "import torch\nfrom a import helper\nstep = torch.compile(helper)\nstep(torch.ones(3))\n"
    lay_out(tmp_path, {"a.py": helper, "main.py": main, "pyproject.toml": ""})
    whole = tclint("fix", "--diff", ".", cwd=tmp_path).stdout
    assert "detach" in whole
    assert tclint("fix", "--diff", "a.py", cwd=tmp_path).stdout == whole


def test_comments_behind_an_open_bracket_are_looked_at_once() -> None:
    names = "x, # what it is\n" * 2000  # each could end anywhere, for a careless pattern
    assert len(imports(f"from a import ({names})")[0].names) == 2000
    assert [one.source for one in imports(f"from a import ({names}")] == ["a"]
