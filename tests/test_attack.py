"""Slices of the attack, which ``python -m benchmarks.attack`` carries out as a whole."""

from __future__ import annotations

import random
import sys
import sysconfig
from pathlib import Path

import pytest

for needed in ("httpx", "jwt", "uvicorn", "lsprotocol"):
    pytest.importorskip(needed, reason="the bot and the server are attacked, too")
if sys.platform != "linux":
    pytest.skip("the attack needs Linux", allow_module_level=True)

from benchmarks.attack import setups
from benchmarks.attack.kind import Slice
from benchmarks.attack.kinds import KINDS, attacked, slices
from benchmarks.attack.mutants import broken, failures, seeds
from benchmarks.attack.mutate import MUTATIONS
from tclint.config import Config

SLICES = [
    ("mutants", 0, 60),
    ("kills", 0, 5),
    ("caches", 2, 3),
    ("caches", 8, 2),
    ("setups", 0, 1),
    ("setups", 6, 1),
    ("setups", 14, 1),
    ("deliveries", 0, 20),
    ("garbage", 0, 10),
]
SLOW = [("mutants", 60, 3000), ("caches", 10, 20), ("forges", 0, 10), ("targets", 3, 30)]


def failed(tmp_path: Path, kind: str, first: int, count: int) -> list[str]:
    parts = slices(KINDS[kind], 0, first, count, tmp_path)
    found = [one for part in parts for one in attacked(kind, part)[1]]
    assert len(found) >= count
    return [f"{one.number} ({one.what}): {one.failure}" for one in found if one.failure]


@pytest.mark.parametrize(("kind", "first", "count"), SLICES)
def test_nothing_fails_in_a_slice_of_the_attack(tmp_path: Path, kind: str, first: int, count: int) -> None:
    assert failed(tmp_path, kind, first, count) == []


@pytest.mark.slow
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


@pytest.mark.slow
def test_nothing_that_is_installed_crashes_a_run() -> None:
    installed = sorted(Path(sysconfig.get_path("purelib")).rglob("*.py"))
    assert failures(installed, Config(Path.cwd(), third_party=False)) == []
