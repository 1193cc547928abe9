"""The executor for a Ray cluster: a task for each unit, which Ray places and never tries again."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Final

from tclint.fleet.config import FleetError, Measures
from tclint.fleet.measure import measure
from tclint.fleet.units import KILLED, LOST, Measured, Unit, failed
from tclint.verify.wire import plain, rebuild

_REACH_SECONDS: Final = 10.0
_GLANCE_SECONDS: Final = 0.5
_AHEAD: Final = 2
"""Tasks that are handed to Ray for each processor: enough to keep it busy."""
_GIB: Final = 1024**3
_LOCAL: Final = "leave --ray out to run on this machine"


class RayCrew:
    """Hands units to Ray, a bounded number at a time, and takes what they return as it comes.

    Ray is told to try nothing again: `carry_out` does, with lost machines and killed workers, and
    not with what fails by itself. A unit on a GPU asks for a whole one, what is timed on a CPU for
    as many processors as the largest machine has, so that nothing else runs beside either.
    """

    def __init__(self, address: str, measures: Measures) -> None:
        """Connect to the cluster at an address; ``auto`` finds the one of this machine.

        Raises:
            FleetError: Ray is not installed, or there is no cluster, or no machine of it has what
                a unit needs: Ray would wait for one without a word.
        """
        if find_spec("ray") is None:
            raise FleetError(f"Ray is not installed: install `tclint-torch[fleet]`, or {_LOCAL}")
        import ray

        self._ray = ray
        if address != "auto":
            _require_listener(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise FleetError(f"no Ray cluster at {address}: {reason}; {_LOCAL}") from error
        _require_room(self._nodes(), measures)
        self._task = ray.remote(max_retries=0)(measure_plain)
        self._running: dict[Any, Unit] = {}

    def __enter__(self) -> RayCrew:
        """Use as a context manager: it leaves the cluster with the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give up what still runs, and leave the cluster."""
        for task in self._running:
            self._ray.cancel(task, force=True)
        self._ray.shutdown()

    def has_room(self, unit: Unit) -> bool:
        """Whether another task is to be handed to Ray now."""
        del unit
        processors = self._ray.cluster_resources().get("CPU", 1)
        return len(self._running) < max(1, int(processors)) * _AHEAD

    def start(self, unit: Unit) -> None:
        """Hand the unit to Ray, with what it needs."""
        wanted: dict[str, Any] = {"num_cpus": 1, "num_gpus": int(unit.needs == "gpu")}
        if unit.needs == "alone":
            wanted["num_cpus"] = max((int(has.get("CPU", 0)) for has in self._nodes()), default=1)
        if unit.measures.memory_limit:
            wanted["memory"] = unit.measures.memory_limit
        self._running[self._task.options(**wanted).remote(plain(unit))] = unit

    def wait(self) -> Sequence[tuple[Unit, Measured]]:
        """What is done since the last call, at least one."""
        while True:
            tasks = list(self._running)
            # In glances: the driver is to take a signal at any time.
            done, _ = self._ray.wait(tasks, num_returns=1, timeout=_GLANCE_SECONDS)
            if done:
                return [(self._running.pop(task), self._result(task)) for task in done]

    def _nodes(self) -> list[dict[str, float]]:
        """What each living machine has."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _result(self, task: Any) -> Measured:
        errors = self._ray.exceptions
        try:
            return rebuild(Measured, self._ray.get(task))
        except errors.WorkerCrashedError as error:
            return failed(KILLED, f"its Ray worker was ended: {_first_line(error)}")
        except errors.OutOfMemoryError as error:
            return failed("out-of-memory", f"Ray ended it: {_first_line(error)}")
        except errors.RayTaskError as error:
            return failed("exception", f"its Ray worker failed: {_last_line(error)}")
        except errors.RayError as error:
            return failed(LOST, f"its machine was lost: {_first_line(error)}")


def _require_listener(address: str) -> None:
    """Ray itself tries for minutes to reach what is not there."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise FleetError(
            f"{address!r} is not an address of a Ray cluster: write host:port, or auto"
        )
    try:
        socket.create_connection((host, int(port)), _REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise FleetError(f"no Ray cluster at {address}: {error}; {_LOCAL}") from error


def _require_room(nodes: Sequence[Mapping[str, float]], measures: Measures) -> None:
    """Some machine has to have all that a unit asks for."""
    wanted: dict[str, float] = {"CPU": 1, "memory": measures.memory_limit}
    if measures.device == "cuda":
        wanted["GPU"] = 1
    for kind, least in wanted.items():
        if all(has.get(kind, 0) < least for has in nodes):
            most = max((has.get(kind, 0) for has in nodes), default=0) / _GIB
            what = {
                "CPU": "a processor",
                "GPU": "a GPU",
                "memory": f"{least / _GIB:.3g} GiB for `memory-limit`: the most is {most:.3g}",
            }
            raise FleetError(f"no machine of the cluster has {what[kind]}; {_LOCAL}")


def measure_plain(unit: Any) -> Any:
    """What a Ray worker does: plain data in, plain data out."""
    return plain(measure(rebuild(Unit, unit)))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _last_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()[::-1]), type(error).__name__)
