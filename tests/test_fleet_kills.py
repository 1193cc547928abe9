"""Kills of workers and of the driver: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.fleet.board import find_run
from tclint.fleet.store import UnitRow, open_store
from tclint.fleet.units import Measured
from tests.conftest import REPOSITORY
from tests.fleet_examples import write_examples
from tests.fleet_stub import answer

TARGETS = 12
KILLS = 3
MODELS = 150
MANY_KILLS = 10
STUBS, REAL = "tests.fleet_driver", "tests.fleet_copies"
FLEET = """
[fleet]
store = "{store}"
[[arm]]
name = "as found"
[[arm]]
name = "fixed"
fixed = true
[[target]]
factories = "{factories}"
"""


def start(file: Path, driver: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", driver, str(file)],
        cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from children(int(child))


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def disturb(file: Path, kills: int, most: int, module: str = STUBS) -> None:
    """Kill one of the workers, then the driver, so often; start it again each time."""
    draw = random.Random(0)
    for _ in range(kills):
        driver = start(file, module)
        assert driver.stdout is not None
        for _ in range(draw.randint(1, most)):
            driver.stdout.readline()
        # The first is what workers of real models are copies of: it is no part of a fleet.
        below = sorted(set(children(driver.pid)))[module != STUBS :]
        if below:
            kill(draw.choice(below))
        driver.stdout.readline()
        time.sleep(draw.random() * 0.3)
        kill(driver.pid)
        driver.communicate()


def finish(file: Path, module: str = STUBS) -> tuple[UnitRow, ...]:
    driver = start(file, module)
    said, complaints = driver.communicate()
    assert driver.returncode == 0, complaints
    assert "Ran(run=1," in said
    with open_store(file.parent / f"{file.stem}.sqlite") as store:
        run = find_run(store.runs(), None)
        assert (run.id, bool(run.finished)) == (1, True)
        return store.units(run.id)


def write(folder: Path, name: str) -> Path:
    functions = "".join(f"def make_{n}(): ...\n" for n in range(TARGETS))
    (folder / "models.py").write_text(functions)
    file = folder / f"{name}.toml"
    file.write_text(FLEET.format(store=f"{name}.sqlite", factories="models.py:make_*"))
    return file


@pytest.mark.slow(40)
@pytest.mark.skipif(sys.platform != "linux", reason="finds children in /proc")
def test_kills_of_workers_and_of_the_driver_change_no_result(tmp_path: Path) -> None:
    file = write(tmp_path, "disturbed")
    disturb(file, KILLS, 3)
    rows = finish(file)
    assert len(rows) == 2 * TARGETS
    assert len({(row.target, row.arm) for row in rows}) == 2 * TARGETS
    assert [row.measured for row in rows] == [answer(row.target) for row in rows]


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="finds children in /proc")
def test_kills_change_no_result_of_real_models(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the models run")
    assert write_examples(tmp_path / "models", MODELS) == MODELS
    told = []
    for name in ("undisturbed", "disturbed"):
        file = tmp_path / f"{name}.toml"
        file.write_text(FLEET.format(store=f"{name}.sqlite", factories="models/*.py:make"))
        if name == "disturbed":
            disturb(file, MANY_KILLS, MODELS // 10, REAL)
        rows = finish(file, REAL)
        assert len({(row.target, row.arm) for row in rows}) == len(rows) == 2 * MODELS
        told.append([(row.target, row.arm, without_time(row.measured)) for row in rows])
    assert told[0] == told[1]


def without_time(measured: Measured | None) -> Measured:
    assert measured is not None
    return replace(measured, seconds=0.0)
