"""Slices of the attack, which ``python -m benchmarks.attack`` carries out as a whole."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="a forge is served")
pytest.importorskip("resource", reason="the attack needs Linux")

from benchmarks.attack import setups
from benchmarks.attack.kind import Slice
from benchmarks.attack.kinds import KINDS, attacked, slices
from benchmarks.attack.mutants import broken, seeds
from benchmarks.attack.mutate import MUTATIONS

SLICES = [
    ("mutants", 0, 60),
    ("caches", 2, 3),
    ("caches", 8, 2),
    ("setups", 0, 1),
    ("setups", 6, 1),
    ("setups", 14, 1),
    ("garbage", 0, 12),
    ("recordings", 0, 4),
    ("runs", 6, 2),
]
SLOW = [
    ("mutants", 0, 1000),
    pytest.param("mutants", 1000, 9000, marks=pytest.mark.exhaustive),
    ("kills", 0, 20),
    ("caches", 0, 20),
    ("setups", 0, 33),
    ("targets", 3, 30),
    ("forges", 0, 2),
    ("garbage", 0, 50),
    ("recordings", 0, 40),
    ("runs", 0, 39),
    ("fleets", 0, 8),
]

EVERY = [pytest.param(20, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)]

MEMORY = 6 << 30
"""Six times what a run over everything that is installed takes."""


def failed(tmp_path: Path, kind: str, first: int, count: int) -> list[str]:
    parts = slices(KINDS[kind], 0, first, count, tmp_path)
    found = [one for part in parts for one in attacked(kind, part)[1]]
    assert len(found) >= count
    return [f"{one.number} ({one.what}): {one.failure}" for one in found if one.failure]


@pytest.mark.usefixtures("copied_runs")
@pytest.mark.sample_of("test_nothing_fails_in_a_larger_slice_of_the_attack")
@pytest.mark.parametrize(("kind", "first", "count"), SLICES)
def test_nothing_fails_in_a_slice_of_the_attack(
    tmp_path: Path, kind: str, first: int, count: int
) -> None:
    assert failed(tmp_path, kind, first, count) == []


@pytest.mark.slow(40)
@pytest.mark.usefixtures("copied_runs")
@pytest.mark.parametrize(("kind", "first", "count"), SLOW)
def test_nothing_fails_in_a_larger_slice_of_the_attack(
    tmp_path: Path, kind: str, first: int, count: int
) -> None:
    assert failed(tmp_path, kind, first, count) == []


def test_a_number_makes_the_same_input_in_any_slice(tmp_path: Path) -> None:
    one, all_of_them = Slice(3, 7, 1, tmp_path), Slice(3, 0, 20, tmp_path)
    assert broken(one.chance(7)) == broken(all_of_them.chance(7))
    assert len({broken(all_of_them.chance(number)) for number in all_of_them.numbers}) > 15


def test_a_run_that_breaks_a_promise_is_a_failure(tmp_path: Path) -> None:
    def canary(place: setups.Place) -> None:
        place.canary.write_text("run")

    def no_good_file(place: setups.Place) -> None:
        (place.project / "net.py").write_text("")

    commands = (setups.CHECK,)
    bad = [
        *setups.endured(setups.Setup("runs", canary, commands), tmp_path / "runs"),
        *setups.endured(setups.Setup("misses", no_good_file, commands), tmp_path / "misses"),
    ]
    assert "it ran what the repository names" in bad[0]
    assert "it did not go on" in bad[1]


def test_every_way_of_breaking_a_program_breaks_some() -> None:
    text, chance = b"".join(seeds()), random.Random(0)
    for mutation in MUTATIONS:
        assert any(mutation(text, text, chance) != text for _ in range(9)), mutation.__name__


@pytest.mark.parametrize("every", EVERY)
def test_nothing_that_is_installed_crashes_a_run(every: int) -> None:
    program = (
        "import resource, sysconfig\n"
        "from pathlib import Path\n"
        "from benchmarks.attack.mutants import failures\n"
        "from tclint.config import Config\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))\n"
        f"installed = sorted(Path(sysconfig.get_path('purelib')).rglob('*.py'))[::{every}]\n"
        "print(*failures(installed, Config(Path.cwd(), third_party=False)), 'the end')\n"
    )
    # By itself, under a limit: what takes all memory is to show a traceback, not to end the tests.
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("the end\n", "")


def test_each_promise_of_the_security_policy_has_a_drill(repository: Path) -> None:
    text = (repository / "SECURITY.md").read_text("utf-8")
    rows = text.split("## What is promised")[1].split("## What is not")[0].splitlines()
    drills = [row.split("|")[3] for row in rows if row.startswith("| ")][2:]
    assert len(drills) > 10
    for drill in drills:
        kinds = re.findall(r"attack `(\w+)`", drill)
        tests = re.findall(r"`(tests/\w+\.py)::(\w+)`", drill)
        assert kinds or tests
        assert {*kinds} <= {*KINDS}
        for file, name in tests:
            assert f"def {name}(" in (repository / file).read_text("utf-8"), name
    named = {kind for drill in drills for kind in re.findall(r"attack `(\w+)`", drill)}
    assert named == {*KINDS}
