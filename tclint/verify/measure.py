"""Time, memory and host syncs of a callable (child process only)."""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

import torch

from tclint.verify.breaks import own_frames, user_frame
from tclint.verify.events import Frame, Sync
from tclint.verify.speed import Kernels, Memory

_SAMPLE_MS = 2.0
_MOST_CALLS = 200
_NO_KERNELS = ("Memcpy", "Memset", "## ", "Torch-Compiled")
_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch")
_SYNC_WARNING = "called a synchronizing CUDA operation"

Call = Callable[[], object]


def uses_cuda() -> bool:
    """True once something has run on a GPU."""
    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def settle() -> None:
    """Wait for the GPU, if there is one."""
    if uses_cuda():
        torch.cuda.synchronize()


def seconds(call: Call) -> float:
    """Wall-clock seconds of one call, the GPU's work included."""
    settle()
    start = time.perf_counter()
    call()
    settle()
    return time.perf_counter() - start


def milliseconds(call: Call, calls: int) -> float:
    """Milliseconds per call, over ``calls`` calls in a row."""
    if uses_cuda():
        return _by_events(call, calls)
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) * 1e3 / calls


def calls_per_sample(call: Call) -> int:
    """How many calls make a sample long enough for the clock."""
    once = max(min(milliseconds(call, 1) for _ in range(3)), 1e-4)
    return max(1, min(_MOST_CALLS, round(_SAMPLE_MS / once)))


def peak_memory(call: Call) -> Memory:
    """Peak memory of one call; on a CPU, of the process so far."""
    if not uses_cuda():
        return Memory(resident=_resident())
    settle()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    call()
    settle()
    return Memory(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


def kernels(call: Call) -> Kernels | None:
    """What one call runs on the GPU; None without one."""
    if not uses_cuda():
        return None
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    settle()
    with torch.profiler.profile(activities=activities) as profile:
        call()
        settle()
    names: dict[bool, list[str]] = {True: [], False: []}
    for event in profile.events():
        names[event.device_type == torch.autograd.DeviceType.CUDA].append(event.name)
    return Kernels(
        run=sum(not name.startswith(_NO_KERNELS) for name in names[True]),
        launches=sum(name.startswith(_LAUNCHES) for name in names[False]),
    )


def host_syncs(call: Call) -> tuple[Sync, ...] | None:
    """The lines of one call at which the CPU waits for the GPU; None without a GPU.

    A call that raises has its waits counted up to there.
    """
    if not uses_cuda():
        return None
    settle()
    stacks: list[tuple[Frame, ...]] = []
    # What the exception means for the results is the comparison's business.
    with sync_stacks(stacks), contextlib.suppress(Exception):
        call()
    return merge_syncs(stacks)


def merge_syncs(stacks: Iterable[tuple[Frame, ...]]) -> tuple[Sync, ...]:
    """One entry for each line of the user's, with the stack of its first wait."""
    places: dict[tuple[str, int], list[tuple[Frame, ...]]] = defaultdict(list)
    for stack in stacks:
        at = user_frame(stack)
        places[at.filename, at.row].append(stack)
    return tuple(
        Sync(file, row, len(found), own_frames(found[0]))
        for (file, row), found in sorted(places.items())
    )


@contextlib.contextmanager
def sync_stacks(stacks: list[tuple[Frame, ...]]) -> Iterator[None]:
    """Collect the stack of each wait for the GPU while the block runs."""

    def note(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del category, filename, lineno, file, line
        if _SYNC_WARNING in str(message):
            frames = traceback.extract_stack()[:-1]
            stacks.append(
                tuple(
                    Frame(frame.filename, frame.lineno or 0, frame.name)
                    for frame in frames
                    if frame.filename != warnings.__file__
                )
            )

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


def _by_events(call: Call, calls: int) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    settle()
    start.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / calls


def _resident() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
