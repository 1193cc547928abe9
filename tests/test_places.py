"""Findings in tests, benchmarks, archives and code beside the training: last, or left out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.config_places import CODE, PLACES, place_by_name
from tclint.lint.engine import Run, check_files, in_one
from tclint.lint.selection import leaving_out, placing
from tclint.lint.why import why
from tclint.report.full import render as as_text
from tclint.report.summary import summary
from tclint.report.view import View
from tests.cli_runs import tclint
from tests.semantics_probe import put

ROOT = Path(__file__).parent.parent
NET = """\
import torch


@torch.compile
def f(x: torch.Tensor):
    return x.sum().item()
"""
FILES = {
    "tests/test_net.py": NET,
    "src/net.py": NET,
    "src/zoo/export_net.py": NET,
    "bench/speed.py": NET,
    "bench/size.py": NET,
}


def checked(folder: Path, **config: object) -> Run:
    put(folder, FILES)
    paths = sorted(folder.rglob("*.py"))
    return check_files(paths, replace(Config(folder), **config))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("src/net.py", "code"),
        ("test.py", "code"),
        ("src/attest_net.py", "code"),
        ("layers/test_time_pool.py", "code"),
        ("models/runs.py", "code"),
        ("src/tests/helper.py", "tests"),
        ("src/Tests/helper.py", "tests"),
        ("net_test.py", "tests"),
        ("conftest.py", "tests"),
        ("tests/benchmarks/net.py", "tests"),
        ("benchmarks/net.py", "benchmarks"),
        ("bench_net.py", "benchmarks"),
        ("records/track_1/2024-10-09/train.py", "archives"),
        ("wandb/run-1/files/code/train.py", "archives"),
        ("net/onnx/net.py", "export"),
        ("tools/convert_weights.ipynb", "export"),
        ("plot_losses.py", "visualization"),
        ("net/visualise_maps.py", "visualization"),
        ("net/visualization/maps.py", "visualization"),
        ("net/data/batch.py", "data"),
        ("net/transform/neighbours.py", "data"),
        ("net/image_dataset.py", "data"),
        ("net/data/test_batch.py", "tests"),
        ("net/data_parallel.py", "code"),
        ("net/database.py", "code"),
        ("net/transform.py", "code"),
    ],
)
def test_names_tell_the_place(path: str, place: str) -> None:
    assert place_by_name(path.split("/")) == place


def test_only_the_way_from_the_project_counts(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "project"
    assert placing(Config(folder))(folder / "net.py") == CODE
    assert placing(Config(tmp_path))(folder / "net.py") == "tests"


@pytest.mark.parametrize(
    ("said", "left_out"),
    [
        ((), set()),
        (("tests",), {"tests/test_a.py", "tests/slow/test_a.py"}),
        (("ALL",), {"tests/test_a.py", "tests/slow/test_a.py", "bench/a.py"}),
        (("ALL", "!bench"), {"tests/test_a.py", "tests/slow/test_a.py"}),
        (("tests", "!tests/slow/**"), {"tests/test_a.py"}),
        (("!tests/slow/**", "tests"), {"tests/test_a.py", "tests/slow/test_a.py"}),
        (("lib/",), {"lib/net.py"}),
        (("*", "!lib/net.py"), {"tests/test_a.py", "tests/slow/test_a.py", "bench/a.py"}),
    ],
)
def test_the_last_entry_that_fits_decides(
    tmp_path: Path, said: tuple[str, ...], left_out: set[str]
) -> None:
    is_left_out = leaving_out(Config(tmp_path, leave_out=said))
    files = ("tests/test_a.py", "tests/slow/test_a.py", "lib/net.py", "bench/a.py")
    assert {name for name in files if is_left_out(tmp_path / name)} == left_out


def test_by_default_everything_is_shown_and_the_summary_says_where(tmp_path: Path) -> None:
    run = checked(tmp_path)
    assert (len(run.results), run.left_out) == (5, 0)
    assert summary(run).startswith(
        "Found 5 findings (5 graph breaks), 1 in tests, 2 in benchmarks and 1 in export code."
    )


@pytest.mark.parametrize(
    ("said", "shown", "told"),
    [
        ((), 5, ""),
        (("tests", "benchmarks"), 2, "3 findings left out (`leave-out`)."),
        (("ALL",), 1, "4 findings left out (`leave-out`)."),
    ],
)
def test_what_is_left_out_is_counted(
    tmp_path: Path, said: tuple[str, ...], shown: int, told: str
) -> None:
    run = checked(tmp_path, leave_out=said)
    assert (len(run.results), run.left_out) == (shown, 5 - shown)
    assert told in summary(run)
    assert ("left out" in summary(run)) is bool(told)


def test_where_all_is_left_out_the_summary_says_so(tmp_path: Path) -> None:
    put(tmp_path, {"tests/test_net.py": NET})
    config = Config(tmp_path, leave_out=("tests",))
    run = check_files([tmp_path / "tests" / "test_net.py"], config)
    assert summary(run) == "All checks passed! 1 finding left out (`leave-out`)."


def test_runs_over_parts_of_a_project_count_together(tmp_path: Path) -> None:
    run = checked(tmp_path, leave_out=("tests", "benchmarks"))
    assert in_one([run, run]).left_out == 6


def test_the_full_format_groups_places_at_the_end(tmp_path: Path) -> None:
    text = as_text(checked(tmp_path), View(tmp_path))
    order = re.findall(r"^(?:\d+ findings? in .*:$|[\w/]+\.py(?=:))", text, re.MULTILINE)
    assert order == [
        "src/net.py",
        "1 finding in tests:",
        "tests/test_net.py",
        "2 findings in benchmarks:",
        "bench/size.py",
        "bench/speed.py",
        "1 finding in export code:",
        "src/zoo/export_net.py",
    ]


def test_an_explanation_says_that_a_finding_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, FILES)
    file = tmp_path / "tests" / "test_net.py"
    answer = why([file], Config(tmp_path, leave_out=("tests",)), {}, file, 6)
    assert answer is not None
    [verdict] = [one for one in answer.verdicts if one.code == "TCL101"]
    assert verdict.silent == "`leave-out` leaves the file out"


def test_the_command_line_and_the_file_say_what_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, {**FILES, "tclint.toml": 'leave-out = ["ALL"]\n'})

    def codes(*more: str) -> tuple[int, str]:
        done = tclint("check", "--no-cache", *more, "--output-format=concise", cwd=tmp_path)
        return done.returncode, done.stdout

    assert codes("tests")[0] == 0
    assert "Found 1 finding (1 graph break)." in codes()[1]
    assert "Found 5 findings" in codes("--leave-out=")[1]
    assert "Found 3 findings" in codes("--leave-out=tests,export")[1]


def test_the_page_shows_the_table() -> None:
    text = (ROOT / "docs" / "silencing.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    told = [tuple(tuple(re.findall(r"`(.+?)`", cell)) for cell in row) for row in rows]
    assert [(name, {*folders}, files) for (name,), folders, files in told] == [
        (place.name, {*place.folders}, (*place.files, *place.but)) for place in PLACES
    ]
