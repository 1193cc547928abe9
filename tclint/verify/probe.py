"""The break-counting run of one arm: compile first, in a fresh process, then run eagerly."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from tclint.verify import oracles
from tclint.verify.draws import Draws
from tclint.verify.equality import compare, unknown
from tclint.verify.errors import TargetError
from tclint.verify.events import Equality
from tclint.verify.measure import host_syncs
from tclint.verify.nothing import methods_called, why_nothing
from tclint.verify.outputs import outputs
from tclint.verify.results import Probe, Remedy
from tclint.verify.snapshot import Raised, Snapshot, outcome, take
from tclint.verify.subject import SEED, Making, Subject, Workshop, place_names, random_state, seed

CALLS = 3
_STATE, _RESULTS, _VARIED = "state.pt", "results.pt", "varied.pt"
_NOT_YET = "not known when time was up"
# How often somebody who waits is told what a long compilation has come to.
_SILENCE_SECONDS = 1.0

Run = dict[str, Snapshot]
Say = Callable[[Probe], None]


def probe(making: Making, desk: Path, *, follow: bool, say: Say = lambda known: None) -> Probe:
    """Count what Dynamo does to the target, and compare compiled with eager results.

    ``desk`` is where the arm that runs first leaves its weights, inputs and results;
    with ``follow`` this arm takes those weights and compares itself with those results.
    ``say`` is told what is known so far, whenever that is more.
    """
    return _Probing(making, desk, say, follow=follow).through()


class _Probing:
    """One probe, step by step; what is known so far can be had after each."""

    def __init__(self, making: Making, desk: Path, say: Say, *, follow: bool) -> None:
        self._desk, self._follow, self._said = desk, follow, time.monotonic()
        self._say = say
        self._counter = oracles.CountingBackend()
        self._shop = Workshop(making, self._counter)
        self._subject = _prepare(self._shop, desk, self._counter)
        self._misfit = _hand_over(self._subject, desk, follow=follow)
        self._known = Probe(
            torch=str(torch.__version__),
            device=place_of(self._subject),
            itself=self._subject.itself,
            gate="unavailable",
            breaks=(),
            ops=(),
            recompiles=(),
            eager_frames=(),
            syncs=None,
            like_eager=unknown(_NOT_YET),
            like_before=unknown(_NOT_YET) if follow else None,
            loaded=self._shop.files,
            phase=making.phase,
        )

    def through(self) -> Probe:
        """Take all steps."""
        steps = {
            "breaks and recompiles": self._count,
            "compiled results against eager ones": self._compare,
            "other inputs": self._vary,
            "error_on_graph_break": self._ask_gate,
            "fullgraph=True": self._ask_fullgraph,
        }
        for number, step in enumerate(steps.values()):
            self._known = replace(self._known, unfinished=tuple(steps)[number:])
            self._say(self._known)
            step()
        return replace(self._known, unfinished=())

    def _count(self) -> None:
        trace = self._watch()
        called: tuple[str, ...] = ()
        if self._subject.itself and not trace.compiled_frames and not trace.breaks:
            # Its own compile calls may concern something else; not so where what they were given
            # runs, and only past its forward.
            called = methods_called(self._subject.call_eager, self._shop.compiled_itself)
        if self._subject.itself and not trace.compiled_frames and not trace.breaks and not called:
            self._shop.compile_whole()
            self._subject = _prepare(self._shop, self._desk, self._counter)
            trace = self._watch()
        self._trace = trace
        self._learn(trace, device=place_of(self._subject), itself=self._subject.itself)
        if not self._known.ops:
            first, models = self._compiled["call 1"], self._shop.compiled_itself
            why = why_nothing(self._subject, trace, first, models)
            self._known = replace(self._known, nothing_compiled=why)

    def _compare(self) -> None:
        subject = _prepare(self._shop, self._desk, self._counter)
        eager = run(subject, subject.call_eager)
        syncs = host_syncs(subject.call_eager)
        judge = Judge(self._shop, self._desk, eager)
        against = _against_before(eager, self._desk, self._misfit, judge) if self._follow else None
        self._known = replace(
            self._known,
            syncs=syncs,
            outputs=outputs(subject.call_eager),
            like_eager=judge(self._compiled),
            like_before=against,
            unstable=judge.unstable,
        )
        if not self._follow:
            _leave((eager, judge.unstable), self._desk / _RESULTS)

    def _vary(self) -> None:
        """Call what was compiled for the first inputs with others: as eager code of the first arm.

        Raises:
            TargetError: eager code does not take the other inputs.
        """
        number, path = len(self._subject.loaded.vary), self._desk / _VARIED
        if not number:
            return
        torch._dynamo.reset()
        if not self._follow:
            eager = self._varied(Subject.call_eager)
            raised = next((one for one in eager.values() if isinstance(one, Raised)), None)
            if raised is not None:
                kind = raised.kind.removeprefix("builtins.")
                raise TargetError(f"the other inputs raise {kind}: {raised.message}")
            _leave(eager, path)
        wanted, compiled = torch.load(path, weights_only=False), self._varied(Subject.call_compiled)
        found = compare(wanted, compiled, tolerance=self._subject.loaded.tolerance)
        self._known = replace(self._known, varied=number, like_varied=found)

    def _varied(self, call: Callable[[Subject], object]) -> Run:
        subject = self._fresh()
        loaded, results = subject.loaded, Run()
        each = {"call 1": (loaded.args, loaded.kwargs)}
        each |= {f"other inputs {n}": one for n, one in enumerate(loaded.vary, 1)}
        for name, (args, kwargs) in each.items():
            seed()
            given = replace(subject, loaded=replace(loaded, args=args, kwargs=kwargs))
            results[name] = outcome(partial(call, given))
        return results

    def _ask_gate(self) -> None:
        if self._known.breaks:
            # It would compile all again to stop at the first of them.
            self._known = replace(self._known, gate="breaks")
            return
        torch._dynamo.reset()
        verdict, first = oracles.gate(self._fresh().call_compiled)
        # The log misses nothing that we know of; should it ever, the gate's break is reported.
        breaks = self._known.breaks if first is None else (first,)
        self._known = replace(self._known, gate=verdict, breaks=breaks)

    def _ask_fullgraph(self) -> None:
        torch._dynamo.reset()
        strict = self._shop.make(backend=self._counter, fullgraph=True)
        load_state(strict, self._desk)
        whole, obstacle = oracles.fullgraph(strict.call_compiled)
        self._known = replace(self._known, fullgraph=whole, fullgraph_reason=obstacle)
        self._known = replace(self._known, remedies=tuple(self._remedies()))

    def _remedies(self) -> Iterator[Remedy]:
        """What leaves fewer breaks, tried."""
        count = len(self._known.user_breaks)
        if count and self._known.fullgraph == "possible":
            yield Remedy("fullgraph=True", 0)
            return
        named = dict.fromkeys(name for one in self._known.user_breaks for name in one.settings)
        settings = [name for name in named if hasattr(torch._dynamo.config, name)]
        if not settings:
            return
        torch._dynamo.reset()
        subject = self._fresh()
        with torch._dynamo.config.patch(dict.fromkeys(settings, True)), oracles.watch() as trace:
            outcome(subject.call_compiled)
        left = sum(not one.by_torch for one in trace.breaks)
        if left < count:
            text = " and ".join(f"{name}=True" for name in settings)
            yield Remedy(f"{text} in torch._dynamo.config", left)

    def _fresh(self) -> Subject:
        return _prepare(self._shop, self._desk, self._counter)

    def _watch(self) -> oracles.Trace:
        if self._counter.ops:
            # The factory called what it compiled: the calls to watch would find the graphs made.
            torch._dynamo.reset()
        self._counter.ops.clear()
        self._first_ops: tuple[int, ...] | None = None
        subject = self._subject

        def call() -> object:
            try:
                return subject.call_compiled()
            finally:
                if self._first_ops is None:
                    self._first_ops = tuple(self._counter.ops)

        with oracles.watch() as trace:
            self._counter.tell = lambda: self._report(trace)
            self._compiled = run(subject, call)
        self._counter.tell = lambda: None
        return trace

    def _report(self, trace: oracles.Trace) -> None:
        """Tell what is known in the midst of compiling, but not all the time."""
        now = time.monotonic()
        if now - self._said < _SILENCE_SECONDS:
            return
        self._said = now
        trace.refresh()
        self._learn(trace)
        self._say(self._known)

    def _learn(self, trace: oracles.Trace, **more: Any) -> None:
        ops = self._counter.ops if self._first_ops is None else self._first_ops
        self._known = replace(
            self._known,
            breaks=trace.breaks,
            ops=tuple(ops),
            recompiles=trace.recompiles,
            eager_frames=trace.eager_frames,
            **more,
        )


def run(
    subject: Subject, call: Callable[[], object], calls: int = CALLS, number: int = SEED
) -> Run:
    """Call a subject a few times, seeded alike each time; keep results and what they leave."""
    results: Run = {}
    for one in range(1, calls + 1):
        seed(number)
        results[f"call {one}"] = outcome(call)
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
        self._alike: bool | None = None

    def __call__(self, actual: Run, expected: Run | None = None) -> Equality:
        """Compare a run with the eager one, or with another arm's."""
        wanted = self._eager if expected is None else expected
        tolerance = self._subject.loaded.tolerance
        plain = compare(wanted, actual, tolerance=tolerance)
        if not _inexact(plain):
            return self._excuse(plain)
        truth, changed = self.in_float64(), expected is not None
        close = compare(wanted, actual, truth, tolerance, changed=changed)
        if close.equal is False and truth and self._same_draws():
            close = compare(wanted, actual, truth, tolerance, same_draws=True, changed=changed)
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
        self._subject = self._fresh(double=double)
        results = run(self._subject, self._subject.call_eager, self._calls)
        return {name: value for name, value in results.items() if name in self._eager}

    def _fresh(self, *, double: bool = False) -> Subject:
        subject = self._shop.make(double=double)
        if self._desk is not None:
            load_state(subject, self._desk)
        return subject

    def _same_draws(self) -> bool:
        """Whether a step draws the same in float64, however far away that ends up."""
        if self._subject.phase != "step":
            return False
        if self._alike is None:
            one, other = self._drawn(), self._drawn(double=True)
            self._alike = bool(one) and one == other
        return self._alike

    def _drawn(self, *, double: bool = False) -> str:
        subject, draws = self._fresh(double=double), Draws()
        results = run(subject, draws.watched(subject.call_eager), self._calls)
        return "" if any(isinstance(one, Raised) for one in results.values()) else draws.digest

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


