"""Reports that are printed again: only while all that they rest on is as it was."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tclint.cache import freshness
from tclint.cache.envelope import FOLDER, unpacked
from tclint.cache.report_cache import PARTS, holds
from tclint.cache.store import Cache
from tclint.cli import terminal
from tclint.cli.configuration import Overrides
from tclint.cli.execution import recorder_of, remember
from tclint.cli.inputs import gather
from tclint.lint.engine import check_files, in_one
from tclint.lint.execution import Execution
from tests.cli_runs import BREAKS, tclint

TICK = 0.02
"""Seconds: file systems count time in steps."""
SETTLED = 2.2
"""Seconds after which a change cannot have gone unseen."""
HELPER = "def f(x):\n    return x.item()\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("src/deep", "src/empty", "outside", ".venv/lib/python3.11/site-packages/dep"):
        (folder / name).mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.tclint]\n", "utf-8")
    (folder / ".gitignore").write_text("*.tmp\n", "utf-8")
    (folder / "src/net.py").write_text(
        "import dep\n" + BREAKS.replace("x * scale", "dep.f(x)"), "utf-8"
    )
    (folder / "src/deep/.gitignore").write_text("*.tmp\n", "utf-8")
    (folder / "src/deep/tclint.toml").write_text("select = ['TCL1']\n", "utf-8")
    (folder / "src/deep/net.py").write_text(BREAKS, "utf-8")
    (folder / "outside/net.py").write_text(BREAKS, "utf-8")
    (folder / "src/linked.py").symlink_to(folder / "outside/net.py")
    (folder / "alias").symlink_to(folder / "src")
    (folder / ".venv/lib/python3.11/site-packages/dep/__init__.py").write_text(HELPER, "utf-8")
    return folder


@dataclass(frozen=True)
class Recorded:
    """What a report rests on, as it lies in the cache; None when it was not remembered."""

    known: dict[str, list[list[object]]] | None

    @property
    def holds(self) -> bool:
        assert self.known is not None
        known = [self.known[name] for name in PARTS]
        return holds(*known)  # type: ignore[arg-type]


Record = Callable[..., Recorded]


@pytest.fixture
def record(project: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "argv", ["tclint", "check"])
    monkeypatch.setattr(terminal, "_told", [])

    def recorded(
        *named: str,
        started: int | None = None,
        meanwhile: Callable[[], object] = lambda: None,
        first: bool = False,
    ) -> Recorded:
        paths = [*map(Path, named)]
        inputs = gather(paths, Overrides(), None)
        folder = project / FOLDER
        if not first:
            folder.mkdir(exist_ok=True)
        settled = time.time_ns() + 10**10 if started is None else started
        recorder = recorder_of(Execution(1, Cache(folder)), inputs, paths, settled)
        assert recorder is not None
        folder.mkdir(exist_ok=True)  # as a run does before it remembers its report
        run = in_one([check_files(files, config) for config, files in inputs.parts])
        assert run.results
        meanwhile()
        remember(recorder, run, "text\n", 1)
        reports = [*folder.glob("*.report")]
        return Recorded(unpacked(reports[0].read_bytes()) if reports else None)

    return recorded


def edited_in_place(path: Path) -> None:
    """Other content of the same length, with the old time: only that of the change tells."""
    status = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def relinked(link: Path, target: Path) -> None:
    link.unlink()
    link.symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file": lambda here: edited_in_place(here / "src/net.py"),
    "a file further down": lambda here: edited_in_place(here / "src/deep/net.py"),
    "a file behind a link": lambda here: edited_in_place(here / "outside/net.py"),
    "a file that is gone": lambda here: (here / "src/deep/net.py").unlink(),
    "a new file": lambda here: (here / "src/new.py").write_text(BREAKS, "utf-8"),
    "a file in an empty folder": lambda here: (here / "src/empty/n.py").write_text("", "utf-8"),
    "a folder": lambda here: (here / "src/empty/more").mkdir(),
    "another name": lambda here: (here / "src/net.py").rename(here / "src/other.py"),
    "a link elsewhere": lambda here: relinked(here / "src/linked.py", here / "src/net.py"),
    "permissions": lambda here: (here / "src/net.py").chmod(0o600),
    "the configuration": lambda here: edited_in_place(here / "pyproject.toml"),
    "a nearer configuration": lambda here: (here / "src/tclint.toml").write_text("", "utf-8"),
    "one that comes before it": lambda here: (here / "tclint.toml").write_text("", "utf-8"),
    "a configuration below": lambda here: edited_in_place(here / "src/deep/tclint.toml"),
    "ignored files": lambda here: edited_in_place(here / "src/deep/.gitignore"),
    "a lock file": lambda here: (here / "uv.lock").write_text("", "utf-8"),
    "requirements": lambda here: (here / "requirements-gpu.txt").write_text("", "utf-8"),
    "a folder of requirements": lambda here: (here / "requirements").mkdir(),
    "a repository": lambda here: (here / ".git").mkdir(),
    "a repository above": lambda here: (here.parent / ".git").mkdir(),
    "a package above": lambda here: (here / "__init__.py").write_text("", "utf-8"),
    "another package": lambda here: (here / ".venv/lib/python3.11/site-packages/new").mkdir(),
    "an installed file": lambda here: edited_in_place(
        here / ".venv/lib/python3.11/site-packages/dep/__init__.py"
    ),
    "the environment": lambda here: (here / ".venv").rename(here / "venv"),
}


@pytest.mark.parametrize("first", [False, True], ids=["", "first run"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_report_holds_until_something_changes(
    project: Path, record: Record, change: Callable[[Path], object], *, first: bool
) -> None:
    recorded = record("src", first=first)
    assert recorded.holds
    time.sleep(TICK)
    change(project)
    assert not recorded.holds


def test_a_folder_named_by_a_link_is_looked_at_through_it(project: Path, record: Record) -> None:
    recorded = record("alias")
    assert recorded.holds
    relinked(project / "alias", project / "outside")
    assert not recorded.holds


def test_a_named_file_rests_on_the_configurations_around_it(project: Path, record: Record) -> None:
    (project / "src/deep/tclint.toml").unlink()
    recorded = record("src/deep/net.py", "src/net.py")
    assert recorded.holds
    (project / "src/deep/pyproject.toml").write_text("[tool.tclint]\n", "utf-8")
    assert not recorded.holds


def test_a_named_file_rests_on_those_that_may_call_it(project: Path, record: Record) -> None:
    recorded = record("src/net.py")
    assert recorded.holds
    edited_in_place(project / "outside/net.py")
    assert not recorded.holds
    recorded = record("src/net.py")
    assert recorded.holds
    (project / "src/deep/new.py").write_text("", "utf-8")
    assert not recorded.holds


def test_the_rules_are_among_what_a_report_rests_on(record: Record) -> None:
    known = record("src").known
    assert known is not None
    names = {Path(str(name)).as_posix().rpartition("main/")[2] for name, _ in known["stamps"]}
    assert {"check.py", "report_inputs.py"} <= {name.rpartition("/")[2] for name in names}
    assert any(name.endswith("TCL101.py") or "item" in name for name in names)


def test_what_was_written_just_now_is_not_vouched_for(record: Record) -> None:
    assert record("src", started=time.time_ns()).known is None


def test_what_is_written_under_the_run_is_not_vouched_for(project: Path, record: Record) -> None:
    def write() -> None:
        time.sleep(TICK)
        edited_in_place(project / "src/deep/net.py")

    assert record("src", meanwhile=write).known is None


COMES: dict[str, Callable[[Path], object]] = {
    "a file": lambda here: (here / "more.py").write_text(BREAKS, "utf-8"),
    "a folder": lambda here: (here / "more").mkdir(),
    "another name": lambda here: (here / "alias").rename(here / "other"),
    "one that goes": lambda here: (here / "notes.md").unlink(),
}


@pytest.mark.parametrize("name", ["src", "."])
@pytest.mark.parametrize("comes", COMES.values(), ids=COMES)
def test_what_comes_beside_a_new_cache_is_not_vouched_for(
    project: Path, record: Record, comes: Callable[[Path], object], name: str
) -> None:
    (project / "notes.md").write_text("", "utf-8")
    time.sleep(TICK)
    soon = time.time_ns() + freshness.SETTLED  # what is there by now is just old enough
    assert record(name, first=True, started=soon).holds
    shutil.rmtree(project / FOLDER)
    time.sleep(TICK)
    soon = time.time_ns() + freshness.SETTLED
    again = record(name, first=True, started=soon, meanwhile=lambda: comes(project))
    assert again.known is None


def test_what_came_before_a_new_cache_is_not_vouched_for(project: Path, record: Record) -> None:
    assert record("src", first=True, started=time.time_ns()).known is None
    (project / FOLDER).rmdir()
    old = time.time_ns() - 10**10
    for folder in (project, *project.rglob("*")):
        os.utime(folder, ns=(old, old))
    assert record("src", first=True, started=time.time_ns()).known is None


def test_a_folder_above_where_a_link_leads_is_not_beside_the_cache(
    project: Path, tmp_path: Path, record: Record
) -> None:
    (tmp_path / "other/deep").mkdir(parents=True)
    (tmp_path / "other/net.py").write_text(BREAKS, "utf-8")
    (project / "leads").symlink_to(tmp_path / "other/deep")
    recorded = record("leads/..", first=True)
    assert recorded.holds
    time.sleep(TICK)
    (tmp_path / "other/more.py").write_text(BREAKS, "utf-8")
    assert not recorded.holds


def test_a_first_run_over_all_of_a_project_is_remembered(project: Path) -> None:
    first = settled(project, ".")
    assert check(project, ".") == replace(first, replayed=True)
    (project / "more.py").write_text(BREAKS, "utf-8")
    after = check(project, ".")
    assert not after.replayed
    assert "more.py" in after.out


def test_a_run_that_told_something_else_is_not_remembered(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_told", ["warning: ..."])
    assert record("src").known is None


def test_a_configuration_that_extends_another_is_not_vouched_for(
    project: Path, record: Record
) -> None:
    (project / "base.toml").write_text("", "utf-8")
    (project / "pyproject.toml").write_text("[tool.tclint]\nextend = 'base.toml'\n", "utf-8")
    assert record("src").known is None


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    replayed: bool


def check(project: Path, *arguments: str, **environment: str) -> Done:
    """Run ``tclint check``; what was imported tells whether the report was printed again."""
    done = tclint("check", *arguments, cwd=project, PYTHONPROFILEIMPORTTIME="1", **environment)
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr
    return Done(done.returncode, done.stdout, "typer" not in done.stderr)


def settled(project: Path, *arguments: str) -> Done:
    """The first run over a project that nobody has touched for a while."""
    time.sleep(SETTLED)
    first = check(project, *arguments)
    assert not first.replayed
    return first


@pytest.mark.parametrize("form", ["full", "sarif"])
def test_the_same_run_prints_the_same(project: Path, form: str) -> None:
    first = settled(project, "src", "--output-format", form)
    again = check(project, "src", "--output-format", form)
    assert again == Done(1, first.out, replayed=True)
    assert check(project, "src", "--output-format", form, "--no-cache") == first


@pytest.mark.slow
def test_another_question_is_answered_anew(project: Path) -> None:
    settled(project, "src")
    assert check(project, "src").replayed
    assert not check(project, "src", "--exit-zero").replayed
    assert not check(project, "src", "--statistics").replayed
    assert not check(project / "src", ".").replayed
    assert not check(project, "src", FORCE_COLOR="1").replayed
    assert not check(project, "src", COLUMNS="60").replayed
    assert not check(project, "src", TCLINT_OUTPUT_FORMAT="json").replayed
    assert check(project, "src", SHLVL="7").replayed


def test_the_next_run_after_a_change_tells_of_it(project: Path) -> None:
    settled(project, "src")
    (project / "src/more.py").write_text(BREAKS, "utf-8")
    after = check(project, "src")
    assert not after.replayed
    assert "more.py" in after.out
    (project / "src/more.py").unlink()
    assert "more.py" not in check(project, "src").out


def test_files_that_do_not_parse_are_told_of_again(project: Path) -> None:
    (project / "src/broken.py").write_text("def f(:\n", "utf-8")
    first = settled(project, "src")
    assert "broken.py:1:7" in first.out
    assert check(project, "src") == replace(first, replayed=True)


def test_errors_besides_the_report_are_not_remembered(project: Path) -> None:
    (project / "src/bad.py").write_bytes(b"\xff\xfe\x00")
    settled(project, "src")
    assert not check(project, "src").replayed


@pytest.mark.slow
def test_a_damaged_report_is_as_good_as_none(project: Path) -> None:
    first = settled(project, "src")
    (report,) = (project / ".tclint_cache").glob("*.report")
    whole = report.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], whole.replace(b"TCL", b"LCT"), b"\xff" * 99):
        report.write_bytes(broken)
        assert check(project, "src") == first


def test_what_depends_on_more_is_not_remembered(project: Path, tmp_path: Path) -> None:
    settled(project, "src")
    check(project, "src", "--update-baseline", "--baseline", str(tmp_path / "known.json"))
    for more in (
        ["--baseline", str(tmp_path / "known.json")],
        ["--config", "select=['TCL1']"],
        ["--output-file", str(tmp_path / "report.txt")],
        ["--no-cache"],
    ):
        tclint("check", "src", *more, cwd=project)
        assert len([*project.rglob("*.report")]) == 1


def test_the_report_is_found_where_the_cache_is(project: Path, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    settled(project, "src", "--cache-dir", elsewhere)
    assert check(project, "src", "--cache-dir", elsewhere).replayed
    check(project, "src", f"--cache-dir={elsewhere}")
    assert check(project, "src", f"--cache-dir={elsewhere}").replayed
    check(project, "src", TCLINT_CACHE_DIR=elsewhere)
    assert check(project, "src", TCLINT_CACHE_DIR=elsewhere).replayed
    assert not (project / ".tclint_cache").exists()
    check(tmp_path, str(project / "src"))
    assert check(tmp_path, str(project / "src")).replayed


def test_clean_forgets_reports(project: Path) -> None:
    settled(project, "src")
    tclint("clean", cwd=project)
    assert not (project / ".tclint_cache").exists()
    assert not check(project, "src").replayed


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no /dev/full")
def test_a_full_disk_is_told_of_as_ever(project: Path) -> None:
    settled(project, "src")
    command = f"{sys.executable} -m tclint check src"
    assert check(project, "src").replayed
    for times in range(2):
        assert os.system(f"cd {project} && {command} > /dev/full 2> {project}/err") >> 8 == 2, times
        assert "cannot write to standard output" in (project / "err").read_text()
        assert os.system(f"cd {project} && {command} | true") == 0
