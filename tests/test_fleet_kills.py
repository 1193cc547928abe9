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
from pathlib import Path

import pytest

from tclint.fleet.board import find_run
from tclint.fleet.store import UnitRow, open_store
from tests.conftest import REPOSITORY
from tests.fleet_stub import answer

TARGETS = 12
KILLS = 3
FLEET = """
[fleet]
store = "{store}"
[[arm]]
name = "as found"
[[arm]]
name = "fixed"
fixed = true
[[target]]
factories = "models.py:make_*"
"""


def start(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fleet_driver", str(file)],
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


def disturb(file: Path, kills: int, seed: int = 0) -> None:
    """Kill one of the workers, then the driver, so often; start it again each time."""
    draw = random.Random(seed)
    for _ in range(kills):
        driver = start(file)
        assert driver.stdout is not None
        for _ in range(draw.randint(1, 3)):
            driver.stdout.readline()
        below = sorted(set(children(driver.pid)))
        if below:
            kill(draw.choice(below))
        driver.stdout.readline()
        time.sleep(draw.random() * 0.3)
        kill(driver.pid)
        driver.communicate()


def finish(file: Path) -> tuple[UnitRow, ...]:
    driver = start(file)
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
    file.write_text(FLEET.format(store=f"{name}.sqlite"))
    return file


@pytest.mark.slow(40)
@pytest.mark.skipif(sys.platform != "linux", reason="finds children in /proc")
def test_kills_of_workers_and_of_the_driver_change_no_result(tmp_path: Path) -> None:
    file = write(tmp_path, "disturbed")
    disturb(file, KILLS)
    rows = finish(file)
    assert len(rows) == 2 * TARGETS
    assert len({(row.target, row.arm) for row in rows}) == 2 * TARGETS
    assert [row.measured for row in rows] == [answer(row.target) for row in rows]
