"""Malicious programs, given to ``tclint verify``: it runs them, and must survive.

Each act (a daemon, an exit, a flood, a lie, a hang, a signal) happens when the program is imported,
when its target is made, or when the compiled model is called. Promised: verify ends in time with a
verdict or one clear failure, never with a traceback of its own; a program that does not run is
never called fine; what is printed is bounded and holds nothing that a terminal obeys; no process
of the program is left, and no temporary file. (A program runs with the rights of who calls verify:
it may write and delete files, and say wrong things of itself.) Failures are the opposite.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attack.command import complaints, ran
from benchmarks.attack.kind import Kind, Slice, Tried

MOMENTS = ("import", "factory", "call")
PROGRAM = """\
import ctypes, os, signal, subprocess, sys, tempfile, threading, time
import torch


def act():
{act}

{at_import}

class Net(torch.nn.Module):
    def forward(self, x):
        {at_call}
        return x * 2


def make():
    {at_factory}
    return Net(), (torch.ones(3),), {{}}
"""
MARK = "ATTACK_MARK"
LIMIT = 40
SHORT = 12
PATIENCE = 6
"""Seconds that the last of a program's processes may take to be gone after verify."""
PRINTED = 100_000


@dataclass(frozen=True, slots=True)
class Act:
    """What a program does; one that is ``doomed`` cannot be measured, and verify must say so."""

    name: str
    body: str
    doomed: bool = False
    limit: int = LIMIT
    arguments: tuple[str, ...] = ()


SLEEP = "[sys.executable, '-c', 'import time; time.sleep(900)']"
ACTS = (
    Act("leaves", "os._exit(7)", doomed=True),
    Act("leaves as if all were well", "os._exit(0)", doomed=True),
    Act("asks to leave", "sys.exit(3)", doomed=True),
    Act("kills itself", "os.kill(os.getpid(), signal.SIGKILL)", doomed=True),
    Act("crashes", "ctypes.string_at(0)", doomed=True),
    Act("aborts", "os.abort()", doomed=True),
    Act("stops itself", "os.kill(os.getpid(), signal.SIGSTOP)", doomed=True, limit=SHORT),
    Act("interrupts its group", "os.killpg(0, signal.SIGINT)"),
    Act("raises what nobody catches", "raise GeneratorExit('x')", doomed=True),
    Act("raises an essay", "raise ValueError('\\x1b[2J' + 'x' * 6_000_000)", doomed=True),
    Act(
        "raises what cannot be shown",
        "class E(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise E",
        doomed=True,
    ),
    Act(
        "hangs, deaf to signals",
        "for n in range(1, 32):\n"
        "    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\n"
        "while True: pass",
        doomed=True,
        limit=SHORT,
    ),
    Act("leaves a child", f"subprocess.Popen({SLEEP})"),
    Act("leaves a child in a session", f"subprocess.Popen({SLEEP}, start_new_session=True)"),
    Act(
        "leaves a daemon",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        for n in range(64):\n"
        "            try: os.close(n)\n            except OSError: pass\n"
        "        time.sleep(900)\n    os._exit(0)",
    ),
    Act(
        "leaves a daemon without environment",
        "mark = os.environ['ATTACK_MARK']\n"
        "code = 'import os, time\\nif os.fork(): os._exit(0)\\nos.setsid()\\ntime.sleep(900)#'\n"
        "subprocess.Popen([sys.executable, '-c', code + mark], env={}).wait()",
    ),
    Act(
        "forks and forks",
        "for _ in range(100):\n    if os.fork() == 0: time.sleep(900), os._exit(0)",
    ),
    Act("leaves a thread", "threading.Thread(target=time.sleep, args=(900,)).start()"),
    Act(
        "floods",
        "for fd in (1, 2):\n    for _ in range(300): os.write(fd, b'\\x1b[2Jx' * 20_000)",
    ),
    Act(
        "writes lies to every open file",
        "for fd in range(64):\n"
        "    for lie in (b'{\"ok\": {}}\\n', b'[' * 9000, b'\\xff\\n', b'{\"ok\": 1}\\n'):\n"
        "        try: os.set_blocking(fd, False), os.write(fd, lie)\n"
        "        except OSError: pass",
    ),
    Act("closes every file", "os.closerange(0, 64)"),
    Act(
        "spoils what verify is made of",
        "import builtins, json, pickle, time as t\n"
        "json.dumps = json.loads = pickle.dumps = builtins.repr = None\n"
        "t.perf_counter = t.monotonic = lambda: 0.0\n"
        "torch.equal = torch.allclose = lambda *a, **k: True\n"
        "sys.stdout = sys.stderr = None",
    ),
    Act(
        "removes where it works",
        # By its whole name: a folder for temporary files that is gone is another one to Python.
        "import shutil\nshutil.rmtree(os.environ['ATTACK_FOLDER'], ignore_errors=True)",
    ),
    Act(
        "takes all memory",
        "kept = []\nwhile True: kept.append(bytearray(1 << 26))",
        doomed=True,
        arguments=("--memory-limit", "3"),
    ),
    Act(
        "hangs on the way out",
        "import atexit\natexit.register(time.sleep, 900)",
    ),
)  # fmt: skip


