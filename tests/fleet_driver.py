"""A driver to be killed: runs a fleet with stub workers. ``python -m tests.fleet_driver FILE``"""

from __future__ import annotations

import sys
from pathlib import Path

from tclint.fleet import plan
from tclint.fleet.config import read_fleet
from tclint.fleet.environment import Environment
from tclint.fleet.local import LocalCrew
from tclint.fleet.session import Again, run_fleet
from tests import fleet_stub


def main() -> None:
    plan.ask_environment = lambda python, device: Environment("3.11.0", "2.13.0")
    worker = (sys.executable, "-m", fleet_stub.__name__)
    ran = run_fleet(
        read_fleet(Path(sys.argv[1])),
        lambda plan: LocalCrew(2, worker=worker),
        Again(),
        "",
        lambda done, of, unit, measured: print(done, of, unit.target, flush=True),
    )
    print(ran)


if __name__ == "__main__":
    main()
