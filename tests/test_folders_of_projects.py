"""A folder finds what its files and the whole project find there, as far as callers are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tclint.api.checked import check
from tclint.config import Config, load_config
from tclint.lint import around, project_files
from tclint.lint.engine import check_files
from tclint.lint.execution import Around
from tclint.lint.gathering import gather_files
from tclint.report.summary import summary
from tests.cli_runs import tclint
from tests.test_named_files import BASE, COMPILES, HELPER, SUB, lay_out

PROJECT = {
    "pyproject.toml": "",
    "pkg/__init__.py": "",
    "pkg/ops/__init__.py": "from .read import helper\n",
    "pkg/ops/read.py": HELPER,
    "pkg/ops/base.py": BASE.replace("1.0", "1.0\n\n    def read(self, x):\n        return x.max()"),
    "pkg/nets/__init__.py": "",
    "pkg/nets/sub.py": SUB.format(base="pkg.ops.base"),
    "scripts/train.py": COMPILES.format(imports="from pkg.ops import helper", target="helper"),
}
Found = set[tuple[str, str, int]]


def found(root: Path, *paths: str) -> Found:
    """What a command finds, files by their names below a folder."""
    done = tclint("check", "--no-cache", "--output-format", "json", *paths, cwd=root)
    told = json.loads(done.stdout)
    return {
        (str(Path(one["filename"]).relative_to(root)), one["code"], one["location"]["row"])
        for one in told
    }


def below(every: Found, *folders: str) -> Found:
    return {one for one in every if one[0].startswith(folders)}


@pytest.mark.parametrize(
    "paths",
    [("pkg",), ("pkg/ops",), ("pkg/nets",), ("pkg/ops", "pkg/nets"), ("scripts",), ("./pkg/ops/",)],
    ids=" ".join,
)
def test_a_folder_finds_what_the_project_finds_there(tmp_path: Path, paths: tuple[str]) -> None:
    lay_out(tmp_path, PROJECT)
    every = found(tmp_path, ".")
    assert {name for name, _, _ in every} >= {"pkg/ops/read.py", "pkg/nets/sub.py"}
    assert found(tmp_path, *paths) == below(every, *(path.strip("./") for path in paths))


def test_a_folder_finds_what_its_files_find(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT)
    files = [name for name in PROJECT if name.startswith("pkg/ops/")]
    assert found(tmp_path, "pkg/ops") == found(tmp_path, *files) != set()


def test_a_folder_is_found_from_within(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT)
    done = tclint("check", "--no-cache", ".", cwd=tmp_path / "pkg/ops")
    assert "read.py:2" in done.stdout


def test_beyond_the_bound_the_summary_says_that_callers_were_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, PROJECT)
    others = sum(name.endswith(".py") and not name.startswith("pkg/ops/") for name in PROJECT)
    monkeypatch.setattr(project_files, "SEARCHED", others)
    rest = _rest(tmp_path)
    assert (len(rest.files), rest.unread) == (others, 0)
    monkeypatch.setattr(project_files, "SEARCHED", others - 1)
    rest = _rest(tmp_path)  # the package gives way to it: its other files are fewer
    assert (len(rest.files), rest.unread) == (others - 1, others)
    monkeypatch.setattr(project_files, "SEARCHED", 1)
    rest = _rest(tmp_path)
    assert (rest.files, rest.unread) == ((), others)


def test_a_folder_reads_all_of_its_callers_or_none_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, PROJECT)
    gathered = gather_files([tmp_path / "pkg/ops"], load_config, alone=False)
    files, config = gathered.files, gathered.nesting.outer
    few = next(
        most
        for most in range(1, 1000)
        if (monkeypatch.setattr(around, "CALLERS", most), _callers(files, config))[1].callers
    )
    every = check_files(files, config)
    assert not every.around.left_out
    assert [result.diagnostic.span.start.row for result in every.results] == [2]
    monkeypatch.setattr(around, "CALLERS", few - 1)
    none = check_files(files, config)
    assert (none.around.callers, none.results) == ((), ())
    assert none.around.left_out == len(every.around.callers)
    assert "that may call into this" in summary(none)


def _callers(files: Sequence[Path], config: Config) -> Around:
    return around.around(files, config, {}, around.imports_now)


def _rest(root: Path) -> project_files.Rest:
    """The project around the operators."""
    folder = root / "pkg/ops"
    gathered = gather_files([folder], load_config, alone=False)
    return project_files.other_files(gathered.files, gathered.nesting.outer)


def test_the_summary_counts_what_was_not_read(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT)
    lay_out(tmp_path, {f"many/m{n}.py": "" for n in range(project_files.SEARCHED)})
    lay_out(tmp_path, {f"pkg/many/m{n}.py": "" for n in range(project_files.SEARCHED)})
    told = tclint("check", "--no-cache", "pkg/ops", cwd=tmp_path).stdout
    more = 2 * project_files.SEARCHED + 4
    assert f"{more} other files of the project were not searched for callers" in told
    again = tclint("check", "pkg/ops", cwd=tmp_path).stdout
    assert tclint("check", "pkg/ops", cwd=tmp_path).stdout == again
    assert "not searched" not in tclint("check", "--no-cache", ".", cwd=tmp_path).stdout


def test_what_the_project_leaves_out_is_checked_alone(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT)
    kept = tmp_path / ".venv/lib/other"
    lay_out(kept, {"read.py": HELPER})
    gathered = gather_files([kept], load_config, alone=False)
    rest = project_files.other_files(gathered.files, gathered.nesting.outer)
    assert (rest.files, rest.unread) == ((), 0)


def test_a_changed_caller_is_read_anew(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT)
    assert "read.py:2" in tclint("check", "pkg/ops", cwd=tmp_path).stdout
    (tmp_path / "scripts/train.py").write_text("import torch\n", encoding="utf-8")
    assert "read.py:2" not in tclint("check", "pkg/ops", cwd=tmp_path).stdout
    lay_out(tmp_path, {"scripts/train.py": PROJECT["scripts/train.py"]})
    assert "read.py:2" in tclint("check", "pkg/ops", cwd=tmp_path).stdout


def test_a_pattern_for_another_folder_is_no_mistake_there(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT | {"tclint.toml": 'compiled = ["pkg.ops.read:helper"]\n'})
    assert "names no function" not in tclint("check", "pkg/nets", cwd=tmp_path).stderr
    lay_out(tmp_path, {"tclint.toml": 'compiled = ["pkg.ops.read:other"]\n'})
    assert "names no function" in tclint("check", ".", cwd=tmp_path).stderr


def test_python_finds_the_same(tmp_path: Path) -> None:
    lay_out(tmp_path, PROJECT)
    run = check([tmp_path / "pkg/ops"])
    assert [(one.path.name, one.span.start.row) for one in run.findings] == [("read.py", 2)]