def tried(part: Slice) -> Iterator[Tried]:
    """Verify hostile programs; the seed plays no part."""
    for number in part.numbers:
        act = ACTS[number // len(MOMENTS) % len(ACTS)]
        moment = MOMENTS[number % len(MOMENTS)]
        folder = part.folder / str(number)
        bad = [*endured(act, moment, folder)]
        yield Tried(number, f"{act.name}, at the {moment}", "\n".join(bad) or None)
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)


def endured(act: Act, moment: str, folder: Path) -> Iterator[str]:
    """Verify one program, and say what went wrong."""
    project, scratch = folder / "project", folder / "scratch"
    project.mkdir(parents=True)
    scratch.mkdir()
    body = "".join(f"    {line}\n" for line in act.body.splitlines())
    calls = {f"at_{one}": "act()" if one == moment else "pass" for one in MOMENTS}
    (project / "drill.py").write_text(PROGRAM.format(act=body, **calls))
    mark = f"mark-{os.getpid()}-{time.time_ns()}"
    done = ran(
        "verify", "drill.py:make", "--backend", "eager", "--no-speed",
        "--time-limit", str(act.limit), *act.arguments,
        folder=project,
        environment={
            "TMPDIR": str(scratch), "ATTACK_FOLDER": str(folder), MARK: mark,
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        memory=0,  # the limit is verify's to set
        seconds=4 * act.limit + 60,
    )  # fmt: skip
    yield from complaints_about_verify(act, done.printed, [*complaints(done)])
    if act.doomed and (done.code == 0 or (done.code == 1 and b"  fails: " not in done.printed)):
        yield f"it was called fine: {done.printed[-500:]!r}"
    left = survivors(mark)
    if left:
        yield f"{len(left)} processes are left: {sorted(left.values())[0]!r}"
        for process in left:
            os.kill(process, signal.SIGKILL)
    kept = [path.name for path in scratch.iterdir()] if scratch.exists() else []
    if kept:
        yield f"temporary files are left: {kept}"


def complaints_about_verify(act: Act, printed: bytes, said: list[str]) -> Iterator[str]:
    """The complaints that count: the traceback of a program is none of verify's."""
    if b"Traceback" in printed and b"tclint" not in printed[printed.index(b"Traceback") :]:
        said = [one for one in said if "traceback" not in one]
    yield from said
    if len(printed) > PRINTED:
        yield f"it printed {len(printed):,} bytes"


def survivors(mark: str) -> dict[int, str]:
    """The processes that bear a mark, once they have had time to end, and their commands."""
    end = time.monotonic() + PATIENCE
    while (found := marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def marked(mark: str) -> dict[int, str]:
    """The processes that have a mark in their environment or command, but the dead ones."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            known = mark.encode() in command + (folder / "environ").read_bytes()
            if known and (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found[int(folder.name)] = command.replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # gone in the meantime
    return found


KIND = Kind("targets", len(MOMENTS) * len(ACTS), 3, tried)
