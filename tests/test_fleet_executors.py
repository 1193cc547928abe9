"""The executor: who may start when."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.fleet.carry import carry_out
from tclint.fleet.config import Measures
from tclint.fleet.local import LocalCrew
from tclint.fleet.session import visible_gpus
from tclint.fleet.units import LOST, Unit
from tests import fleet_stub

TIMED = Measures(speed=True)
GPU = replace(TIMED, device="cuda")
STUB = (sys.executable, "-m", fleet_stub.__name__)


def unit(name: str, measures: Measures) -> Unit:
    return Unit(name, name, "as found", f"m.py:{name}", "/nowhere", measures)


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


@pytest.mark.parametrize(
    ("named", "count", "names"), [("", 2, ("0", "1")), ("3,1", 2, ("3", "1")), ("2,-1", 1, ("2",))]
)
def test_gpus_have_the_names_that_the_environment_gives_them(
    monkeypatch: pytest.MonkeyPatch, named: str, count: int, names: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert visible_gpus(count) == names


@pytest.mark.slow
def test_a_run_that_is_ended_leaves_no_process_and_no_folder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(repository))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    complaints: list[object] = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)
    with LocalCrew(2, worker=(sys.executable, "-c", "import time; time.sleep(600)")) as crew:
        crew.start(unit("one", Measures()))
        crew.start(unit("two", Measures()))
        while None in crew._running.values():
            time.sleep(0.01)
        children = [child._process for child in crew._running.values() if child is not None]
    assert all(child.poll() is not None for child in children)
    assert (list(tmp_path.iterdir()), complaints) == ([], [])


def test_a_process_that_cannot_be_started_is_tried_again_and_no_result(tmp_path: Path) -> None:
    with LocalCrew(1, worker=(str(tmp_path / "nothing"),)) as crew:
        told = list(carry_out([unit("one", Measures())], crew))
    ((_, measured),) = told
    assert measured.failure == LOST
    assert measured.reason.startswith("cannot start a process: ")
