"""The process that measures one unit on this machine, and ends with all that it started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tclint.fleet.measure import measure
from tclint.fleet.units import Measured, Unit
from tclint.verify.wire import rebuild
from tclint.verify.worker import serve


class Service:
    """The one request that it understands."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        """Nothing is told before the answer is."""
        del say

    def measure(self, request: dict[str, Any]) -> Measured:
        """Measure a unit."""
        return measure(rebuild(Unit, request["unit"]))


if __name__ == "__main__":
    serve(Service)
