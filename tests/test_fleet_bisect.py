"""The commit that made a target worse, found in a real repository without torch."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.fleet.bisect import bisect
from tclint.fleet.config import FleetError, read_fleet
from tclint.fleet.measure import digest_file
from tclint.fleet.units import BREAKS, CodeFile, Measured, Unit
from tests.fleet_help import BREAK, FLEET, WHOLE_ONE, StubCrew, crew_of, without_torch, write_fleet

ONE = "models/a.py:make_one"


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def judge(unit: Unit) -> Measured:
    """A target breaks where its file says so."""
    file = Path(unit.root) / "models/a.py"
    code = (CodeFile("models/a.py", digest_file(file)),)
    if "breaks = True" in file.read_text():
        return replace(WHOLE_ONE, outcome=BREAKS, breaks=(BREAK,), code=code)
    return replace(WHOLE_ONE, code=code)


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Eight commits; from the sixth on the target breaks, and every second changes no code."""
    without_torch(monkeypatch)
    write_fleet(tmp_path)
    text = (tmp_path / "models/a.py").read_text()
    git(tmp_path, "init", "--quiet")
    made = []
    for number in range(8):
        (tmp_path / "README.md").write_text(f"{number}\n")
        more = f"\nversion = {number // 2}\nbreaks = {number >= 5}\n"
        (tmp_path / "models/a.py").write_text(text + more)
        git(tmp_path, "add", "models", "README.md")
        git(tmp_path, "commit", "--quiet", "--message", f"change {number}")
        made.append(git(tmp_path, "rev-parse", "HEAD"))
    return made


def test_the_first_bad_commit_is_found(tmp_path: Path, commits: list[str]) -> None:
    fleet, crew, told = read_fleet(tmp_path / "FLEET.toml"), StubCrew(judge), list[str]()

    def tell(revision: str, measured: Measured) -> None:
        del measured
        told.append(revision)

    found = bisect(fleet, crew_of(crew), ONE, "", (commits[0], "HEAD"), tell)
    assert (found.commit, found.subject) == (commits[5], "change 5")
    assert found.change.startswith("one graph → 1 graph break (models/a.py:3 GB0124")
    assert told[:2] == [commits[0], commits[7]]
    assert len(crew.asked) < len(told) <= 5  # code that was measured is not measured again
    again = StubCrew(judge)
    bisect(fleet, crew_of(again), ONE, "", (commits[0], "HEAD"), tell)
    assert again.asked == []


@pytest.mark.parametrize(
    ("target", "arm", "good", "said"),
    [
        (ONE, "", 6, "is not worse in HEAD than in"),
        (ONE, "", 7, "there is no commit between"),
        (ONE, "fixed", 0, "there is no arm 'fixed'; the file has as found"),
        ("nothing", "", 0, "there is no target 'nothing'"),
    ],
)
def test_what_cannot_be_bisected_is_told(
    tmp_path: Path, commits: list[str], target: str, arm: str, good: int, said: str
) -> None:
    fleet = read_fleet(write_fleet(tmp_path, FLEET))
    git(tmp_path, "checkout", "--quiet", "--force", "HEAD")
    ends = (commits[good], "HEAD")
    with pytest.raises(FleetError, match=said):
        bisect(fleet, crew_of(StubCrew(judge)), target, arm, ends, lambda *told: None)


def test_a_revision_that_is_not_there_is_one_error(tmp_path: Path, commits: list[str]) -> None:
    del commits
    fleet = read_fleet(tmp_path / "FLEET.toml")
    with pytest.raises(FleetError, match="'nowhere' is not a revision"):
        bisect(fleet, crew_of(StubCrew(judge)), ONE, "", ("nowhere", "HEAD"), lambda *told: None)
