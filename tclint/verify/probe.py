"""The break-counting run of one arm: compile first, in a fresh process, then run eagerly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from tclint.verify import oracles
from tclint.verify.equality import compare, unknown
from tclint.verify.events import Break, Equality
from tclint.verify.measure import host_syncs
from tclint.verify.results import Probe
from tclint.verify.snapshot import Raised, Snapshot, outcome, take
from tclint.verify.subject import Making, Subject, Workshop, place_names, random_state, seed

CALLS = 3
_STATE, _RESULTS = "state.pt", "results.pt"

Run = dict[str, Snapshot]


def probe(making: Making, desk: Path, *, follow: bool) -> Probe:
    """Count what Dynamo does to the target, and compare compiled with eager results.

    ``desk`` is where the arm that runs first leaves its weights, inputs and results;
    with ``follow`` this arm takes those weights and compares itself with those results.
    """
    counter = oracles.CountingBackend()
    shop = Workshop(making, counter)
    subject = _prepare(shop, desk, counter)
    misfit = _hand_over(subject, desk, follow=follow)
    trace, compiled, ops = _watch(subject, counter)
    if subject.itself and not trace.compiled_frames and not trace.breaks:
        shop.compile_whole()
        subject = _prepare(shop, desk, counter)
        trace, compiled, ops = _watch(subject, counter)
    place = place_of(subject)
    eager_subject = _prepare(shop, desk, counter)
    eager = run(eager_subject, eager_subject.call_eager)
    syncs = host_syncs(eager_subject.call_eager)
    judge = Judge(shop, desk, eager)
    like_eager = judge(compiled)
    torch._dynamo.reset()
    verdict, first = oracles.gate(_prepare(shop, desk, counter).call_compiled)
    torch._dynamo.reset()
    strict = shop.make(backend=counter, fullgraph=True)
    load_state(strict, desk)
    whole, obstacle = oracles.fullgraph(strict.call_compiled)
    if not follow:
        torch.save((eager, judge.unstable), desk / _RESULTS)
    return Probe(
        torch=str(torch.__version__),
        device=place,
        itself=subject.itself,
        gate=verdict,
        breaks=_breaks(trace.breaks, first),
        ops=tuple(ops),
        recompiles=trace.recompiles,
        eager_frames=trace.eager_frames,
        syncs=syncs,
        like_eager=like_eager,
        like_before=_against_before(eager, desk, misfit, judge) if follow else None,
        loaded=shop.files,
        phase=making.phase,
        fullgraph=whole,
        fullgraph_reason=obstacle,
        unstable=judge.unstable,
    )


def run(subject: Subject, call: Callable[[], object], calls: int = CALLS) -> Run:
    """Call a subject a few times, seeded alike each time; keep results and what they leave."""
    results: Run = {}
    for number in range(1, calls + 1):
        seed()
        results[f"call {number}"] = outcome(call)
    return results | subject.aftermath() | {"random state": random_state()}


def place_of(subject: Subject) -> str:
    """The device that the subject lives on."""
    parameters = list(subject.module.parameters()) if subject.module is not None else []
    return place_names([*subject.input_tensors(), *parameters])


class Judge:
    """Compares runs with an eager one; runs again in float64, or just again, where that tells."""

    def __init__(self, shop: Workshop, desk: Path | None, eager: Run, calls: int = CALLS) -> None:
        """Run eagerly once more: what differs between two such runs is nobody's fault.

        Without a ``desk`` the weights are those that the factory makes.
        """
        self._shop, self._desk, self._eager, self._calls = shop, desk, eager, calls
        self._again = self._run()
        again = compare(eager, self._again)
        self.unstable = "" if again.verdict in {"identical", "unknown"} else _difference(again)
        self._wild = again.equal is False
        self._truth: Run | None = None

    def __call__(self, actual: Run, expected: Run | None = None) -> Equality:
        """Compare a run with the eager one, or with another arm's."""
        wanted = self._eager if expected is None else expected
        tolerance = self._subject.loaded.tolerance
        plain = compare(wanted, actual, tolerance=tolerance)
        if not _inexact(plain):
            return self._excuse(plain)
        truth = self.in_float64()
        close = compare(wanted, actual, truth, tolerance, same_draws=self._same_draws)
        return self._excuse(close)

    def needs_float64(self, actual: Run) -> bool:
        """True when a run's numbers differ from the eager ones, so that a third has to judge."""
        return _inexact(compare(self._eager, actual))

    def _excuse(self, found: Equality) -> Equality:
        excused = self._wild and found.verdict == "close"
        if excused or (found.equal is False and self.unstable):
            return Equality("not-deterministic", f"two eager runs differ: {self.unstable}")
        return found

    def _run(self, *, double: bool = False) -> Run:
        subject = self._shop.make(double=double)
        if self._desk is not None:
            load_state(subject, self._desk)
        self._subject = subject
        results = run(subject, subject.call_eager, self._calls)
        # Where a step draws numbers, a step in float64 draws others.
        self._same_draws = subject.phase == "step" and _drew_nothing(results)
        return {name: value for name, value in results.items() if name in self._eager}

    def in_float64(self) -> Run:
        """The eager run in float64; empty where the target insists on its own types."""
        if self._truth is None:
            try:
                truth = self._run(double=True)
            except Exception:  # noqa: BLE001 - user code that insists on its types has no such run
                truth = {}
            self._truth = {} if any(isinstance(v, Raised) for v in truth.values()) else truth
        return self._truth


