"""``kill -9`` at random moments of a fix, and of a check that writes its cache.

Promised: every source file holds either its old text or its new one, whole; the next run does all
that is left to do, its findings are those of a run without a cache, and no temporary file of the
killed one is left anywhere. Failures are other contents, other findings and files left. Half of the
kills wait for the first trace that the run leaves on the disk, since most of a run only reads.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.attack.command import complaints, kill, ran, started
from benchmarks.attack.kind import Kind, Slice, Tried

OLD = """\
import torch


@torch.compile
def f{0}(x: torch.Tensor) -> torch.Tensor:
    print("{0}")
    return torch.zeros(3).to(x.device) + x * {0}
"""
FILES = 16
"""In each of two folders."""
SORTS = ("fix", "fix", "fix", "check")
_STATE = ".tclint_cache"


def tried(part: Slice) -> Iterator[Tried]:
    """Kill runs, and look at what they leave."""
    kills = {"fix": kill_fix, "check": kill_check}
    for number in part.numbers:
        sort, chance = SORTS[number % len(SORTS)], part.chance(number)
        seen: list[str] = []
        failure = None
        try:
            kills[sort](part.folder / str(number), chance, seen)
        except AssertionError as error:
            failure = str(error)
        yield Tried(number, f"kill during {sort}", failure, (f"of {sort}", *seen))


def kill_fix(folder: Path, chance: Random, seen: list[str]) -> None:
    """Kill a fix, look at its files, let the next one finish.

    Raises:
        AssertionError: something is not as promised.
    """
    project, scratch = made(folder)
    fixed, seconds = undisturbed()
    process = started(["fix", "--unsafe-fixes"], project, {"TMPDIR": str(scratch)})
    strike(process, project, chance, seconds)
    before = old_texts()
    for name, text in texts(project).items():
        assert text in (before[name], fixed[name]), f"{name} is neither old nor new:\n{text}"
    if texts(project) not in (before, fixed):
        seen.append("between two files")
    if names(project) > before.keys() or [*scratch.iterdir()]:
        seen.append("left temporary files to sweep")
    done = ran("fix", "--unsafe-fixes", folder=project, environment={"TMPDIR": str(scratch)})
    assert not [*complaints(done)], [*complaints(done)]
    assert texts(project) == fixed, "the next fix did not finish the work"
    assert_swept(project, scratch)


def kill_check(folder: Path, chance: Random, seen: list[str]) -> None:
    """Kill a check that writes its cache; the next one finds the same as without.

    Raises:
        AssertionError: something is not as promised.
    """
    project, scratch = made(folder)
    environment = {"TMPDIR": str(scratch)}
    whole = ran("check", "--no-cache", folder=project, environment=environment)
    _, seconds = undisturbed()
    process = started(["check"], project, environment)
    strike(process, project, chance, seconds)
    if (project / _STATE).exists():
        seen.append("cache begun")
    for _ in range(2):
        done = ran("check", folder=project, environment=environment)
        assert not [*complaints(done)], [*complaints(done)]
        assert (done.code, done.out) == (whole.code, whole.out), "other findings after the kill"
    assert_swept(project, scratch)


def strike(process: subprocess.Popen[bytes], project: Path, chance: Random, seconds: float) -> None:
    """Kill a process at a random moment of the time that it takes, or after its first trace."""
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0.2, 1.1) * seconds)
    else:
        stamp = trace(project)
        while process.poll() is None and trace(project) == stamp:
            time.sleep(0.0002)
        time.sleep(chance.uniform(0, 0.02))
    kill(process)
    process.communicate()


def trace(project: Path) -> list[int]:
    """Changes when a file comes or goes in one of the folders."""
    return [folder.stat().st_mtime_ns for folder in (project, project / "a", project / "b")]


def made(folder: Path) -> tuple[Path, Path]:
    """A project to work on, and an empty folder for temporary files."""
    project, scratch = folder / "project", folder / "scratch"
    for place in (project / "a", project / "b", scratch):
        place.mkdir(parents=True)
    for name, text in old_texts().items():
        (project / name).write_text(text)
    return project, scratch


@cache
def old_texts() -> dict[str, str]:
    """The project's files."""
    files = {f"{part}/m{n}.py": OLD.format(n) for part in "ab" for n in range(FILES)}
    return {"tclint.toml": "", **files}


@cache
def undisturbed() -> tuple[dict[str, str], float]:
    """What a fix makes of the project when nothing kills it, and the seconds that it takes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        project, _ = made(Path(folder))
        began = time.monotonic()
        ran("fix", "--unsafe-fixes", folder=project)
        after = texts(project)
        assert after.keys() == old_texts().keys()
        assert sum(after[name] != old for name, old in old_texts().items()) == 2 * FILES
        return after, time.monotonic() - began


def texts(project: Path) -> dict[str, str]:
    """What the project's own files hold; a file that is gone is missing here."""
    paths = [project / name for name in old_texts()]
    return {str(p.relative_to(project)): p.read_text() for p in paths if p.exists()}


def names(project: Path) -> set[str]:
    """All files below the project, but the cache."""
    files = {str(p.relative_to(project)) for p in project.rglob("*") if p.is_file()}
    return {name for name in files if not name.startswith(_STATE)}


def assert_swept(project: Path, scratch: Path) -> None:
    """Nothing is left that a finished run would not leave.

    Raises:
        AssertionError: something is.
    """
    left = sorted(names(project) - old_texts().keys()) + [p.name for p in scratch.iterdir()]
    cached = [path.name for path in (project / _STATE).glob("*") if not of_a_cache(path)]
    assert not left + cached, f"left behind: {left + cached}"


def of_a_cache(path: Path) -> bool:
    """Whether a finished run leaves this in its cache."""
    return path.suffix in {".run", ".report", ".lock"} or path.name in {
        "CACHEDIR.TAG",
        ".gitignore",
    }


KIND = Kind("kills", 300, 20, tried)
