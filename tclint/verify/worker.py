"""The child process: reads requests as JSON lines, runs user code, answers with JSON lines.

Answers leave through a private copy of standard output; the real one is closed to user code,
which prints what it likes. Everything that can go wrong with user code becomes a Failure here,
or is seen from outside by the parent.
"""

from __future__ import annotations

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
from tclint.verify.answers import (
    Captured,
    Covered,
    Done,
    Drawn,
    EagerSample,
    Exported,
    Factories,
    Finished,
    Prepared,
    Recompiled,
    Sample,
)
from tclint.verify.errors import TargetError
from tclint.verify.keeper import keep
from tclint.verify.results import Failure
from tclint.verify.targets import parse_target
from tclint.verify.wire import CLOSED, plain, shortened

if TYPE_CHECKING:
    from tclint.verify.events import Recompile
    from tclint.verify.results import Probe, Rank, Rung
    from tclint.verify.subject import Making
    from tclint.verify.timing import EagerTimed, Timed

_OURS = str(Path(__file__).parent)
_STANDARD = sysconfig.get_paths()["stdlib"]
_GLANCE_SECONDS = 1.0
_LONGEST_WORDS = 4000
_LATE = "the GPU was lost at this line or before it: CUDA_LAUNCH_BLOCKING=1 shows where"

Request = dict[str, Any]
Answer = dict[str, Any]


def main() -> None:
    """Be a worker."""
    serve(Service)


def serve(service_of: Callable[[Callable[[Answer], None]], object]) -> None:
    """Answer requests until standard input ends, with the methods of a service.

    ``service_of`` makes it of a way to tell what is known before the answer is.
    """
    if len(sys.argv) > 1:
        keep(int(sys.argv.pop()))
    # ``python -m`` put the folder that tclint was found in first; user code has its own tree.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    channel = _Channel()
    faulthandler.enable()
    threading.Thread(target=_outlive_nobody, args=(os.getppid(),), daemon=True).start()
    service = service_of(lambda so_far: channel.write({"so_far": so_far}))
    for request in channel.requests():
        channel.write(_answer(service, request))


class _Channel:
    """Requests and answers, on private copies of the standard streams.

    User code can still find these, close them, put its own files in their place, or fork: then
    nothing is written, and the process ends.
    """

    def __init__(self) -> None:
        self._requests, self._answers = _private_streams()
        self._dumps, self._loads, self._own = json.dumps, json.loads, os.getpid()
        self._is_ours, self._word = _identity(self._answers.fileno()), ""

    def requests(self) -> Iterator[Request]:
        """The requests, one after the other."""
        for line in self._requests:
            request: Request = self._loads(line)
            self._word = request["word"]
            yield request

    def write(self, answer: Answer) -> None:
        """Send something in answer to the last request."""
        if os.getpid() != self._own:
            # A copy that user code forked: the other one answers.
            os._exit(0)
        text = self._dumps({"to": self._word, **answer}) + "\n"
        try:
            if _identity(self._answers.fileno()) != self._is_ours:
                raise OSError
            self._answers.write(text)
            self._answers.flush()
        except OSError:
            os.write(2, CLOSED.encode() + b"\n")
            os._exit(1)