def _inexact(found: Equality) -> bool:
    return found.verdict != "identical" and found.max_abs > 0.0


def _drew_nothing(results: Run) -> bool:
    seed()
    return compare({"": results["random state"]}, {"": random_state()}).verdict == "identical"


def load_state(subject: Subject, desk: Path) -> str:
    """Give the subject the weights left on the desk; the reason why they do not fit, or ``""``."""
    module, path = subject.module, desk / _STATE
    if module is None or not path.exists():
        return ""
    state = torch.load(path, weights_only=False)["state"]
    if state is None:
        return "one arm is a module and the other is not"
    try:
        module.load_state_dict(state, strict=True)
    except RuntimeError as error:
        return " ".join(str(error).split())
    return ""


def _prepare(shop: Workshop, desk: Path, counter: oracles.CountingBackend) -> Subject:
    subject = shop.make(backend=counter)
    load_state(subject, desk)
    return subject


def _watch(
    subject: Subject, counter: oracles.CountingBackend
) -> tuple[oracles.Trace, Run, list[int]]:
    counter.ops.clear()
    first: list[int] = []

    def call() -> object:
        try:
            return subject.call_compiled()
        finally:
            if not first:
                first.append(len(counter.ops))

    with oracles.watch() as trace:
        results = run(subject, call)
    return trace, results, counter.ops[: first[0]]


def _hand_over(subject: Subject, desk: Path, *, follow: bool) -> str:
    inputs = {"inputs": take((subject.loaded.args, subject.loaded.kwargs))}
    if not follow:
        state = subject.module.state_dict() if subject.module is not None else None
        torch.save({"state": state, "inputs": inputs}, desk / _STATE)
        return ""
    misfit = load_state(subject, desk)
    if misfit:
        return f"the weights do not fit: {misfit}"
    theirs = torch.load(desk / _STATE, weights_only=False)["inputs"]
    same = compare(theirs, inputs)
    return f"the inputs are not the same: {same.detail}" if same.equal is False else ""


def _against_before(eager: Run, desk: Path, misfit: str, judge: Judge) -> Equality:
    if misfit:
        return unknown(misfit)
    theirs, unstable = torch.load(desk / _RESULTS, weights_only=False)
    judge.unstable = judge.unstable or unstable
    return judge(eager, theirs)


def _difference(again: Equality) -> str:
    return again.detail or f"by up to {again.max_rel:.2g} of the largest value"


def _breaks(seen: tuple[Break, ...], first: Break | None) -> tuple[Break, ...]:
    # The log misses nothing that we know of; should it ever, the gate's break is reported.
    return seen if seen or first is None else (first,)
