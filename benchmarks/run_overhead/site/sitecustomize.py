"""Switches the recorder of this process off and on every few steps, and times the steps.

The recorder's own ``sitecustomize`` comes first, and imports this one; this one imports that of the
script. What the recorder has put around a step is taken away and put back as a whole: its hook on
optimizers, its statement in torch's ``backward``, its ears in torch's logs. It is measured three
times: while losses are copied, once that is over, and after a profiler has run.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCK, SKIPPED, WARM_UP, PROFILED = 10, 2, 30, 4
_NAME = "__tclint_backward__"
_LOGS = (
    "torch.__trace",
    "torch._inductor.cudagraph_utils.__cudagraphs",
    "torch._inductor.cudagraph_utils.__perf_hints",
)

Clock = Callable[[], int]


class Switch:
    """What the recorder put in place, to be put there or not."""

    def __init__(self, torch: Any, recording: Any, clock: Clock) -> None:
        self._torch, self._clock = torch, clock
        self.own = 0
        """Nanoseconds in the recorder's own functions."""
        self._hooks = sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks
        self._function = torch.autograd.graph._engine_run_backward
        logs = sys.modules["logging"].getLogger
        self._loggers = [logs(name) for name in _LOGS]
        hooks, code, began, ears = self._there()
        recording.release()
        self._off = self._there()
        assert hooks != self._off[0], "no hook on optimizers"
        assert code is not self._off[1], "no statement in backward"
        timed = {key: self._timed(one) for key, one in hooks.items() if key not in self._off[0]}
        self._on = {**self._off[0], **timed}, code, self._timed(began), ears

    def put(self, there: bool, kept: dict[int, Any]) -> None:
        """Switch; a hook that is not the recorder's is ``kept``."""
        hooks, code, began, ears = self._on if there else self._off
        self._hooks.clear()
        self._hooks.update({**hooks, **kept})
        # The name has to be there as long as the code is that asks for it.
        if began is not None:
            self._function.__globals__[_NAME] = began
        self._function.__code__ = code
        if began is None:
            self._function.__globals__.pop(_NAME, None)
        for logger, (methods, handlers) in zip(self._loggers, ears, strict=True):
            for name, method in methods.items():
                logger.__dict__.pop(name, None)
                if method is not None:
                    setattr(logger, name, method)
            logger.handlers[:] = handlers

    def _there(self) -> Any:
        ears = [
            ({name: vars(one).get(name) for name in ("debug", "warning")}, list(one.handlers))
            for one in self._loggers
        ]
        began = self._function.__globals__.get(_NAME)
        return dict(self._hooks), self._function.__code__, began, ears

    def _timed(self, hook: Any) -> Any:
        """The hook, whose own time is added up."""

        def timed(*args: Any) -> None:
            begun = self._clock()
            hook(*args)
            self.own += self._clock() - begun

        skip_code(self._torch, timed)
        return timed


class Blocks:
    """Times steps, block by block, from a hook of its own on the optimizer."""

    def __init__(self, torch: Any, recording: Any, path: Path, told: dict[str, str]) -> None:
        self._torch, self._recording, self._path = torch, recording, path
        self._seconds = float(told["OVERHEAD_SECONDS"])
        self._draw = random.Random(int(told["OVERHEAD_SEED"]))
        # Without a GPU by the thread's own clock: other programs do not count.
        on_gpu = told["OVERHEAD_DEVICE"] == "cuda"
        self._clock = time.perf_counter_ns if on_gpu else time.thread_time_ns
        self._phases = ["first", "later", "profiled"]
        self._phase = ""
        self._found: list[Any] = []
        self._pending: list[bool] = []
        self._steps: list[tuple[int, int]] = []
        self._marker = self._others = self._count = self._left = self._began = 0
        self._until = 0.0
        self._profiler: Any = None
        kind = import_module("tclint_recorder.losses").Losses
        (self._losses,) = (one for one in gc.get_objects() if type(one) is kind)
        self._pid = os.getpid()
        self._switch = Switch(torch, recording, self._clock)
        self._kept = self._listen()
        self._switch.put(True, self._kept)
        atexit.register(self.write)

    def _listen(self) -> dict[int, Any]:
        def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
            now = self._clock()
            if not self._torch.compiler.is_compiling():
                self._stepped(id(optimizer), now)

        skip_code(self._torch, stepped)
        skip_code(self._torch, Blocks._stepped)
        optimizers = sys.modules["torch.optim.optimizer"]
        return {optimizers.register_optimizer_step_post_hook(stepped).id: stepped}

    def _stepped(self, optimizer: int, now: int) -> None:
        """A step is over, if it was the loop's own optimizer's."""
        self._others += 1
        if self._marker in {0, optimizer} or self._others > 3:
            self._marker, self._others = optimizer, 0
            self._over(now)
            self._switch.own = 0
            self._began = self._clock()

    def _over(self, now: int) -> None:
        self._count += 1
        if self._left:
            self._steps.append((now - self._began, self._switch.own))
            self._left -= 1
        if self._count >= WARM_UP and not self._left:
            self._end_block()
            self._begin_block()

    def _end_block(self) -> None:
        if self._profiler is not None:
            self._profiler.close(0, 0)
            self._profiler = None
        elif self._steps:
            steps, own = zip(*self._steps[SKIPPED:], strict=True)
            self._found.append((self._phase, self._pending.pop(), steps, own))
        self._steps = []

    def _begin_block(self) -> None:
        """The order within each pair is drawn; what is looked at changes between two pairs."""
        if not self._pending:
            closed = self._phase == "first" and not self._losses.open
            if not self._phase or closed or time.monotonic() > self._until:
                self._begin_phase()
                self._until = time.monotonic() + self._seconds
            self._pending = self._draw.choice(([True, False], [False, True]))
        if not self._left:
            self._left = SKIPPED + BLOCK
            self._switch.put(self._pending[-1], self._kept)

    def _begin_phase(self) -> None:
        self.write()
        if not self._phases:
            os._exit(0)
        self._phase = self._phases.pop(0)
        if self._phase == "later":
            self._losses.write()
        elif self._phase == "profiled":
            profiler = import_module("tclint_recorder.profiles").Profiles(
                self._torch, self._recording
            )
            if profiler.open(lambda: 0):
                self._profiler, self._left = profiler, PROFILED

    def write(self) -> None:
        """Write all blocks until now, from the process that ran them."""
        if os.getpid() == self._pid and self._found:
            self._path.write_text(json.dumps(self._found))


def skip_code(torch: Any, function: Any) -> None:
    """Have Dynamo leave a function alone."""
    import_module("tclint_recorder.backward").skip_code(torch, function.__code__)


def begin(told: dict[str, str]) -> None:
    """Load torch, so that the recorder is there, and switch it from now on."""
    # No windows; and losses are copied for as long as there is something to measure.
    os.environ |= {"TCLINT_RECORD_LOSSES": "1000", "TCLINT_RECORD_WINDOW": "0,0,0"}
    torch = import_module("torch")
    (recording,) = import_module("tclint_recorder.start").recordings
    Blocks(torch, recording, Path(told["OVERHEAD_OUT"], f"blocks-{os.getpid()}.json"), told)


if "TCLINT_RECORD" in os.environ:
    begin(dict(os.environ))
_FOLDER = str(Path(__file__).parent)
sys.path[:] = [entry for entry in sys.path if entry != _FOLDER]
sys.modules.pop("sitecustomize", None)
# Where there is none, its absence is told to `site` in the way that it expects.
import_module("sitecustomize")
