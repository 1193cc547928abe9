"""Fleets on a real Ray cluster of several nodes on this machine; left out where there is no Ray."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tclint.fleet.carry import carry_out
from tclint.fleet.config import FleetError, Measures, read_fleet
from tclint.fleet.plan import Plan
from tclint.fleet.session import Again, run_fleet
from tclint.fleet.store import open_store
from tclint.fleet.units import Unit
from tests.conftest import REPOSITORY
from tests.fleet_help import FLEET, without_torch, write_fleet
from tests.fleet_stub import answer

pytest.importorskip("ray", reason="Ray is large: it is no dependency of the tests")

import ray
from ray.cluster_utils import Cluster

from tclint.fleet import cluster
from tclint.fleet.cluster import RayCrew
from tclint.verify.wire import plain

ON_GPUS = Measures(device="cuda", speed=True)
ARMS = """
[[arm]]
name = "found"
[[arm]]
name = "fixed"
fixed = true
"""
MANY = "".join(f"def make_{n}(): ...\n" for n in range(40))


def stub(unit: Any) -> Any:
    """Tells where it starts, so that a node can be lost with a unit that runs on it."""
    with Path(os.environ["STARTED"]).open("a") as file:
        file.write(f"{ray.get_runtime_context().get_node_id()}\n")
    time.sleep(0.5)
    return plain(answer(unit["target"]))


def wait_for_a_start_on(node: str) -> None:
    """The unit that starts there next still runs when this returns."""
    started = Path(os.environ["STARTED"])
    before = started.read_text().count(node)
    deadline = time.monotonic() + 60
    while started.read_text().count(node) == before and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    without_torch(monkeypatch)
    (tmp_path / "started").touch()
    monkeypatch.setenv("STARTED", str(tmp_path / "started"))
    monkeypatch.setattr(cluster, "measure_plain", stub)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield made
    made.shutdown()


def run(
    file: Path, address: str, tell: Callable[[int], None] = lambda done: None
) -> tuple[int, int]:
    """How many units were measured, and how often one was started."""
    crews: list[Counting] = []
    fleet = read_fleet(file)

    def make(plan: Plan) -> Counting:
        del plan
        crews.append(Counting(address, fleet.measures))
        return crews[0]

    ran = run_fleet(fleet, make, Again(), "", lambda done, *told: tell(done))
    return ran.measured, crews[0].started


class Counting(RayCrew):
    """Counts what it starts."""

    started = 0

    def start(self, unit: Unit) -> None:
        self.started += 1
        super().start(unit)


@pytest.mark.slow(60)
def test_nodes_that_come_and_go_change_no_result(tmp_path: Path, nodes: Cluster) -> None:
    file = write_fleet(tmp_path)
    (tmp_path / "models/a.py").write_text(MANY)
    first = nodes.add_node(num_cpus=2)

    def disturb(done: int) -> None:
        if done == 8:
            wait_for_a_start_on(first.node_id)
            nodes.remove_node(first, allow_graceful=False)
        if done == 16:
            nodes.add_node(num_cpus=2)

    measured, started = run(file, nodes.address, disturb)
    assert measured == 40
    assert started > 40  # what the lost node had was started again
    with open_store(tmp_path / "kept.sqlite") as store:
        rows = store.units(1)
    assert [row.measured for row in rows] == [answer(row.target) for row in rows]
    assert len({row.target for row in rows}) == 40


def on_a_gpu(unit: Any) -> Any:
    """Tells when it runs, and on which GPU."""
    begin = time.monotonic()
    time.sleep(0.3)
    with Path(os.environ["STARTED"]).open("a") as file:
        file.write(f"{os.environ['CUDA_VISIBLE_DEVICES']} {begin} {time.monotonic()}\n")
    return plain(answer(unit["target"]))


@pytest.mark.slow(30)
def test_units_have_a_gpu_each_and_use_all_of_them(
    tmp_path: Path, nodes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "measure_plain", on_a_gpu)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    nodes.add_node(num_cpus=8, num_gpus=2)
    units = [Unit(f"{n}", f"{n}", "", "a", "m.py:f", "/nowhere", ON_GPUS) for n in range(12)]
    with RayCrew(nodes.address, ON_GPUS) as crew:
        assert sorted(unit.target for unit, _ in carry_out(units, crew)) == sorted(
            map(str, range(12))
        )
    spans = [line.split() for line in (tmp_path / "started").read_text().splitlines()]
    assert {gpu for gpu, *_ in spans} == {"0", "1"}
    for wanted in ("0", "1"):
        mine = sorted((float(begin), float(end)) for gpu, begin, end in spans if gpu == wanted)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(mine))


def start_driver(file: Path, address: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.fleet_driver", str(file), address]
    return subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    ("targets", "kills"),
    [
        pytest.param(20, 3, marks=pytest.mark.slow(60)),
        pytest.param(150, 10, marks=pytest.mark.exhaustive),
    ],
)
def test_a_driver_that_is_killed_goes_on(
    tmp_path: Path, nodes: Cluster, targets: int, kills: int
) -> None:
    """The cluster stays; what it still runs for drivers that are no more, nobody writes down."""
    file = write_fleet(tmp_path, FLEET + ARMS)
    (tmp_path / "models/a.py").write_text("".join(f"def make_{n}(): ...\n" for n in range(targets)))
    draw = random.Random(0)
    for _ in range(kills):
        driver = start_driver(file, nodes.address)
        assert driver.stdout is not None
        for _ in range(draw.randint(1, 2 * targets // kills)):
            assert driver.stdout.readline()
        time.sleep(draw.random() * 0.1)
        driver.kill()
        driver.communicate()
    before = kept(tmp_path)
    assert 0 < len(before) < 2 * targets  # the killed ones left something, and not all
    driver = start_driver(file, nodes.address)
    said, complaints = driver.communicate()
    assert driver.returncode == 0, complaints
    assert f"Ran(run=1, measured={2 * targets - len(before)}, known={len(before)})" in said
    names = [f"models/a.py:make_{n}" for n in range(targets)]
    assert kept(tmp_path) == sorted((name, arm) for name in names for arm in ("found", "fixed"))
    with open_store(tmp_path / "kept.sqlite") as store:
        rows = store.units(1)
    assert [row.measured for row in rows] == [answer(row.target) for row in rows]


HANGS = """
import os, time
from pathlib import Path
def make():
    Path(__file__).with_name("runs").write_text(str(os.getpid()))
    time.sleep(600)