def _identity(file: int) -> tuple[int, int]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino


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

    def probe(self, request: Request) -> Probe:
        """Count breaks and compare results."""
        making = self._set_up(request)
        from tclint.verify.probe import probe

        def say(known: Probe) -> None:
            self._say(plain(known))

        return probe(making, Path(request["desk"]), follow=request["follow"], say=say)

    def list_factories(self, request: Request) -> Factories:
        """Tell the names in a mapping of factories."""
        making = self._set_up(request)
        from tclint.verify.targets import factory_names

        return Factories(factory_names(making.target, making.root))

    def export(self, request: Request) -> Exported:
        """Try to export the target."""
        making = self._set_up(request)
        from tclint.verify.exporting import export_problem

        return Exported(export_problem(making))

    def cover(self, request: Request) -> Covered:
        """Tell which lines the target executes."""
        making = self._set_up(request)
        from tclint.verify.coverage import executed_rows

        return Covered({name: tuple(rows) for name, rows in executed_rows(making).items()})

    def prepare(self, request: Request) -> Prepared:
        """Compile for real, make the cold call and compare what came out with eager code."""
        making = self._set_up(request)
        from tclint.verify.timing import Timed

        desk, how = Path(request["desk"]), (request["backend"], request["mode"])
        timed = Timed(making, desk, *how, whole=request["whole"])
        problem = timed.start()
        self._timed = None if problem else timed
        like_eager = None if problem else timed.like_eager()
        return Prepared(problem, timed.cold_start, like_eager, timed.draws)

    def compare_drawn(self, request: Request) -> Drawn:
        """Compare with random numbers drawn as eager code does; nothing compiled is left."""
        del request
        return Drawn(self._ready().like_drawn())

    def warm_up(self, request: Request) -> Done:
        """Call until calls stop compiling; tell what has been compiled again."""
        del request

        def say(recompiles: tuple[Recompile, ...]) -> None:
            self._say(plain(Recompiled(recompiles)))

        self._ready().warm_up(say)
        return Done()

    def prepare_eager(self, request: Request) -> Done:
        """Make the target without compiling it, and find out how many calls make a sample."""
        making = self._set_up(request)
        from tclint.verify.timing import EagerTimed

        self._eager = EagerTimed(making, Path(request["desk"]))
        return Done()

    def sample_eager(self, request: Request) -> EagerSample:
        """Time one round of eager calls."""
        del request
        if self._eager is None:
            raise TargetError("nothing was prepared")
        return EagerSample(self._eager.sample())

    def sample(self, request: Request) -> Sample:
        """Time one round."""
        return Sample(*self._ready().sample(eager_first=request["eager_first"]))

    def finish(self, request: Request) -> Finished:
        """Measure what is measured once."""
        del request
        return self._ready().finish()

    def climb(self, request: Request) -> Rung:
        """Try one rung of the ablation ladder."""
        making = self._set_up(request)
        from tclint.verify.ladder import climb

        return climb(making, Path(request["desk"]), request["backend"], whole=request["whole"])

    def capture(self, request: Request) -> Captured:
        """Write each graph as a script that needs nothing of the target."""
        making = self._set_up(request)
        from tclint.verify.capture import capture

        desk, folder = Path(request["desk"]), Path(request["folder"])
        return Captured(tuple(capture(making, desk, request["backend"], folder)))

    def join_group(self, request: Request) -> Rank:
        """Be one rank of a distributed run."""
        making = self._set_up(request)
        from tclint.verify.rank import run_rank

        return run_rank(making, request)

    def _ready(self) -> Timed:
        if self._timed is None:
            raise TargetError("nothing was prepared")
        return self._timed

    def _set_up(self, request: Request) -> Making:
        if request["memory_limit"]:
            _limit_memory(request["memory_limit"])
        overlay.install(request["overlay"])
        from tclint.verify.subject import Making, turn_on

        turn_on(request["settings"])
        return Making(
            target=parse_target(request["target"]),
            root=Path(request["root"]),
            device=request["device"],
            phase=request["phase"],
            inputs=tuple(request["inputs"]),
            vary=tuple(request["vary"]),
        )


def _answer(service: object, request: Request) -> Answer:
    operation = getattr(service, request["op"])
    try:
        return {"ok": plain(operation(request))}
    except TargetError as error:
        return _failed("target", _text(error))
    except SystemExit as error:
        return _failed("exit", f"the target called sys.exit({_shown(error.code)})")
    except BaseException as error:  # noqa: BLE001 - whatever user code raises ends here
        if _device_lost(error):
            return _failed("device", f"{_describe(error)}; {_LATE}")
        kind = "out-of-memory" if _out_of_memory(error) else "exception"
        return _failed(kind, _describe(error))


def _failed(kind: str, message: str) -> Answer:
    return {"failure": plain(Failure(kind, message))}


def _describe(error: BaseException) -> str:
    said = _text(error)
    # What follows the first line is torch's advice, which belongs to a terminal of its own.
    told = said.splitlines()[0] if "CUDA error" in said else said
    text = f"{type(error).__name__}: {told}" if told else type(error).__name__
    for frame, row in reversed(list(traceback.walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        ours = file.startswith((_OURS, _STANDARD, "<"))
        if file and not ours and "site-packages" not in file:
            return f"{text} ({file}:{row})"
    return text


def _text(error: BaseException) -> str:
    return _said(lambda: str(error), error)


def _shown(value: object) -> str:
    return _said(lambda: repr(value), value)


def _said(say: Callable[[], str], what: object) -> str:
    try:
        return shortened(say(), _LONGEST_WORDS)
    except BaseException as broken:  # noqa: BLE001 - user code says what its objects are
        return f"<a {type(what).__name__} that raises {type(broken).__name__} when shown>"


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
