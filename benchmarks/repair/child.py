"""Measure one row with the package that comes first on the path; what a child process does.

The first compiled call comes before any other: what an eager call leaves in caches can hide a
break. Weights come from the arm before fixing, loaded strictly.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._inductor.config

from benchmarks.catalogues.build import build
from benchmarks.repair.messages import messages_of
from benchmarks.repair.record import BEFORE, NAMED, ROUNDED, SAME, Measured, Site
from benchmarks.repair.rows import TRAIN, Row
from tclint.torch_facts.dynamo_settings import DYNAMIC_SHAPES, RECURRENT, SCALARS
from tclint.verify.equality import compare
from tclint.verify.oracles import CountingBackend, Trace, fullgraph, watch
from tclint.verify.snapshot import Raised, Snapshot, outcome, take
from tclint.verify.subject import seed, turn_on

CALLS = 2
CAPTURING = (SCALARS, DYNAMIC_SHAPES, RECURRENT)
Results = dict[str, Snapshot]


@dataclass(frozen=True, slots=True)
class Run:
    """What the calls gave and left behind; what Dynamo did in each, and its graphs so far."""

    results: Results
    traces: list[Trace]
    graphs: list[int]


class Subject:
    """A row's module with the common weights, made anew for each way of calling it."""

    def __init__(self, row: Row, arm: str, folder: Path) -> None:
        """Save the weights that the seed gives before fixing; load them afterwards."""
        self._row, self._weights = row, folder / f"{row.name}.weights.pt"
        self.reference = folder / f"{row.name}.results.pt"
        if arm == BEFORE:
            self._weights.unlink(missing_ok=True)
            torch.save(self.make()[0].state_dict(), self._weights)

    def make(self) -> tuple[torch.nn.Module, dict[str, Any]]:
        """The module and its keyword arguments."""
        module, arguments = build(self._row.model, self._row.mode)
        if self._weights.exists():
            module.load_state_dict(torch.load(self._weights), strict=True)
        if self._row.half:
            module = module.half()
            arguments = {name: _cast(value, torch.float16) for name, value in arguments.items()}
        return module, arguments

    def call(self, function: Any, arguments: dict[str, Any]) -> object:
        """Call with a fixed seed, and backwards where there is a loss."""
        seed()
        with torch.set_grad_enabled(self._row.mode == TRAIN):
            result = function(**arguments)
            loss = getattr(result, "loss", None)
            if isinstance(loss, torch.Tensor) and loss.requires_grad:
                loss.backward()
        return result

    def results(self, *, double: bool = False) -> Results:
        """What the eager calls give."""
        return self.run(double=double).results

    def run(self, backend: CountingBackend | str | None = None, *, double: bool = False) -> Run:
        """Call ``CALLS`` times, compiled with ``backend`` or eagerly; ``double``: in float64."""
        module, arguments = self.make()
        if double:
            module = module.double()
            arguments = {name: _cast(value, torch.float64) for name, value in arguments.items()}
        options: dict[str, Any] = {"backend": backend, "dynamic": False}
        function = torch.compile(module, **options) if backend else module
        run = Run({}, [], [])
        for number in range(CALLS):
            with watch() as trace:
                given = outcome(lambda: self.call(function, arguments))
            run.results[f"call {number}"] = given
            run.traces.append(trace)
            run.graphs.append(len(backend.ops) if isinstance(backend, CountingBackend) else 0)
        run.results["random state"] = take(torch.get_rng_state())
        run.results["buffers"] = take(dict(module.named_buffers()))
        run.results["gradients"] = take({n: p.grad for n, p in module.named_parameters()})
        torch._dynamo.reset()
        return run


