"""Watch the compiled code of one test (needs torch, and runs in the test's own process)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch._dynamo

from tclint.pytest_plugin.limits import Counts
from tclint.verify.events import Break, Frame, Recompile, Sync
from tclint.verify.measure import merge_syncs, sync_stacks
from tclint.verify.oracles import CountingBackend, Trace, watch


class Compiled:
    """The fixture: compiles models with a backend that runs each graph as it is."""

    def __call__(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Compile the model and call it twice; what the first call gave.

        The second call shows what is compiled anew though nothing has changed. A model that is
        compiled already, and one that compiles its own parts, are called as they are.
        """
        call = model if _is_compiled(model) else torch.compile(model, backend=CountingBackend())
        first = call(*args, **kwargs)
        call(*args, **kwargs)
        return first


class Seen:
    """What a test's compiled code did."""

    def __init__(self, trace: Trace) -> None:
        """Take what is being watched."""
        self._trace = trace
        self._stacks: list[tuple[Frame, ...]] | None = None

    def listen(self, stacks: list[tuple[Frame, ...]]) -> None:
        """Take the stacks of the waits for the GPU."""
        self._stacks = stacks

    @property
    def breaks(self) -> tuple[Break, ...]:
        """The breaks that torch's own code does not ask for."""
        return tuple(one for one in self._trace.breaks if not one.by_torch)

    @property
    def recompiles(self) -> tuple[Recompile, ...]:
        """The functions that were compiled again."""
        return self._trace.recompiles

    @property
    def syncs(self) -> tuple[Sync, ...]:
        """The lines that waited for the GPU."""
        return merge_syncs(self._stacks or ())

    def counts(self) -> Counts:
        """The numbers."""
        waits = None if self._stacks is None else sum(one.count for one in self.syncs)
        graphs = self._trace.compiled_frames
        return Counts(len(self.breaks), len(self.recompiles), graphs, waits)


@contextmanager
def watched(*, syncs: bool) -> Iterator[Seen]:
    """Watch for as long as the block runs; nothing that was compiled before counts."""
    torch._dynamo.reset()
    with ExitStack() as stack:
        stack.enter_context(_unshown())
        trace = stack.enter_context(watch())
        seen = Seen(trace)
        if syncs and torch.cuda.is_available():
            stacks: list[tuple[Frame, ...]] = []
            seen.listen(stacks)
            stack.enter_context(sync_stacks(stacks))
        yield seen
        trace.refresh()


@contextmanager
def _unshown() -> Iterator[None]:
    """Keep torch's structured log, lines without text, out of what pytest shows of a failure."""
    logger = logging.getLogger("torch.__trace")
    shown = [one for one in logger.handlers if type(one).__module__.startswith("_pytest")]
    for handler in shown:
        logger.removeHandler(handler)
    try:
        yield
    finally:
        for handler in shown:
            logger.addHandler(handler)


def _is_compiled(model: Any) -> bool:
    return isinstance(model, torch._dynamo.OptimizedModule) or hasattr(
        model, "_torchdynamo_orig_callable"
    )
