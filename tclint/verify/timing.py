"""The timed run of one arm: cold start, then rounds that the parent interleaves between arms."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.utils as dynamo_utils
import torch._inductor.config

from tclint.verify import oracles
from tclint.verify.answers import Finished
from tclint.verify.arms import REGIONAL
from tclint.verify.equality import compare, unknown
from tclint.verify.events import Equality, Recompile
from tclint.verify.measure import (
    calls_per_sample,
    host_syncs,
    kernels,
    milliseconds,
    peak_memory,
    seconds,
)
from tclint.verify.probe import Judge, Run, drew_nothing, load_state, run
from tclint.verify.snapshot import Nest, Raised, Snapshot, outcome
from tclint.verify.subject import Making, Subject, Workshop, seed

_MOST_WARM_UPS = 20
_QUIET_CALLS = 3
_ANOTHER_SEED = 1
_ANOTHER_ORDER = "it draws random numbers, which compiled code draws in another order"
_WITH_GRAPHS = ("reduce-overhead", "max-autotune")


class Timed:
    """One arm, compiled for real and ready to be timed."""

    def __init__(self, making: Making, desk: Path, backend: str, mode: str, *, whole: bool) -> None:
        """Import the target; nothing is compiled yet.

        ``whole``: compile the target even though it calls ``torch.compile`` somewhere.
        """
        self._shop = Workshop(making, None)
        if whole:
            self._shop.compile_whole()
        self._shop.compile_for_real(mode)
        if mode == REGIONAL:
            self._shop.compile_regions()
        self._desk = desk
        self._options: dict[str, Any] = {"backend": backend}
        if mode not in {"default", REGIONAL}:
            self._options["mode"] = mode
        self._graphs = mode in _WITH_GRAPHS
        self._watching = ExitStack()
        self._trace = self._watching.enter_context(oracles.watch())
        self._subject = self._fresh()
        self._reps = (1, 1)
        self._first: Run = {}
        self.cold_start = 0.0
        self.draws = False

    def start(self) -> str:
        """Make the cold call; why the compiled call fails, or ``""``."""
        seed()
        kept: Run = {}

        def call() -> None:
            kept["call 1"] = outcome(self._call)

        self.cold_start = seconds(call)
        match kept["call 1"]:
            case Raised(kind, message):
                return f"{kind.rpartition('.')[2]}: {_headline(message)}"
        self._first = kept | self._subject.aftermath()
        return ""

    def like_eager(self) -> Equality:
        """Compare the first compiled call with an eager one of a fresh instance.

        Where eager code draws random numbers, ``draws`` is set, and ``like_drawn`` compares.
        """
        fresh = self._fresh()
        eager = run(fresh, fresh.call_eager, calls=1)
        # What another seed changes is drawn. What sets the seed itself comes out alike, and may
        # draw all the same.
        other = self._fresh()
        another = run(other, other.call_eager, calls=1, number=_ANOTHER_SEED)
        moved = not drew_nothing(eager)
        ends = [one.pop("random state") for one in (eager, another)]
        draws = _differ(eager, another) or (moved and _same_somewhere(*ends))
        judge = Judge(self._shop, self._desk, eager, calls=1)
        self.draws = draws and not judge.unstable
        return unknown(_ANOTHER_ORDER) if self.draws else judge(self._first)

    def like_drawn(self) -> Equality:
        """Compile once more, for code that draws as eager code does, and compare that.

        All that has been compiled is lost.
        """
        torch._dynamo.reset()
        with torch._inductor.config.patch(fallback_random=True):
            subject = self._fresh()
            compiled = run(subject, lambda: self._called(subject), calls=1)
        fresh = self._fresh()
        eager = run(fresh, fresh.call_eager, calls=1)
        match compiled["call 1"], eager["call 1"]:
            case Raised(kind, message), expected if not isinstance(expected, Raised):
                said = f"{kind.rpartition('.')[2]}: {_headline(message)}"
                return unknown(f"{_ANOTHER_ORDER}; with fallback_random it raises {said}")
        last, expected_last = compiled.pop("random state"), eager.pop("random state")
        if compare({"": expected_last}, {"": last}).verdict != "identical":
            return unknown(f"{_ANOTHER_ORDER}, with fallback_random too")
        found = Judge(self._shop, self._desk, eager, calls=1)(compiled)
        return replace(found, detail=found.detail or "drawing as eager code does: fallback_random")

    def sample(self, *, eager_first: bool) -> tuple[float, float]:
        """One sample each of eager and compiled milliseconds per call."""
        eager, compiled = self._subject.call_eager, self._call
        if eager_first:
            first = milliseconds(eager, self._reps[0])
            return first, milliseconds(compiled, self._reps[1])
        second = milliseconds(compiled, self._reps[1])
        return milliseconds(eager, self._reps[0]), second

    def finish(self) -> Finished:
        """What is measured once, after the clock has stopped."""
        eager, compiled = self._subject.call_eager, self._call
        memory = peak_memory(compiled)
        # What compiled code has reserved stays reserved, and is not eager's.
        eager_memory = replace(peak_memory(eager), reserved=None)
        syncs, run, eager_run = host_syncs(compiled), kernels(compiled), kernels(eager)
        self._watching.close()
        return Finished(
            memory=memory,
            eager_memory=eager_memory,
            syncs=syncs,
            kernels=run,
            eager_kernels=eager_run,
            recompiles=self._trace.recompiles,
            phases=self._trace.phases,
            cudagraph_skips=self._trace.cudagraph_skips,
        )

    def _call(self) -> object:
        return self._called(self._subject)

    def _called(self, subject: Subject) -> object:
        # Results of the call before are never looked at again. Left to itself, a CUDA graph of a
        # forward that nobody goes backwards through would wait for that, and be recorded anew.
        if self._graphs:
            torch.compiler.cudagraph_mark_step_begin()
        return subject.call_compiled()

    def _fresh(self) -> Subject:
        subject = self._shop.make(**self._options)
        load_state(subject, self._desk)
        return subject

    def warm_up(self, say: Callable[[tuple[Recompile, ...]], None]) -> None:
        """Call until calls stop compiling, and find out how many calls make a sample.

        ``say`` is told the recompiles so far after each call that compiled.
        """
        # Steady state begins when calls stop compiling; CUDA graphs record on the early calls.
        quiet = 0
        for _ in range(_MOST_WARM_UPS):
            before = len(dynamo_utils.get_compilation_metrics())
            self._call()
            quiet += 1
            if len(dynamo_utils.get_compilation_metrics()) != before:
                quiet = 0
                self._trace.refresh()
                say(self._trace.recompiles)
            if quiet == _QUIET_CALLS:
                break
        self._subject.call_eager()
        self._reps = (
            calls_per_sample(self._subject.call_eager),
            calls_per_sample(self._call),
        )


class EagerTimed:
    """One arm that nothing compiles, ready to be timed."""

    def __init__(self, making: Making, desk: Path) -> None:
        """Make the target with the weights on the desk, and warm up."""
        subject = Workshop(making, None).make()
        load_state(subject, desk)
        self._call = subject.call_eager
        for _ in range(_QUIET_CALLS):
            seed()
            self._call()
        self._reps = calls_per_sample(self._call)

    def sample(self) -> float:
        """Milliseconds per call in one sample."""
        return milliseconds(self._call, self._reps)


def _differ(eager: Run, another: Run) -> bool:
    return compare(eager, another).equal is False


def _same_somewhere(one: Snapshot, other: Snapshot) -> bool:
    """Whether a generator ended alike from another seed: the code has set it."""
    if not isinstance(one, Nest) or not isinstance(other, Nest):
        return False
    pairs = zip(one.parts, other.parts, strict=False)
    return any(compare({"": a}, {"": b}).verdict == "identical" for (_, a), (_, b) in pairs)


def _headline(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[0] if lines else "no message"
