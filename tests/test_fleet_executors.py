"""Executors without a cluster: who may start when, and what is said where there is no Ray."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.fleet import cluster
from tclint.fleet.config import FleetError, Measures
from tclint.fleet.local import LocalCrew
from tclint.fleet.units import Unit
from tests import fleet_stub

TIMED = Measures(speed=True)
GPU = replace(TIMED, device="cuda")
STUB = (sys.executable, "-m", fleet_stub.__name__)


def unit(name: str, measures: Measures) -> Unit:
    return Unit(name, name, "", "as found", f"m.py:{name}", "/nowhere", measures)


def test_without_ray_the_local_executor_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(FleetError, match=r"Ray is not installed: .*leave --ray out"):
        cluster.RayCrew("auto")


@pytest.mark.slow
@pytest.mark.parametrize("measures", [TIMED, GPU])
def test_what_is_timed_has_its_device_for_itself(
    measures: Measures, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(repository))
    plain = unit("plain", Measures())
    with LocalCrew(4, ("0",), STUB) as crew:
        first, second = unit("one", measures), unit("two", measures)
        assert crew.has_room(first)
        crew.start(first)
        assert not crew.has_room(second)
        assert crew.has_room(plain) == (measures.device == "cuda")
        assert [done for done, _ in crew.wait()] == [first]
        assert crew.has_room(second)
        crew.start(plain)
        assert crew.has_room(second) == (measures.device == "cuda")
        assert [done for done, _ in crew.wait()] == [plain]
