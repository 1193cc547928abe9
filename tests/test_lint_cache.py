"""What is remembered of a run, and what makes tclint forget it."""

from __future__ import annotations

import errno
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from tclint.cache import store
from tclint.cache.envelope import unpacked
from tclint.cache.store import KEPT, Cache
from tclint.config import Config
from tclint.diagnostics import Diagnostic
from tclint.lint import shards
from tclint.lint.engine import Execution, Program, Run, check_files
from tclint.lint.outcome import Outcome
from tclint.lint.registry import known_rules
from tclint.lint.shards import Shard
from tclint.report.formats import OutputFormat, render
from tclint.report.view import View
from tclint.source.file import SourceFile
from tests.semantics_probe import put

Examined = tuple[list[Outcome], dict[str, SourceFile]]
EXAMINED = store.examined

HELPER = "def scale(x):\n    return x.mean()\n"
READING = "def scale(x):\n    return x.mean().item()\n"
CALLER = """\
import torch
from {module} import scale


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x * scale(x)
"""
MANY = {
    "pkg/__init__.py": "",
    "pkg/helper.py": READING,
    "pkg/net.py": CALLER.format(module="pkg.helper"),
    "pkg/fixable.py": """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        print(x)
        y = torch.zeros(3).to(x.device)
        if x.sum() > 0:
            return x * y
        return x.sum().item()  # tclint: ignore[TCL101]
""",
    "pkg/broken.py": "def f(:\n",
}


class Runs:
    """Runs over a folder with one cache, and how many shards had to be analysed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.cache, self.analysed = folder, folder / "cache", 0
        monkeypatch.setattr(store, "examined", self._counted)

    def _counted(self, program: Program, parts: Sequence[Shard], how: Execution) -> Examined:
        self.analysed += len(parts)
        return EXAMINED(program, parts, how)

    def __call__(self, config: Config | None = None, label: str = "") -> Run:
        self.analysed = 0
        paths = sorted(self.folder.rglob("*.py"), key=lambda path: path.parts)
        cache = Cache(self.cache, (label,))
        return check_files(paths, config or Config(self.folder), None, Execution(1, cache))

    @property
    def file(self) -> Path:
        [file] = self.cache.glob("*.run")
        return file


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WHOLE", 1), ("SMALLEST", 1), ("LARGEST", 2), ("ONE_IN", 1)):
        monkeypatch.setattr(shards, name, value)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be old enough for its version to vouch for it."""
    monkeypatch.setattr("tclint.cache.freshness.SETTLED", -(10**12))


def codes(run: Run) -> list[str]:
    return [f"{r.diagnostic.path.name} {r.diagnostic.code}" for r in run.results]


def reports(run: Run, folder: Path) -> dict[OutputFormat, str]:
    view = View(folder, rules=known_rules())
    return {kind: render(kind, run, view) for kind in OutputFormat}


@pytest.mark.usefixtures("settled")
def test_a_remembered_run_reads_like_a_fresh_one_in_every_format(
    runs: Runs, tmp_path: Path
) -> None:
    put(tmp_path, MANY)
    (tmp_path / "pkg/odd.py").write_bytes(b"x = '\xff'\n")
    cold = runs()
    assert runs.analysed == 1
    warm = runs()
    assert runs.analysed == 0
    assert len(cold.results) > 4
    assert any(result.repair for result in cold.results)
    assert any(result.diagnostic.declined for result in cold.results)
    assert warm.errors == cold.errors
    assert [r.diagnostic for r in warm.results] == [r.diagnostic for r in cold.results]
    assert reports(warm, tmp_path) == reports(cold, tmp_path)
    uncached = check_files(sorted(tmp_path.rglob("*.py")), Config(tmp_path))
    assert reports(uncached, tmp_path) == reports(cold, tmp_path)


