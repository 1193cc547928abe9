"""What the tests of fleets share: plans that need no torch, and crews that run nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.fleet import plan
from tclint.fleet.config import read_fleet
from tclint.fleet.environment import Environment
from tclint.fleet.plan import Plan
from tclint.fleet.session import Again, CrewFor, Ran, run_fleet
from tclint.fleet.units import WHOLE, BreakLine, Measured, Unit

if TYPE_CHECKING:
    import pytest

MODELS = """
def make_one(): ...
def make_two(size=3): ...
def make_sized(size): ...
def other(): ...
"""
FLEET = """
[fleet]
store = "kept.sqlite"
[[target]]
factories = "models/*.py:make_*"
"""
WHOLE_ONE = Measured(WHOLE, torch="2.13.0", device="cpu", graphs=1, verdict="identical")
BREAK = BreakLine("models/a.py", 3, "GB0124", "Unsupported Tensor.item() call", "TCL101")

Judge = Callable[[Unit], Measured]


class StubCrew:
    """Answers at once with what a function says, and remembers what it was asked."""

    def __init__(self, judge: Judge, room: int = 2) -> None:
        self.judge, self.room = judge, room
        self.asked: list[Unit] = []
        self.running: list[Unit] = []

    def has_room(self, unit: Unit) -> bool:
        del unit
        return len(self.running) < self.room

    def start(self, unit: Unit) -> None:
        self.asked.append(unit)
        self.running.append(unit)

    def wait(self) -> Sequence[tuple[Unit, Measured]]:
        unit = self.running.pop(0)
        return ((unit, self.judge(unit)),)


def crew_of(crew: StubCrew) -> CrewFor:
    @contextmanager
    def make(plan: Plan) -> Iterator[StubCrew]:
        del plan
        yield crew

    return make


def write_fleet(folder: Path, text: str = FLEET) -> Path:
    (folder / "models").mkdir(exist_ok=True)
    (folder / "models" / "a.py").write_text(MODELS)
    (folder / "FLEET.toml").write_text(text)
    return folder / "FLEET.toml"


def run(
    file: Path, judge: Judge = lambda unit: WHOLE_ONE, again: Again | None = None, label: str = ""
) -> tuple[Ran, list[str]]:
    """Run a fleet with a stub; the run, and the targets that were measured."""
    crew = StubCrew(judge)
    ran = run_fleet(read_fleet(file), crew_of(crew), again or Again(), label, lambda *told: None)
    return ran, [unit.target for unit in crew.asked]


def without_torch(monkeypatch: pytest.MonkeyPatch, torch: str = "2.13.0") -> None:
    """Ask no interpreter what it has."""
    known = Environment("3.11.0", torch, {"numpy": "2.0"})
    monkeypatch.setattr(plan, "ask_environment", lambda python, device: known)
