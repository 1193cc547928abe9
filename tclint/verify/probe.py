"""The break-counting run of one arm: compile first, in a fresh process, then run eagerly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from tclint.verify import oracles
from tclint.verify.equality import compare, unknown
from tclint.verify.measure import host_syncs
from tclint.verify.results import Break, Equality, Probe
from tclint.verify.snapshot import Snapshot, outcome, take
from tclint.verify.subject import Subject, Workshop, place_names, seed
from tclint.verify.targets import Target

CALLS = 3
_STATE, _RESULTS = "state.pt", "results.pt"

Run = dict[str, Snapshot]


def probe(target: Target, root: Path, device: str | None, desk: Path, *, follow: bool) -> Probe:
    """Count what Dynamo does to the target, and compare compiled with eager results.

    ``desk`` is where the arm that runs first leaves its weights, inputs and results;
    with ``follow`` this arm takes those weights and compares itself with those results.
    """
    counter = oracles.CountingBackend()
    shop = Workshop(target, root, device, counter)
    subject = _prepare(shop, desk, counter)
    misfit = _hand_over(subject, desk, follow=follow)
    trace, compiled, ops = _watch(subject, counter)
    if subject.itself and not trace.compiled_frames and not trace.breaks:
        shop.compile_whole()
        subject = _prepare(shop, desk, counter)
        trace, compiled, ops = _watch(subject, counter)
    place = place_names(_tensors(subject))
    eager_subject = _prepare(shop, desk, counter)
    eager = run(eager_subject, eager_subject.call_eager)
    syncs = host_syncs(eager_subject.call_eager)
    torch._dynamo.reset()
    verdict, first = oracles.gate(_prepare(shop, desk, counter).call_compiled)
    if not follow:
        torch.save(eager, desk / _RESULTS)
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
        like_eager=compare(eager, compiled),
        like_before=_against_before(eager, desk, misfit) if follow else None,
        loaded=shop.files,
    )


def run(subject: Subject, call: Callable[[], object], calls: int = CALLS) -> Run:
    """Call a subject a few times, seeded alike each time; keep results and the final weights."""
    results: Run = {}
    for number in range(1, calls + 1):
        seed()
        results[f"call {number}"] = outcome(call)
    if subject.module is not None:
        results["state"] = take(subject.module.state_dict())
    return results


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
    inputs = {"inputs": take((subject.args, subject.kwargs))}
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


def _against_before(eager: Run, desk: Path, misfit: str) -> Equality:
    if misfit:
        return unknown(misfit)
    return compare(torch.load(desk / _RESULTS, weights_only=False), eager)


def _breaks(seen: tuple[Break, ...], first: Break | None) -> tuple[Break, ...]:
    # The log misses nothing that we know of; should it ever, the gate's break is reported.
    return seen if seen or first is None else (first,)


def _tensors(subject: Subject) -> list[Any]:
    leaves: list[Any] = tree_leaves((subject.args, subject.kwargs))
    if subject.module is not None:
        leaves.extend(subject.module.parameters())
    return leaves
