"""Measure one model in one mode; what a child process does.

The compiled call comes first: what an eager call leaves in caches can hide a break.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from benchmarks.catalogues import Model
from benchmarks.catalogues.build import build
from benchmarks.models.lines import executed_lines
from benchmarks.models.record import BreakSite, DroppedFrame, Measured, failed
from tclint.verify.events import Break
from tclint.verify.oracles import CountingBackend, Trace, watch

QUOTED = re.compile(r": got (\w+\(.*)")
WHOLE_TRACE = "no tensor operation"
TORCH = tuple(
    f"{Path(str(torch.__file__)).parent.parent / name}{os.sep}"
    for name in ("torch", "torchgen", "functorch")
)


@dataclass(frozen=True, slots=True)
class Own:
    """The code that counts as the user's: what is installed beside the library, except torch.

    The innermost line of it is where a break is told, though it lie in a package below the model's.
    """

    root: Path

    def holds(self, file: str) -> bool:
        """Whether the file is one of those."""
        return file.startswith(f"{self.root}{os.sep}") and not file.startswith(TORCH)

    def relative(self, file: str) -> str:
        """The file as records name it."""
        return str(Path(file).relative_to(self.root))


def measure(model: Model, mode: str) -> Measured:
    """Compile and call the model once, then call it eagerly and note the lines."""
    start = time.perf_counter()
    module, arguments = build(model, mode)
    library = sys.modules[model.library]
    own = Own(Path(library.__path__[0]).parent)
    backend = CountingBackend()
    with watch() as trace:
        compiled = torch.compile(module, backend=backend, dynamic=False)
        _call(compiled, arguments, mode)
    torch._dynamo.reset()
    again, arguments = build(model, mode)
    ran = executed_lines(lambda: _call(again, arguments, mode), own.holds)
    return Measured(
        model=model.name,
        cls=model.cls,
        mode=mode,
        package=model.library,
        root=str(own.root),
        versions={
            "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            "torch": torch.__version__,
            model.library: _version(library),
        },
        seconds=round(time.perf_counter() - start, 1),
        graphs=len(backend.ops),
        breaks=tuple(_sites(trace.breaks, own)),
        dropped=tuple(_dropped(trace, own)),
        executed={own.relative(file): here.rows for file, here in ran.items()},
        unreached={own.relative(file): here.unreached for file, here in ran.items()},
    )


def _version(library: ModuleType) -> str:
    """What the library says of itself, or what was installed."""
    return getattr(library, "__version__", None) or version(library.__name__)


def _call(module: Any, arguments: dict[str, Any], mode: str) -> None:
    """Both calls draw the same numbers, so that they take the same branches."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    with torch.set_grad_enabled(mode == "train"):
        module(**arguments)


def _sites(breaks: Iterable[Break], own: Own) -> Iterator[BreakSite]:
    """Each break once: the frames around it meet it again, with more consequences or fewer."""
    seen = set()
    for one in breaks:
        inner = next((frame for frame in reversed(one.stack) if own.holds(frame.filename)), None)
        if inner and (key := (one.gb_id, inner.filename, inner.row)) not in seen:
            seen.add(key)
            yield BreakSite(own.relative(inner.filename), inner.row, one.gb_ids, one.reason)


def _dropped(trace: Trace, own: Own) -> Iterator[DroppedFrame]:
    for frame in trace.eager_frames:
        if frame.reason != WHOLE_TRACE and own.holds(frame.filename):
            yield DroppedFrame(own.relative(frame.filename), frame.row, frame.function)


def answer(model: Model, mode: str, record: Path, log: Path) -> None:
    """Measure and write the record to ``record``; what the model prints goes to ``log``."""
    with log.open("w") as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    try:
        measured = measure(model, mode)
    except Exception as error:  # noqa: BLE001 (a model that does not run is a result too)
        traceback.print_exc()
        measured = failed(model.name, model.cls, mode, _last_words(error))
    record.write_text(json.dumps(measured.to_json()))


def _last_words(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    # Dynamo quotes the model's own error between a long call and longer advice.
    quoted = QUOTED.search(str(error))
    lines = [quoted[1]] if quoted else str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:160]} ({Path(frame.filename).name}:{frame.lineno})"
