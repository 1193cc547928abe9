"""What measures a unit and notes when: as a Ray task, or as a process (``python -m``)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.fleet_gpus.log import note
from tclint.fleet.measure import measure
from tclint.fleet.units import Measured, Unit
from tclint.verify.wire import plain, rebuild
from tclint.verify.worker import serve

LOCAL = (sys.executable, "-m", __name__)


def measure_plain(unit: Any) -> Any:
    """What stands in for the task of the same name."""
    return plain(_measured(rebuild(Unit, unit)))


class Service:
    """What stands in for the service of a fleet's worker."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        """Nothing is told before the answer is."""
        del say

    def measure(self, request: dict[str, Any]) -> Measured:
        """Measure a unit."""
        return _measured(rebuild(Unit, request["unit"]))


def _measured(unit: Unit) -> Measured:
    name = unit.target.rpartition(":")[2]
    note(unit=name, is_start=True)
    try:
        return measure(unit)
    finally:
        note(unit=name, is_start=False)


if __name__ == "__main__":
    serve(Service)