def measure(row: Row, arm: str, folder: Path, *, inductor: bool) -> Measured:
    """Compile, call twice, call eagerly, ask for one graph, compare.

    Raises:
        RuntimeError: the model does not run.
    """
    start = time.perf_counter()
    subject = Subject(row, arm, folder)
    counted = subject.run(CountingBackend())
    eager, messages = messages_of(subject.run, row.model.library)
    first = eager.results["call 0"]
    if arm == BEFORE and isinstance(first, Raised):
        raise RuntimeError(f"{first.kind}: {first.message.splitlines()[0][:160]}")
    found: dict[str, Any] = {
        "eager": eager.results,
        "compiled": counted.results,
        "messages": messages,
    }
    found["breaks"] = counted.graphs[0] > 1
    if arm == BEFORE:
        truth = subject.run(double=True).results
        torch.save({**found, "float64": truth}, subject.reference)
        # What differs from one eager run to the next is not asked of another arm.
        found["eager"] = subject.run().results
    known = torch.load(subject.reference, weights_only=False)
    library = sys.modules[row.model.library]
    package = Path(str(library.__file__)).parent
    said = getattr(library, "__version__", "")
    return Measured(
        row=row.name,
        arm=arm,
        cls=row.model.cls,
        graphs=counted.graphs[0],
        sites=tuple(_sites(counted.traces[0], package)),
        recompiles=len(counted.traces[1].recompiles),
        fullgraph=_fullgraph(subject) if known["breaks"] else "",
        inductor=_inductor(subject, eager.results) if inductor and known["breaks"] else "",
        seconds=round(time.perf_counter() - start, 1),
        versions={"torch": torch.__version__, row.model.library: said},
        loaded=dict(_loaded(package)),
        **_compared(known, found, subject),
    )


def _compared(
    before: Mapping[str, Any], after: Mapping[str, Any], subject: Subject
) -> dict[str, str]:
    same = before["messages"] == after["messages"]
    told = SAME if same else f"{before['messages']}, then {after['messages']}"[:300]
    truth = before["float64"]
    eager, compiled = (
        _verdict(before["eager"], after[way], truth) for way in ("eager", "compiled")
    )
    return {"eager": eager, "compiled": compiled, "messages": told}


def _verdict(one: Results, other: Results, truth: Results) -> str:
    """The same, equal within rounding, or what differs; ``truth`` is code before fixing."""
    if compare(one, other).verdict == SAME:
        return SAME
    answer = compare(one, other, truth)
    if answer.verdict == "close":
        return f"{ROUNDED}: {answer.max_rel:.1e}"
    return f"{answer.verdict}: {answer.detail or f'off by {answer.max_rel:.1e}'}"


def _fullgraph(subject: Subject) -> str:
    module, arguments = subject.make()
    whole = torch.compile(module, backend=CountingBackend(), dynamic=False, fullgraph=True)
    verdict, _ = fullgraph(lambda: subject.call(whole, arguments))
    torch._dynamo.reset()
    return verdict


def _inductor(subject: Subject, eager: Results) -> str:
    # Inductor's own generator would drop other values than eager code does.
    with torch._inductor.config.patch(fallback_random=True):
        compiled = subject.run("inductor").results
    answer = compare(eager, compiled)
    if answer.verdict == "different":
        # A gradient that is zero but for rounding comes out otherwise each time.
        answer = compare(eager, compiled, subject.run(double=True).results)
    if answer.verdict == "different":
        return f"different: {answer.detail}"
    return answer.verdict if answer.verdict == SAME else f"close: {answer.max_rel:.1e}"


def _cast(value: Any, dtype: torch.dtype) -> Any:
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.to(dtype) if floats else value


def _sites(trace: Trace, package: Path) -> Iterator[Site]:
    for one in trace.breaks:
        own = [frame for frame in one.stack if frame.filename.startswith(f"{package}/")]
        for place in (own or list(one.stack))[-1:]:
            file = place.filename.removeprefix(f"{package.parent}/")
            yield Site(file, place.row, one.gb_id or "", one.reason)


def _loaded(package: Path) -> Iterator[tuple[str, str]]:
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if file and file.startswith(f"{package}/"):
            digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
            yield str(Path(file).relative_to(package.parent)), digest


def answer(row: Row, arm: str, folder: Path, inductor: bool, record: Path, log: Path) -> None:
    """Measure in this process; what the model prints goes to ``log``."""
    with log.open("w") as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
    torch.set_num_threads(1)
    if NAMED[arm].settings:
        turn_on(CAPTURING)
    warnings.simplefilter("ignore")
    try:
        measured = measure(row, arm, folder, inductor=inductor)
    except Exception as error:  # noqa: BLE001 (a model that does not run is a result too)
        traceback.print_exc()
        words = (str(error).strip().splitlines() or [""])[0][:200]
        measured = Measured(
            row.name, arm, row.model.cls, failure=f"{type(error).__name__}: {words}"
        )
    record.write_text(json.dumps(measured.to_json()))