def drew_nothing(results: Run) -> bool:
    """Whether a run that began with a seed left the generators as it had found them."""
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


def _hand_over(subject: Subject, desk: Path, *, follow: bool) -> str:
    inputs = {"inputs": take((subject.loaded.args, subject.loaded.kwargs))}
    if not follow:
        state = subject.module.state_dict() if subject.module is not None else None
        _leave({"state": state, "inputs": inputs}, desk / _STATE)
        return ""
    misfit = load_state(subject, desk)
    if misfit:
        return f"the weights do not fit: {misfit}"
    theirs = torch.load(desk / _STATE, weights_only=False)["inputs"]
    same = compare(theirs, inputs)
    return f"the inputs are not the same: {same.detail}" if same.equal is False else ""


def _leave(what: object, path: Path) -> None:
    """Save something for the arms to come; what user code has put there is replaced."""
    made, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(made, "wb") as file:
        torch.save(what, file)
    Path(name).replace(path)


def _against_before(eager: Run, desk: Path, misfit: str, judge: Judge) -> Equality:
    if misfit:
        return unknown(misfit)
    theirs, unstable = torch.load(desk / _RESULTS, weights_only=False)
    judge.unstable = judge.unstable or unstable
    return judge(eager, theirs)


def _difference(again: Equality) -> str:
    return again.detail or f"by up to {again.max_rel:.2g} of the largest value"
