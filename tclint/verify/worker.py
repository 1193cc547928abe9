"""The child process: reads requests as JSON lines, runs user code, answers with JSON lines.

Answers leave through a private copy of standard output; the real one is closed to user code,
which prints what it likes. Everything that can go wrong with user code becomes a Failure here,
or is seen from outside by the parent.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
import signal
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tclint.verify import overlay
from tclint.verify.contract import TargetError
from tclint.verify.results import Failure
from tclint.verify.targets import parse_target

if TYPE_CHECKING:
    from tclint.verify.events import Recompile
    from tclint.verify.results import Probe
    from tclint.verify.subject import Making
    from tclint.verify.timing import EagerTimed, Timed

_OURS = str(Path(__file__).parent)
_STANDARD = sysconfig.get_paths()["stdlib"]
_GLANCE_SECONDS = 1.0
_LATE = "the GPU was lost at this line or before it: CUDA_LAUNCH_BLOCKING=1 tells"

Request = dict[str, Any]
Answer = dict[str, Any]


def main() -> None:
    """Serve requests until standard input ends."""
    requests, answers = _private_streams()
    faulthandler.enable()
    threading.Thread(target=_outlive_nobody, args=(os.getppid(),), daemon=True).start()
    # ``python -m`` put the folder that tclint was found in first; user code has its own tree.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]

    def write(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    service = Service(lambda so_far: write({"so_far": so_far}))
    for line in requests:
        write(_answer(service, json.loads(line)))


def _outlive_nobody(parent: int) -> None:
    """End with all that this process started once the parent has gone without a word."""
    while os.getppid() == parent:
        time.sleep(_GLANCE_SECONDS)
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


class Service:
    """The requests that a child understands, one method each."""

    def __init__(self, say: Callable[[Answer], None]) -> None:
        """Start with nothing loaded; ``say`` sends what is known before the answer is."""
        self._say = say
        self._timed: Timed | None = None
        self._eager: EagerTimed | None = None

    def probe(self, request: Request) -> Answer:
        """Count breaks and compare results."""
        making = self._set_up(request)
        from tclint.verify.probe import probe

        def say(known: Probe) -> None:
            self._say(dataclasses.asdict(known))

        desk = Path(request["desk"])
        return dataclasses.asdict(probe(making, desk, follow=request["follow"], say=say))

    def cover(self, request: Request) -> Answer:
        """Tell which lines the target executes."""
        making = self._set_up(request)
        from tclint.verify.coverage import executed_rows

        return {"rows": executed_rows(making)}

    def prepare(self, request: Request) -> Answer:
        """Compile for real, make the cold call and compare what came out with eager code."""
        making = self._set_up(request)
        from tclint.verify.timing import Timed

        desk, how = Path(request["desk"]), (request["backend"], request["mode"])
        timed = Timed(making, desk, *how, whole=request["whole"])
        problem = timed.start()
        self._timed = None if problem else timed
        like_eager = None if problem else dataclasses.asdict(timed.like_eager())
        return {"problem": problem, "cold_start": timed.cold_start, "like_eager": like_eager}

    def warm_up(self, request: Request) -> Answer:
        """Call until calls stop compiling; tell what has been compiled again."""
        del request

        def say(recompiles: tuple[Recompile, ...]) -> None:
            self._say({"recompiles": _plain(recompiles)})

        self._ready().warm_up(say)
        return {}

    def prepare_eager(self, request: Request) -> Answer:
        """Make the target without compiling it, and find out how many calls make a sample."""
        making = self._set_up(request)
        from tclint.verify.timing import EagerTimed

        self._eager = EagerTimed(making, Path(request["desk"]))
        return {}

    def sample_eager(self, request: Request) -> Answer:
        """Time one round of eager calls."""
        del request
        if self._eager is None:
            raise TargetError("nothing was prepared")
        return {"eager": self._eager.sample()}

    def sample(self, request: Request) -> Answer:
        """Time one round."""
        eager, compiled = self._ready().sample(eager_first=request["eager_first"])
        return {"eager": eager, "compiled": compiled}

    def finish(self, request: Request) -> Answer:
        """Measure what is measured once."""
        return {
            name: _plain(value) for name, value in self._ready().finish(request["trace"]).items()
        }

    def climb(self, request: Request) -> Answer:
        """Try one rung of the ablation ladder."""
        making = self._set_up(request)
        from tclint.verify.ladder import climb

        found = climb(making, Path(request["desk"]), request["backend"], whole=request["whole"])
        return dataclasses.asdict(found)

    def capture(self, request: Request) -> Answer:
        """Write each graph as a script that needs nothing of the target."""
        making = self._set_up(request)
        from tclint.verify.capture import capture

        desk, folder = Path(request["desk"]), Path(request["folder"])
        return {"scripts": capture(making, desk, request["backend"], folder)}

    def join_group(self, request: Request) -> Answer:
        """Be one rank of a distributed run."""
        making = self._set_up(request)
        from tclint.verify.rank import run_rank

        return dataclasses.asdict(run_rank(making, request))

    def _ready(self) -> Timed:
        if self._timed is None:
            raise TargetError("nothing was prepared")
        return self._timed

    def _set_up(self, request: Request) -> Making:
        if request["memory_limit"]:
            _limit_memory(request["memory_limit"])
        overlay.install(request["overlay"])
        from tclint.verify.subject import Making

        return Making(
            target=parse_target(request["target"]),
            root=Path(request["root"]),
            device=request["device"],
            phase=request["phase"],
            inputs=tuple(request["inputs"]),
        )


def _plain(value: Any) -> Any:
    """A measured value as JSON can hold it."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def _answer(service: Service, request: Request) -> Answer:
    operation = getattr(service, request["op"])
    try:
        return {"ok": operation(request)}
    except TargetError as error:
        return _failed("target", str(error))
    except SystemExit as error:
        return _failed("exit", f"the target called sys.exit({error.code!r})")
    except BaseException as error:  # noqa: BLE001 - whatever user code raises ends here
        if _device_lost(error):
            return _failed("device", f"{_describe(error)}; {_LATE}")
        kind = "out-of-memory" if _out_of_memory(error) else "exception"
        return _failed(kind, _describe(error))


def _failed(kind: str, message: str) -> Answer:
    return {"failure": dataclasses.asdict(Failure(kind, message))}


def _describe(error: BaseException) -> str:
    said = str(error)
    # What follows the first line is torch's advice, which belongs to a terminal of its own.
    text = f"{type(error).__name__}: {said.splitlines()[0] if 'CUDA error' in said else said}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        ours = frame.filename.startswith((_OURS, _STANDARD))
        if not ours and "site-packages" not in frame.filename and frame.filename[0] != "<":
            return f"{text} ({frame.filename}:{frame.lineno})"
    return text


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    if "torch" not in sys.modules:
        return False
    from tclint.verify.snapshot import out_of_memory

    return out_of_memory(error)


def _device_lost(error: BaseException) -> bool:
    if "torch" not in sys.modules:
        return False
    from tclint.verify.snapshot import device_lost

    return device_lost(error)


def _limit_memory(size: int) -> None:
    import resource

    # The address space would count what CUDA and shared libraries merely reserve.
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def _private_streams() -> tuple[Iterator[str], IO[str]]:
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return requests, answers


if __name__ == "__main__":
    main()
