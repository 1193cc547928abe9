"""Broken programs: whatever the bytes are, a run ends with findings and errors, never a crash."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from benchmarks.fuzz import failures, fuzz, sources
from benchmarks.mutate import MUTATIONS
from tclint.config import Config


@pytest.fixture
def seeds(repository: Path) -> list[Path]:
    return sources([repository / "fixtures"])


@pytest.mark.sample_of("test_thousands_of_mutants_never_crash_a_run")
def test_mutants_never_crash_a_run(seeds: list[Path], tmp_path: Path) -> None:
    assert [*fuzz(seeds, 150, 0, tmp_path)] == []


def test_every_way_of_breaking_a_program_breaks_some(seeds: list[Path]) -> None:
    text, chance = b"".join(seed.read_bytes() for seed in seeds), random.Random(0)
    for mutation in MUTATIONS:
        assert any(mutation(text, text, chance) != text for _ in range(9)), mutation.__name__


@pytest.mark.slow
def test_thousands_of_mutants_never_crash_a_run(seeds: list[Path], tmp_path: Path) -> None:
    assert [*fuzz(seeds, 3000, 1, tmp_path)] == []


@pytest.mark.slow
def test_nothing_that_is_installed_crashes_a_run() -> None:
    installed = sources([Path(sysconfig.get_path("purelib"))])
    assert failures(installed, Config(Path.cwd(), third_party=False)) == []