def test_every_field_of_a_diagnostic_is_remembered(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    cold, warm = runs(), runs()
    for before, after in zip(cold.results, warm.results, strict=True):
        for field in fields(Diagnostic):
            told, name = getattr(after.diagnostic, field.name), field.name
            assert told == getattr(before.diagnostic, name), name
            assert type(told) is type(getattr(before.diagnostic, name)), name


def test_a_changed_helper_changes_its_callers_findings(
    runs: Runs, small_shards: None, tmp_path: Path
) -> None:
    put(tmp_path, {"ops/helper.py": HELPER, "net/net.py": CALLER.format(module="helper")})
    put(tmp_path, {"ops/__init__.py": "", "other/alone.py": "x = 1\n"})
    put(tmp_path, {"net/net.py": CALLER.format(module="ops.helper")})
    assert codes(runs()) == []
    put(tmp_path, {"ops/helper.py": READING})
    assert codes(runs()) == ["helper.py TCL101"]
    assert runs.analysed == 2  # the helper and its caller, not the file that stands alone
    put(tmp_path, {"ops/helper.py": HELPER})
    assert codes(runs()) == []


def test_a_helper_that_is_renamed_or_removed_changes_its_callers(
    runs: Runs, small_shards: None, tmp_path: Path
) -> None:
    put(tmp_path, {"a/net.py": CALLER.format(module="helper"), "a/helper.py": READING})
    assert codes(runs()) == ["helper.py TCL101"]
    (tmp_path / "a/helper.py").rename(tmp_path / "a/renamed.py")
    assert codes(runs()) == []
    (tmp_path / "a/renamed.py").rename(tmp_path / "a/helper.py")
    assert codes(runs()) == ["helper.py TCL101"]
    (tmp_path / "a/helper.py").unlink()
    assert codes(runs()) == []


@pytest.mark.usefixtures("settled")
def test_a_new_file_may_shadow_what_was_imported(
    runs: Runs, small_shards: None, tmp_path: Path
) -> None:
    put(tmp_path, {"a/net.py": CALLER.format(module="helper"), "z/helper.py": HELPER})
    assert codes(runs()) == []
    put(tmp_path, {"a/helper.py": READING})
    assert codes(runs()) == ["helper.py TCL101"]


def test_a_folder_that_becomes_a_package_keeps_its_findings(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, {"pkg/net.py": CALLER.format(module="pkg.sub.helper")})
    put(tmp_path, {"pkg/sub/helper.py": READING})
    assert codes(runs()) == ["helper.py TCL101"]
    put(tmp_path, {"pkg/__init__.py": "", "pkg/sub/__init__.py": ""})
    assert codes(runs()) == ["helper.py TCL101"]


@pytest.mark.usefixtures("settled")
def test_files_that_were_only_touched_are_not_analysed_again(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    runs()
    for path in tmp_path.rglob("*.py"):
        path.touch()
    runs()
    assert runs.analysed == 0


@pytest.mark.usefixtures("settled")
@pytest.mark.skipif(sys.platform == "win32", reason="no time of change")
def test_an_edit_of_equal_length_that_sets_the_time_back_is_seen(
    runs: Runs, tmp_path: Path
) -> None:
    [path] = put(tmp_path, {"a.py": MANY["pkg/fixable.py"]})
    status = path.stat()
    before = codes(runs())
    path.write_text(MANY["pkg/fixable.py"].replace("print(x)", "# rint x"), "utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert codes(runs()) != before


@pytest.mark.usefixtures("settled")
def test_another_file_moved_into_its_place_is_seen(runs: Runs, tmp_path: Path) -> None:
    [path] = put(tmp_path, {"a.py": MANY["pkg/fixable.py"]})
    status = path.stat()
    before = codes(runs())
    other = tmp_path / "other.txt"
    other.write_text(MANY["pkg/fixable.py"].replace("print(x)", "# rint x"), "utf-8")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert codes(runs()) != before


def test_a_change_within_a_tick_of_the_clock_is_seen(runs: Runs, tmp_path: Path) -> None:
    [path] = put(tmp_path, {"a.py": MANY["pkg/fixable.py"]})
    written = path.stat().st_mtime_ns
    before = codes(runs())
    path.write_text(MANY["pkg/fixable.py"].replace("print(x)", "# rint x"), "utf-8")
    os.utime(path, ns=(written, written))
    assert codes(runs()) != before


def test_a_changed_configuration_is_another_run(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    everything = codes(runs())
    fewer = codes(runs(Config(tmp_path, ignore=("TCL1",))))
    assert runs.analysed == 1
    assert len(fewer) < len(everything)
    assert codes(runs()) == everything
    assert runs.analysed == 0


def test_packages_that_are_installed_meanwhile_count(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, {"net.py": CALLER.format(module="helper")})
    (tmp_path / ".venv/lib/python3.12/site-packages").mkdir(parents=True)
    runs()
    put(tmp_path / ".venv/lib/python3.12/site-packages", {"helper/__init__.py": READING})
    runs()
    assert runs.analysed == 1


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut in half"),
        pytest.param(lambda data: data[:-1], id="last byte missing"),
        pytest.param(lambda data: os.urandom(4096), id="garbage"),
        pytest.param(lambda data: data.replace(b"cache 2", b"cache 1", 1), id="other format"),
        pytest.param(lambda data: data.replace(b"TCL101", b"TCL102", 1), id="changed by hand"),
    ],
)
def test_a_damaged_cache_is_as_good_as_none(
    runs: Runs, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    put(tmp_path, MANY)
    cold = runs()
    runs.file.write_bytes(damage(runs.file.read_bytes()))
    again = runs()
    assert runs.analysed == 1
    assert reports(again, tmp_path) == reports(cold, tmp_path)
    runs()
    assert runs.analysed == 0


def test_another_version_of_tclint_remembers_nothing(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, MANY)
    runs()
    monkeypatch.setattr("tclint.cache.identity.__version__", "99.0")
    runs()
    assert runs.analysed == 1


def test_a_folder_that_takes_no_cache_costs_a_warning(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    uncached = codes(check_files(sorted(tmp_path.rglob("*.py")), Config(tmp_path)))
    (tmp_path / "cache").write_text("a file", "utf-8")
    with pytest.warns(RuntimeWarning, match=r"cannot write the cache .*cache: .*--no-cache"):
        assert codes(runs()) == uncached


def test_a_full_disk_leaves_the_old_cache_and_no_rubbish(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, MANY)
    runs()
    before = runs.file.read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    put(tmp_path, {"pkg/helper.py": HELPER})
    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="no space left"):
        patch.setattr(Path, "replace", full)
        runs()
    assert runs.file.read_bytes() == before
    assert {path.name for path in runs.cache.iterdir()} == {
        ".gitignore", "CACHEDIR.TAG", runs.file.name,
    }  # fmt: skip


def test_an_unreadable_file_is_tried_again(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    (tmp_path / "pkg/gone.py").symlink_to(tmp_path / "nowhere.py")
    assert any("gone.py" in str(error.path) for error in runs().errors)
    (tmp_path / "nowhere.py").write_text(MANY["pkg/fixable.py"], "utf-8")
    assert "gone.py TCL120" in codes(runs())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_not_waited_for(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    os.mkfifo(tmp_path / "pkg/pipe.py")
    assert any("not a regular file" in error.message for error in runs().errors)


def test_a_file_that_is_too_big_is_not_read_to_be_remembered(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, MANY)
    for module in ("tclint.cache.freshness", "tclint.source.decode"):
        monkeypatch.setattr(f"{module}.MAX_BYTES", len(MANY["pkg/fixable.py"]) - 1)
    cold, warm = runs(), runs()
    assert runs.analysed == 0
    assert cold.errors == warm.errors
    assert any("over the limit" in error.message for error in cold.errors)


@pytest.mark.usefixtures("settled")
def test_lines_around_findings_are_remembered(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    before = reports(runs(), tmp_path)
    warm = runs()
    for path in tmp_path.rglob("*.py"):
        path.write_text("# another text\n" * 40, "utf-8")
    assert runs.analysed == 0
    text = render(OutputFormat.FULL, warm, View(tmp_path))
    assert text == before[OutputFormat.FULL]


def test_the_runs_written_last_are_kept(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, {"a.py": "x = 1\n"})
    for number in range(KEPT + 4):
        runs(label=str(number))
    assert len([*runs.cache.glob("*.run")]) == KEPT
    runs(label=str(KEPT + 3))
    assert runs.analysed == 0


def test_nothing_warns_where_all_is_well(runs: Runs, tmp_path: Path) -> None:
    put(tmp_path, MANY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs()
        runs()


@pytest.mark.parametrize("behind", [0, 3_600 * 10**9])
def test_the_clock_of_a_file_server_may_be_behind(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    """A file that was just written is read again, though it seems old."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + behind)
    put(tmp_path, {"a.py": MANY["pkg/fixable.py"]})
    runs()
    _, memory = unpacked(runs.file.read_bytes())
    assert [settled for *_, settled in memory["files"]] == [False]
