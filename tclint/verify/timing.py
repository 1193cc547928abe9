"""The timed run of one arm: cold start, then rounds that the parent interleaves between arms."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch._dynamo.utils as dynamo_utils

from tclint.verify import oracles
from tclint.verify.equality import compare, unknown
from tclint.verify.measure import (
    calls_per_sample,
    host_syncs,
    milliseconds,
    peak_memory,
    seconds,
)
from tclint.verify.probe import load_state, run
from tclint.verify.results import Equality, Memory, Recompile, Sync
from tclint.verify.snapshot import Raised, Snapshot, outcome
from tclint.verify.subject import Subject, Workshop, seed
from tclint.verify.targets import Target

_MOST_WARM_UPS = 20
_QUIET_CALLS = 3


class Timed:
    """One arm, compiled for real and ready to be timed."""

    def __init__(
        self, target: Target, root: Path, device: str | None, desk: Path, backend: str, mode: str
    ) -> None:
        """Import the target; nothing is compiled yet."""
        self._shop = Workshop(target, root, device, None)
        self._desk = desk
        self._options = {"backend": backend} | ({} if mode == "default" else {"mode": mode})
        self._watching = ExitStack()
        self._trace = self._watching.enter_context(oracles.watch())
        self._subject = self._fresh()
        self._reps = (1, 1)
        self.cold_start = 0.0

    def start(self, *, whole: bool) -> str:
        """Make the cold call and warm up; why the compiled call fails, or ``""``.

        ``whole``: compile the target even though it calls ``torch.compile`` somewhere.
        """
        if whole:
            self._shop.compile_whole()
            self._subject = self._fresh()
        kept: list[Snapshot] = []
        seed()
        self.cold_start = seconds(lambda: kept.append(outcome(self._subject.call_compiled)))
        if isinstance(kept[0], Raised):
            return f"{kept[0].kind.rpartition('.')[2]}: {_headline(kept[0].message)}"
        self._first = kept[0]
        self._warm_up()
        return ""

    def like_eager(self) -> Equality:
        """Compare the first compiled call with an eager one of a fresh instance."""
        fresh = self._fresh()
        eager = run(fresh, fresh.call_eager, calls=1)["call 1"]
        again = self._fresh()
        other_seed = outcome(again.call_eager)
        expected, actual = {"call 1": eager}, {"call 1": self._first}
        if compare(expected, {"call 1": other_seed}).equal is False:
            return unknown("it draws random numbers, which compiled code draws in another order")
        return compare(expected, actual)

    def sample(self, *, eager_first: bool) -> tuple[float, float]:
        """One sample each of eager and compiled milliseconds per call."""
        eager, compiled = self._subject.call_eager, self._subject.call_compiled
        if eager_first:
            first = milliseconds(eager, self._reps[0])
            return first, milliseconds(compiled, self._reps[1])
        second = milliseconds(compiled, self._reps[1])
        return milliseconds(eager, self._reps[0]), second

    def finish(self) -> tuple[Memory, tuple[Sync, ...] | None, tuple[Recompile, ...]]:
        """What is measured once, after the clock has stopped."""
        memory = peak_memory(self._subject.call_compiled)
        syncs = host_syncs(self._subject.call_compiled)
        self._watching.close()
        return memory, syncs, self._trace.recompiles

    def _fresh(self) -> Subject:
        subject = self._shop.make(**self._options)
        load_state(subject, self._desk)
        return subject

    def _warm_up(self) -> None:
        # Steady state begins when calls stop compiling; CUDA graphs record on the early calls.
        quiet = 0
        for _ in range(_MOST_WARM_UPS):
            before = len(dynamo_utils.get_compilation_metrics())
            self._subject.call_compiled()
            quiet = quiet + 1 if len(dynamo_utils.get_compilation_metrics()) == before else 0
            if quiet == _QUIET_CALLS:
                break
        self._subject.call_eager()
        self._reps = (
            calls_per_sample(self._subject.call_eager),
            calls_per_sample(self._subject.call_compiled),
        )


def _headline(message: str) -> str:
    lines: list[Any] = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[0] if lines else "no message"