"""


@pytest.mark.slow(60)
@pytest.mark.skipif(sys.platform != "linux", reason="looks for a process in /proc")
def test_what_a_killed_driver_had_running_ends(tmp_path: Path, nodes: Cluster) -> None:
    pytest.importorskip("torch", reason="the target runs")
    (tmp_path / "hangs.py").write_text(HANGS)
    (tmp_path / "FLEET.toml").write_text('[[target]]\nfactory = "hangs.py:make"\n')
    command = [sys.executable, "-m", "tclint", "fleet", "run", "FLEET.toml", "--ray", nodes.address]
    driver = subprocess.Popen(command, cwd=tmp_path)
    runs = tmp_path / "runs"
    wait_until(lambda: runs.exists() and runs.read_text() != "")
    driver.kill()
    driver.wait()
    wait_until(lambda: not Path(f"/proc/{runs.read_text()}").exists())


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def kept(folder: Path) -> list[tuple[str, str]]:
    """The units that have a result; there is no result besides."""
    with sqlite3.connect(folder / "kept.sqlite") as database:
        (results,) = database.execute("SELECT count(*) FROM results").fetchone()
        found = database.execute("SELECT target, arm FROM units WHERE result IS NOT NULL")
        names = sorted(found.fetchall())
    assert results == len(names)
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: .*; leave --ray out to run on this"),
        (
            "ray://here",
            "'ray://here' is not an address of a Ray cluster: write host:port, or auto",
        ),
        ("auto", "no Ray cluster at auto: .*; leave --ray out to run on this machine"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    without_torch(monkeypatch)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(FleetError, match=said):
        run(write_fleet(tmp_path), address)
