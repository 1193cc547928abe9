"""One rank of a distributed run (child process only)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from tclint.verify import oracles
from tclint.verify.contract import TargetError
from tclint.verify.equality import compare
from tclint.verify.measure import seconds
from tclint.verify.probe import Run, run
from tclint.verify.results import Rank
from tclint.verify.subject import Making, Subject, Workshop, seed

_TIMED_CALLS = 10
_WARM_UPS = 3


def run_rank(making: Making, desk: Path, request: dict[str, Any]) -> Rank:
    """Join the group, run the target compiled and eager, and say how it went."""
    del desk
    rank = int(os.environ["RANK"])
    making = replace(making, device=_device(making.device))
    with _group(making.device, request["patience"]):
        counter = oracles.CountingBackend()
        wrap = _wrapper(request["parallel"], making.device)
        shop = Workshop(making, counter, wrap)
        subject = shop.make(backend=counter)
        with oracles.watch() as trace:
            compiled = run(subject, subject.call_compiled, calls=1)
        graphs = len(counter.ops)
        eager_subject = shop.make(backend=counter)
        eager = run(eager_subject, eager_subject.call_eager, calls=1)
        return Rank(
            rank=rank,
            breaks=trace.breaks,
            graphs=graphs,
            like_eager=compare(eager, compiled),
            digest=_digest(compiled),
            milliseconds=_milliseconds(eager_subject) if request["speed"] else None,
        )


def _milliseconds(subject: Subject) -> float:
    """Each rank times the same number of calls, as they wait for each other in each."""
    for _ in range(_WARM_UPS):
        subject.call_eager()
    dist.barrier()
    seed()
    return 1e3 * median(seconds(subject.call_eager) for _ in range(_TIMED_CALLS))


def _digest(results: Run) -> str:
    """Stands for gradients and weights, which all ranks must share; outputs are their own."""
    shared = {name: results[name] for name in ("gradients", "state") if name in results}
    found = hashlib.sha256()
    for name, snapshot in shared.items():
        found.update(name.encode())
        for text in _bytes(snapshot):
            found.update(text)
    return found.hexdigest()[:16]


def _bytes(snapshot: Any) -> Iterator[bytes]:
    values = getattr(snapshot, "values", None)
    if isinstance(values, torch.Tensor):
        yield (
            values.contiguous().view(torch.uint8).numpy().tobytes()
            if values.ndim
            else (str(values.item()).encode())
        )
    for key, part in getattr(snapshot, "parts", ()):
        yield repr(key).encode()
        yield from _bytes(part)


def _device(device: str | None) -> str | None:
    if device != "cuda":
        return device
    number = int(os.environ["LOCAL_RANK"])
    if number >= torch.cuda.device_count():
        raise TargetError(f"there is no GPU for rank {number}")
    torch.cuda.set_device(number)
    return f"cuda:{number}"


@contextmanager
def _group(device: str | None, patience: float) -> Iterator[None]:
    backend = "nccl" if device is not None and device.startswith("cuda") else "gloo"
    dist.init_process_group(backend, timeout=timedelta(seconds=patience))
    try:
        yield
        # Rank 0 keeps the others' store: nobody leaves before all have done their part.
        dist.barrier()
    finally:
        dist.destroy_process_group()


def _wrapper(parallel: str, device: str | None) -> Callable[[Any], Any]:
    def wrap(function: Any) -> Any:
        if parallel == "none" or not isinstance(function, nn.Module):
            return function
        if not any(parameter.requires_grad for parameter in function.parameters()):
            return function
        if parallel == "fsdp":
            from torch.distributed.device_mesh import init_device_mesh
            from torch.distributed.fsdp import fully_shard

            kind = "cpu" if device is None else device.split(":")[0]
            mesh = init_device_mesh(kind, (dist.get_world_size(),))
            return fully_shard(function, mesh=mesh)
        return nn.parallel.DistributedDataParallel(function)

    return wrap
