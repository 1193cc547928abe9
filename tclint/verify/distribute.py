"""Run a target on several processes, as torchrun would, and compare the ranks."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from tclint.verify.arms import REGIONAL, Options, Side, request_for
from tclint.verify.process import Child, ChildError
from tclint.verify.results import Distributed, Rank, Scaling

# How long a rank waits for the others in one exchange, and for them all once one has ended.
_PATIENCE_SECONDS = 120.0
_GROUP_SHARE = 0.4
_QUIET_PORTS = (20_000, 32_000)


class Plan(Protocol):
    """How many processes, and how the module is spread over them."""

    @property
    def processes(self) -> int:
        """The number of ranks."""

    @property
    def parallel(self) -> str:
        """``ddp``, ``fsdp`` or ``none``."""


def distribute(side: Side, options: Options, plan: Plan) -> Distributed:
    """Run alone, then on all ranks at once; a rank that fails or hangs is a result."""
    with TemporaryDirectory(prefix="tclint-ranks-") as folder:
        desk = Path(folder)
        (alone,) = _launch(side, options, desk, 1, "none")
        ranks = _launch(side, options, desk, plan.processes, plan.parallel)
    ran = all(rank.failure is None for rank in ranks)
    # Shards differ by design, and so may processes that nothing ties together.
    diverged = [r.rank for r in ranks if ran and r.tied and r.digest != ranks[0].digest]
    return Distributed(
        size=plan.processes,
        backend="nccl" if any(rank.device not in {"", "cpu"} for rank in ranks) else "gloo",
        parallel=plan.parallel,
        ranks=ranks,
        scaling=tuple(_scaling(alone, ranks)) if ran else (),
        diverged=tuple(diverged),
        note=alone.failure.message if alone.failure else "",
    )


def _scaling(alone: Rank, ranks: Sequence[Rank]) -> Iterator[Scaling]:
    for form in ("eager", "compiled"):
        one, others = getattr(alone, form), [getattr(rank, form) for rank in ranks]
        if one is not None and None not in others:
            slowest = max(other.median for other in others)
            yield Scaling(form, one.median, slowest, one.median / slowest)


def _launch(side: Side, options: Options, desk: Path, size: int, parallel: str) -> tuple[Rank, ...]:
    with ExitStack() as stack:
        port = _free_port()
        patience = min(_PATIENCE_SECONDS, options.seconds_left * _GROUP_SHARE)
        children = []
        for rank in range(size):
            # Ranks find what the run alone has compiled: nobody asks how cold they started.
            cache = desk / "cache"
            cache.mkdir(exist_ok=True)
            more = _environment(rank, size, port)
            child = options.start(cache, more=more)
            children.append(stack.enter_context(child))
        request = request_for(side, options, desk) | {
            "parallel": parallel,
            "patience": patience,
            "backend": options.backend,
            "mode": next((mode for mode in options.modes if mode != REGIONAL), "default"),
            "speed": options.speed,
        }
        return _ask_all(children, request, patience)


def _ask_all(
    children: Sequence[Child], request: dict[str, Any], patience: float
) -> tuple[Rank, ...]:
    def ask(number: int) -> Rank:
        try:
            return children[number].ask("join_group", Rank, **request)
        except ChildError as error:
            # Its connections end with it, so that the others need not wait for their time-out.
            children[number].kill()
            return Rank(number, failure=error.failure)
        finally:
            for child in children:
                child.hurry(patience)

    with ThreadPoolExecutor(len(children)) as pool:
        return tuple(pool.map(ask, range(len(children))))


def _environment(rank: int, size: int, port: int) -> dict[str, str]:
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",
        # NCCL's watchdog would first wait for a dump that nobody reads.
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "0",
    }


def _free_port() -> int:
    """A port that nobody has now, from below those that systems hand out for any connection.

    It is seconds until the first rank listens there; one of the others could be taken by then.
    """
    chance = SystemRandom()
    while True:
        port = chance.randrange(*_QUIET_PORTS)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
