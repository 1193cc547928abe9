"""What is recorded once the program has imported torch."""

from __future__ import annotations

import builtins
import gc
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import dynamo
from .backward import on_backward, skip_code
from .calls import Calls
from .cells import Cells
from .compiling import Compiling
from .losses import Losses
from .overlay import STEP
from .recording import Recording
from .samples import Watch
from .steps import Loop
from .windows import planned


def attach(torch: Any, recording: Recording, told: Mapping[str, str] = os.environ) -> None:
    """Listen to torch; a part that this torch does not have leaves a note."""
    lines = recording.lines
    if told.get("TCLINT_RECORD_SEED"):
        lines.guarded("seed", _seed)(torch, _number(told, "TCLINT_RECORD_SEED", 0))
    hear = _outside_dynamo(torch, recording)
    losses = Losses(torch, recording, _number(told, "TCLINT_RECORD_LOSSES", 100))
    windows = planned(torch, recording, told)
    watch = Watch(recording)
    cells = lines.guarded("cells", Cells(recording).write)

    def about() -> None:
        recording.tell(**_machine(torch))
        cells()

    loop = Loop(
        recording,
        windows,
        losses,
        watch,
        about=about,
        trains=_has_optimizer,
        warm_up=_number(told, "TCLINT_RECORD_WARM_UP", 10),
        limit=_number(told, "TCLINT_RECORD_STEPS", 0),
        named=bool(told.get("TCLINT_RECORD_MARKER")),
    )
    stepped, began = hear("a step", loop.optimizer_stepped), hear("a backward", loop.backward_began)
    undo = (
        lines.guarded("what Dynamo does", dynamo.listen)(lines, hear),
        lines.guarded("optimizer steps", _on_optimizers)(torch, stepped),
        lines.guarded("backward", on_backward)(torch, began),
    )
    recording.undo += [one for one in undo if one is not None]
    calls = lines.guarded("calls", Calls)(torch, hear("a call", loop.called))
    if calls is not None:
        loop.calls = calls
        recording.undo.append(calls.stop)
    if told.get("TCLINT_RECORD_NUDGE"):
        lines.guarded("nudge", _on_optimizers)(torch, hear("nudge", _Nudge(torch)))
    if told.get("TCLINT_RECORD_MARKER"):
        setattr(builtins, STEP, hear("a step", loop.marked))
    if told.get("TCLINT_RECORD_COMPILE"):
        models = Compiling(torch, recording, told["TCLINT_RECORD_COMPILE"])
        lines.guarded("compiling", models.begin)()
    recording.at_end += [
        lines.guarded("windows", windows.finish),
        lines.guarded("samples", watch.write),
        lines.guarded("steps", loop.write),
        lines.guarded("losses", losses.write),
        lines.guarded("memory", lambda: _memory(torch, recording)),
        cells,
    ]
    recording.at_fork += [watch.forget, windows.forget, loop.forget, losses.forget]


class _Nudge:
    """Changes one bit of each weight after the first step of its optimizer."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._nudged: set[int] = set()

    def __call__(self, optimizer: Any) -> None:
        if id(optimizer) in self._nudged:
            return
        self._nudged.add(id(optimizer))
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        with self._torch.no_grad():
            for weight in weights:
                if weight.is_floating_point():
                    up = self._torch.full_like(weight, float("inf"))
                    weight.copy_(self._torch.nextafter(weight, up))


def _has_optimizer() -> bool:
    """Whether the program has made an optimizer: then it will train, though it has not begun."""
    kind = sys.modules["torch.optim.optimizer"].Optimizer
    return any(issubclass(type(one), kind) for one in gc.get_objects())


def _seed(torch: Any, seed: int) -> None:
    """Seed what the program draws from; it may seed again itself."""
    torch.manual_seed(seed)
    if "random" in sys.modules:
        sys.modules["random"].seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)


def _on_optimizers(torch: Any, hear: Callable[..., None]) -> Callable[[], None]:
    compiling = torch.compiler.is_compiling

    def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
        # Where Dynamo traces the step, this is all that it sees of it.
        if not compiling():
            hear(optimizer)

    optimizers = sys.modules["torch.optim.optimizer"]
    stop: Callable[[], None] = optimizers.register_optimizer_step_post_hook(stepped).remove
    return stop


def _outside_dynamo(
    torch: Any, recording: Recording
) -> Callable[[str, Callable[..., Any]], Callable[..., None]]:
    """Makes what torch may call: failures are notes, and Dynamo does not look into it."""
    callback = torch._C._dynamo.eval_frame.set_eval_frame

    def hear(what: str, function: Callable[..., Any]) -> Callable[..., None]:
        safe = recording.lines.guarded(what, function)

        def heard(*args: Any) -> None:
            before = callback(None)
            try:
                safe(*args)
            except SystemExit as end:
                raise _as_pytest_ends(end) from None
            finally:
                callback(before)

        skip_code(torch, heard.__code__)
        return heard

    return hear


def _as_pytest_ends(end: SystemExit) -> BaseException:
    """What ends a program; in a test, which would fail by it, what ends pytest."""
    pytest = sys.modules.get("_pytest.outcomes")
    if pytest is None or "PYTEST_CURRENT_TEST" not in os.environ:
        return end
    ending: BaseException = pytest.Exit("enough steps", returncode=0)
    return ending


def _machine(torch: Any) -> dict[str, Any]:
    """What the program runs on, as far as it has been asked for: asking would change it."""
    known: dict[str, Any] = {"cuda": torch.version.cuda, "seed": torch.initial_seed()}
    if torch.cuda.is_initialized():
        known["device"] = torch.cuda.get_device_name()
    groups = torch.distributed
    if groups.is_available() and groups.is_initialized():
        known |= {"rank": groups.get_rank(), "world_size": groups.get_world_size()}
    return known


def _memory(torch: Any, recording: Recording) -> None:
    if torch.cuda.is_initialized():
        recording.lines.write("memory", peak=torch.cuda.max_memory_allocated())


def _number(told: Mapping[str, str], name: str, otherwise: int) -> int:
    text = told.get(name, "")
    return int(text) if text.isdecimal() else otherwise
