"""A driver to be killed: runs a fleet with stub workers. ``python -m tests.fleet_driver FILE``"""

from __future__ import annotations

import sys
from pathlib import Path

from tclint.fleet import plan
from tclint.fleet.config import read_fleet
from tclint.fleet.environment import Environment
from tclint.fleet.session import Again, CrewFor, run_fleet
from tests import fleet_stub


def main() -> None:
    plan.ask_environment = lambda python, device: Environment("3.11.0", "2.13.0")
    fleet = read_fleet(Path(sys.argv[1]))
    ran = run_fleet(
        fleet,
        on_this_machine(),
        Again(),
        "",
        lambda done, of, unit, measured: print(done, of, unit.target, flush=True),
    )
    print(ran)


def on_this_machine() -> CrewFor:
    from tclint.fleet.local import LocalCrew

    worker = (sys.executable, "-m", fleet_stub.__name__)
    return lambda plan: LocalCrew(2, worker=worker)


if __name__ == "__main__":
    main()
