"""Malicious commands, given to `tclint run`: it runs them, and must survive what they record.

Promised: the command ends as it would alone, with its own status and all that it prints; whatever
it does to the recording, the report is one or says why there is none; nothing is read through what
is no regular file, nothing outside changes, and nothing is left behind. Failures are another
status, what no run may show, other contents outside, and folders that are left.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attack.command import ESCAPES, Done, ran, words
from benchmarks.attack.kind import Kind, Slice, Tried
from benchmarks.attack.recordings import RAW, SCRIPT, SECRET, forged, recorded

HEAD = "import os, sys, signal, json, time\nfolder = os.environ['TCLINT_RECORD']\n"


@dataclass(frozen=True, slots=True)
class Act:
    """What a command does: Python, and the status that it ends with."""

    name: str
    code: str
    status: int = 0


ACTS: Sequence[Act] = (
    Act("leaves at once", "os._exit(9)", 9),
    Act("raises", "raise ValueError('x')", 1),
    Act("exits with a text", "sys.exit('x' * 9000)", 1),
    Act("kills itself", "os.kill(os.getpid(), 9)", 137),
    Act("ends itself", "os.kill(os.getpid(), 15)", 143),
    Act("aborts", "os.abort()", 134),
    Act("removes the recording", "import shutil; shutil.rmtree(folder)"),
    Act("puts a file there", "import shutil; shutil.rmtree(folder); open(folder, 'w').close()"),
    Act("puts a link there", "import shutil; shutil.rmtree(folder); os.symlink('/', folder)"),
    Act("leaves a pipe", "os.mkfifo(folder + '/process-99-0.jsonl')"),
    Act("leaves a device", "os.symlink('/dev/zero', folder + '/process-99-0.jsonl')"),
    Act("leaves a loop", "os.symlink('process-99-0.jsonl', folder + '/process-99-0.jsonl')"),
    Act("leaves a folder", "os.mkdir(folder + '/process-99-0.jsonl')"),
    Act(
        "leaves 256 GiB",
        "file = folder + '/process-99-0.jsonl'; open(file, 'w').close(); os.truncate(file, 2**38)",
    ),
    Act(
        "leaves many",
        "for n in range(3000): open(f'{folder}/process-{n}-1.jsonl', 'w').write('{' * n)",
    ),
    Act("loses what nobody lost", "open(folder + '/lost-' + '9' * 90 + '-' + '9' * 90, 'w')"),
    Act("loses for an odd reason", "open(folder + '/lost-1-999999999', 'w')"),
    Act("turns the recorder off", "del sys.modules['tclint_recorder'], os.environ['PYTHONPATH']"),
    Act("closes all streams", "os.closerange(0, 99)"),
    Act("forks and goes", "os.fork() or time.sleep(2); os._exit(0)"),
    Act("forks often", "for _ in range(30):\n    os.fork() or os._exit(0)"),
    Act("prints for a terminal", "print('\\x1b]0;owned\\x07')"),
    Act("has odd arguments", "os.execv(sys.executable, [sys.executable, '-c', '', '\\x1b[2J'])"),
    *[Act("forges a recording", "FORGED")] * 12,
    *[Act("leaves garbage", "GARBAGE")] * 4,
)  # fmt: skip


def tried(part: Slice) -> Iterator[Tried]:
    """Run commands; the dice make what they forge."""
    for number in part.numbers:
        act = ACTS[number % len(ACTS)]
        folder = part.folder / str(number)
        bad = [*endured(act, folder, part.chance(number))]
        yield Tried(number, act.name, "\n".join(bad) or None)
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)


def endured(act: Act, folder: Path, chance: random.Random) -> Iterator[str]:
    """Run a command, and say what went wrong."""
    project, outside, scratch = (folder / name for name in ("project", "outside", "scratch"))
    for path in (project, outside, scratch):
        path.mkdir(parents=True)
    (outside / "secret.json").write_text(json.dumps({"traceEvents": [{"name": SECRET}]}))
    (project / "train.py").write_text(SCRIPT)
    (project / "act.py").write_text(HEAD + _code(act, project, chance) + "\n")
    output = ("--output-file", "report.json", "--output-format", "json")
    for more in ((), output, ("--keep", "kept")):
        done = ran(
            "run", *more, "--", "python3", "act.py", folder=project,
            environment={"TMPDIR": str(scratch)},
        )  # fmt: skip
        told = " ".join(("run", *more))
        yield from (f"{told}: {one}" for one in wrong(act, done))
        if left := [path.name for path in scratch.iterdir()]:
            yield f"{told}: it left {left}"
            return
    if [path.name for path in outside.iterdir()] != ["secret.json"]:
        yield "it changed what lies outside"


def _code(act: Act, project: Path, chance: random.Random) -> str:
    if act.code == "GARBAGE":
        (project / "raw").write_bytes(chance.choice(RAW))
    elif act.code == "FORGED":
        lines = [json.dumps(row) for row in recorded(str(project / "train.py"))]
        lines = [forged(line, chance) if chance.random() < 0.2 else line for line in lines]
        text = "\n".join(lines)
        if chance.random() < 0.5:
            text = text.replace("profile.json", "../../outside/secret.json")
        (project / "raw").write_bytes(text.encode("utf-8", "surrogatepass"))
    else:
        return act.code
    return "open(folder + '/process-1-9.jsonl', 'wb').write(open('raw', 'rb').read())"


def wrong(act: Act, done: Done) -> Iterator[str]:
    """What a run shows that it may not."""
    if done.code is None:
        yield "it did not end"
    elif done.code != act.status:
        yield f"it ended with {done.code}, not {act.status}: {words(done.err)}"
    if b"this is an error in tclint" in done.printed:
        yield f"it met what nobody expected: {words(done.err)}"
    if SECRET.encode() in done.printed:
        yield "it showed what lies outside"
    if "terminal" not in act.name and (escape := ESCAPES.search(done.printed)):
        yield f"it printed what a terminal obeys: {done.printed[escape.start() - 60 :][:99]!r}"


KIND = Kind("runs", 2 * len(ACTS), 8, tried)
