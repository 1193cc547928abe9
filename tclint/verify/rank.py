"""One rank of a distributed run (child process only)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from tclint.verify import oracles, steps
from tclint.verify.errors import TargetError
from tclint.verify.measure import milliseconds
from tclint.verify.nothing import why_nothing
from tclint.verify.probe import Judge, Run, place_of, run
from tclint.verify.results import Rank
from tclint.verify.share import sharing
from tclint.verify.snapshot import Snapshot, take
from tclint.verify.subject import Making, Subject, Workshop, seed
from tclint.verify.verdict import timing

_ROUNDS, _FEWEST_ROUNDS = 11, 5
_SAMPLE_MS, _MOST_CALLS, _SLOW_MS = 20.0, 50, 500.0
_WARM_UPS = 3


def run_rank(making: Making, request: dict[str, Any]) -> Rank:
    """Join the group, run the target compiled and eager, and say how it went."""
    making = replace(making, device=_device(making.device))
    with _group(request["patience"]):
        counter = oracles.CountingBackend()
        shop = Workshop(making, counter, sharing(request["parallel"]))
        subject = shop.make(backend=counter)
        with oracles.watch() as trace:
            compiled = run(subject, subject.call_compiled, calls=1)
        graphs = len(counter.ops)
        digest = _digest(subject)
        # Asked of all ranks at once: to find out why may take another call, which they share.
        nothing = "" if _most(graphs) else _why(subject, trace, compiled, shop)
        fresh = shop.make(backend=counter)
        eager = run(fresh, fresh.call_eager, calls=1)
        judge = Judge(shop, None, eager, calls=1)
        # A third run takes all ranks, since they wait for each other in it.
        if _most(judge.needs_float64(compiled)):
            judge.in_float64()
        found = Rank(
            rank=dist.get_rank(),
            breaks=trace.breaks,
            graphs=graphs,
            like_eager=judge(compiled),
            digest=digest,
            tied=isinstance(subject.module, nn.parallel.DistributedDataParallel),
            device=place_of(subject),
            nothing_compiled=nothing,
        )
        return _timed(found, shop, request) if request["speed"] else found


def _why(subject: Subject, trace: oracles.Trace, compiled: Run, shop: Workshop) -> str:
    return why_nothing(subject, trace, compiled["call 1"], shop.compiled_itself)


def _timed(found: Rank, shop: Workshop, request: dict[str, Any]) -> Rank:
    torch._dynamo.reset()
    shop.compile_for_real(request["mode"])
    options = {"backend": request["backend"]}
    if request["mode"] != "default":
        options["mode"] = request["mode"]
    forms = [shop.make(backend="eager").call_eager]
    try:
        subject = shop.make(**options)
        for _ in range(_WARM_UPS):
            subject.call_compiled()
        forms.append(subject.call_compiled)
    except Exception as error:  # noqa: BLE001 - whatever a compiler raises, eager code is timed
        found = replace(found, untimed=f"{type(error).__name__}: {error}".splitlines()[0])
    # What one rank cannot compile, none is timed with: they wait for each other in each call.
    if _most(bool(found.untimed)):
        del forms[1:]
    samples = _race(forms)
    return replace(
        found, eager=timing(samples[0]), compiled=timing(samples[1]) if len(samples) > 1 else None
    )


def _race(forms: list[Any]) -> list[list[float]]:
    """Time the forms by turns, all ranks with the same number of calls."""
    seed()
    once = [_most(min(milliseconds(form, 1) for _ in range(_WARM_UPS))) for form in forms]
    calls = [max(1, min(_MOST_CALLS, round(_SAMPLE_MS / max(one, 1e-3)))) for one in once]
    rounds = _FEWEST_ROUNDS if sum(once) > _SLOW_MS else _ROUNDS
    samples: list[list[float]] = [[] for _ in forms]
    for _ in range(rounds):
        for form, count, taken in zip(forms, calls, samples, strict=True):
            _most(0.0)
            taken.append(milliseconds(form, count))
    return samples


def _most(value: float) -> float:
    """The largest value of all ranks; nobody goes on before all have said theirs."""
    said = torch.tensor([float(value)])
    dist.all_reduce(said, dist.ReduceOp.MAX)
    return float(said.item())


def _digest(subject: Subject) -> str:
    """Stands for weights and gradients; outputs and buffers are each rank's own."""
    module = subject.module
    if module is None:
        return ""
    found = hashlib.sha256()
    for shared in (dict(module.named_parameters()), steps.gradients(module, [])):
        for text in _bytes(take(shared)):
            found.update(text)
    return found.hexdigest()[:16]


def _bytes(snapshot: Snapshot) -> Iterator[bytes]:
    values = getattr(snapshot, "values", None)
    if isinstance(values, torch.Tensor):
        yield values.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    for key, part in getattr(snapshot, "parts", ()):
        yield repr(key).encode()
        yield from _bytes(part)


def _device(device: str | None) -> str | None:
    if device == "cpu" or not torch.cuda.is_available():
        return device
    number, count = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    if number >= count:
        raise TargetError(f"rank {number} has no GPU of its own: there are {count}")
    torch.cuda.set_device(number)
    return device and f"cuda:{number}"


@contextmanager
def _group(patience: float) -> Iterator[None]:
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, timeout=timedelta(seconds=patience))
    yield
    # Rank 0 keeps the others' store: nobody leaves before all have done their part. The group is
    # left to the end of the process: gloo's destructor waits, with the interpreter's lock held,
    # for a thread that may want that lock.
    _most(0.0)
