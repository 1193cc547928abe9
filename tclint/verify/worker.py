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
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tclint.verify import overlay
from tclint.verify.results import Failure
from tclint.verify.contract import TargetError
from tclint.verify.targets import Target, parse_target

if TYPE_CHECKING:
    from tclint.verify.timing import Timed

_OURS = str(Path(__file__).parent)

Request = dict[str, Any]
Answer = dict[str, Any]


def main() -> None:
    """Serve requests until standard input ends."""
    requests, answers = _private_streams()
    faulthandler.enable()
    # ``python -m`` put the folder that tclint was found in first; user code has its own tree.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    service = Service()
    for line in requests:
        answers.write(json.dumps(_answer(service, json.loads(line))) + "\n")
        answers.flush()


class Service:
    """The requests that a child understands, one method each."""

    def __init__(self) -> None:
        """Start with nothing loaded."""
        self._timed: Timed | None = None

    def probe(self, request: Request) -> Answer:
        """Count breaks and compare results."""
        target, root = self._set_up(request)
        from tclint.verify.probe import probe

        found = probe(
            target, root, request["device"], Path(request["desk"]), follow=request["follow"]
        )
        return dataclasses.asdict(found)

    def prepare(self, request: Request) -> Answer:
        """Compile for real and make the cold call."""
        target, root = self._set_up(request)
        from tclint.verify.timing import Timed

        desk = Path(request["desk"])
        timed = Timed(target, root, request["device"], desk, request["backend"], request["mode"])
        problem = timed.start(whole=request["whole"])
        self._timed = None if problem else timed
        like_eager = None if problem else dataclasses.asdict(timed.like_eager())
        return {"problem": problem, "cold_start": timed.cold_start, "like_eager": like_eager}

    def sample(self, request: Request) -> Answer:
        """Time one round."""
        eager, compiled = self._ready().sample(eager_first=request["eager_first"])
        return {"eager": eager, "compiled": compiled}

    def finish(self, request: Request) -> Answer:
        """Measure what is measured once."""
        del request
        memory, syncs, recompiles = self._ready().finish()
        return {
            "memory": dataclasses.asdict(memory),
            "syncs": None if syncs is None else [dataclasses.asdict(sync) for sync in syncs],
            "recompiles": [dataclasses.asdict(recompile) for recompile in recompiles],
        }

    def _ready(self) -> Timed:
        if self._timed is None:
            raise TargetError("nothing was prepared")
        return self._timed

    def _set_up(self, request: Request) -> tuple[Target, Path]:
        if request["memory_limit"]:
            _limit_memory(request["memory_limit"])
        overlay.install(request["overlay"])
        return parse_target(request["target"]), Path(request["root"])


def _answer(service: Service, request: Request) -> Answer:
    operation = getattr(service, request["op"])
    try:
        return {"ok": operation(request)}
    except TargetError as error:
        return _failed("target", str(error))
    except SystemExit as error:
        return _failed("exit", f"the target called sys.exit({error.code!r})")
    except BaseException as error:  # noqa: BLE001 - whatever user code raises ends here
        kind = "out-of-memory" if _out_of_memory(error) else "exception"
        return _failed(kind, _describe(error))


def _failed(kind: str, message: str) -> Answer:
    return {"failure": dataclasses.asdict(Failure(kind, message))}


def _describe(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        ours = frame.filename.startswith(_OURS)
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
