"""Run the units, or write what became of them into docs/benchmark-fleet.md.

Run: python -m benchmarks.fleet_gpus run --executor ray --gpus 2 --log FILE [--small]
     python -m benchmarks.fleet_gpus page --log FILE [--write]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.fleet_gpus.log import PLACE, RUN, lines, note
from benchmarks.fleet_gpus.told import page, put
from benchmarks.fleet_gpus.worker import LOCAL, measure_plain
from tclint.fleet import cluster
from tclint.fleet.carry import Crew
from tclint.fleet.config import Fleet, read_fleet
from tclint.fleet.local import LocalCrew
from tclint.fleet.session import Again, run_fleet, visible_gpus
from tclint.fleet.units import Measured, Unit

FILE = Path(__file__).with_name("fleet.toml")


def main(argv: Sequence[str] | None = None) -> int:
    """Run, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet_gpus", description=__doc__)
    parser.add_argument("what", choices=("run", "page"))
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--executor", choices=("ray", "local"), default="ray")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--name", help="what to call the run; default: executor and GPUs")
    parser.add_argument("--small", action="store_true", help="on a processor, to try this")
    parser.add_argument("--only", nargs="*", default=[], help="patterns of units")
    parser.add_argument("--write", action="store_true", help="into the docs")
    options = parser.parse_args(argv)
    if options.what == "run":
        run(options)
        return 0
    text = page(lines(options.log))
    print(text)
    if options.write:
        put(text)
    return 0


def run(options: argparse.Namespace) -> None:
    """Measure all units once; every result is written down as it comes."""
    gpus = visible_gpus(options.gpus)
    here = [str(FILE.parents[2]), os.environ.get("PYTHONPATH", "")]
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(filter(None, here)),
        PLACE: str(options.log.resolve()),
        RUN: options.name or f"{options.executor}-{options.gpus}",
        "CUDA_VISIBLE_DEVICES": ",".join(gpus),
        "FLEET_GPUS_SMALL": "1" if options.small else "",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    with tempfile.TemporaryDirectory() as name:
        fleet = replace(read_fleet(FILE), store=Path(name) / "fleet.sqlite")
        if options.small:
            fleet = replace(fleet, measures=replace(fleet.measures, device="cpu"))
        sources = tuple(replace(one, only=tuple(options.only)) for one in fleet.sources)
        fleet = replace(fleet, sources=sources)

        run_fleet(fleet, lambda plan: _crew(options.executor, fleet, gpus), Again(), "", _told)


@contextmanager
def _crew(executor: str, fleet: Fleet, gpus: Sequence[str]) -> Iterator[Crew]:
    """The executor, of which only what measures is another: it notes when."""
    if executor == "local":
        with LocalCrew(os.cpu_count() or 1, gpus, LOCAL) as crew:
            yield crew
        return
    from ray.cluster_utils import Cluster

    cluster.measure_plain = measure_plain
    has = {"num_cpus": os.cpu_count(), "num_gpus": len(gpus), "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args=has)
    try:
        with cluster.RayCrew(nodes.address, fleet.measures) as crew:
            yield crew
    finally:
        nodes.shutdown()


def _told(done: int, of: int, unit: Unit, measured: Measured) -> None:
    name = unit.target.rpartition(":")[2]
    speeds = [asdict(one) for one in measured.speeds]
    note(result=name, outcome=measured.outcome, reason=measured.reason, speeds=speeds)
    print(f"{done}/{of} {name} {measured.outcome} {measured.reason}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
