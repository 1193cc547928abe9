"""Read what torch wrote about its compiling: a ``TORCH_TRACE`` folder, a file of ``TORCH_LOGS``.

Both may come from another machine. There are no steps and no prices in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.run.read import LARGEST, Reading, Source
from tclint.run.recorded import BreakText, Compiled, CudagraphSkip, Process, Recorded

_HEAD = re.compile(
    r"^[VDIWEC]\d{4} (?:\d\d:\d\d:\d\d\.\d+) (?P<pid>\d{1,9}) (?P<source>\S+?):\d+\] (?P<rest>.*)$"
)
_RANK = re.compile(r"^\[rank(?P<rank>\d{1,9})\]:\s?")
_LOGGED = re.compile(r"^(?:\[(?P<id>\d+/\d+)(?:_\d+)?\] )?\[__(?P<artifact>\w+)\] ?(?P<text>.*)$")
_RECOMPILED = re.compile(r"Recompiling function (\S+) in (.+):(\d{1,9})$")
_FAILED_GUARD = re.compile(r"^\s*- (\d+/\d+: .*)$")
# Up to the next quote: to the end of the line from each of many beginnings would take for ever.
_LIBRARIES = re.compile(r'File "([^"\n]*?(?:site|dist)-packages)[/\\]')
_BREAK = "dynamo_graph_break_reason"
_LOGS = "*dedicated_log_torch_trace*.log"
_OPENINGS = ("Graph break", "Recompiling function")


@record(frozen=True)
class _Entry:
    """One entry of a structured log: what it says of itself, and its text."""

    pid: int
    rank: int | None
    data: Mapping[str, Any]
    text: str


@record()
class _Logged:
    """One entry of a plain log, line by line."""

    pid: int
    rank: int | None
    compile_id: str
    artifact: str
    text: list[str] = field(default_factory=list)


def read_torch(path: Path) -> Reading:
    """The processes that a folder of structured logs, or a file of logs, tells of.

    Raises:
        OSError: it cannot be read.
        ValueError: neither kind of log is there.
    """
    files = sorted(path.rglob(_LOGS)) if path.is_dir() else [path]
    found = [one for number, file in enumerate(files) for one in _read_file(file, number)]
    if not found:
        raise ValueError(
            "neither a structured log of torch (TORCH_TRACE) nor a log of its graph breaks"
        )
    return Reading(tuple(found), source=Source.LOGS)


def _read_file(file: Path, number: int) -> Iterator[Recorded]:
    text = read_text(file, LARGEST, "replace")
    libraries = tuple(dict.fromkeys(_LIBRARIES.findall(text)))
    entries = [*_entries(text.split("\n"))]
    if entries:
        yield _structured(file, number, entries, libraries)
    else:
        yield from _plain(file, number, text.split("\n"), libraries)


def _structured(
    file: Path, number: int, entries: list[_Entry], libraries: tuple[str, ...]
) -> Recorded:
    first = entries[0]
    rank = next((one.rank for one in entries if one.rank is not None), None)
    breaks: list[BreakText] = []
    compiled: list[Compiled] = []
    skips: list[CudagraphSkip] = []
    for one in entries:
        artifact = one.data.get("artifact")
        name = artifact.get("name") if isinstance(artifact, dict) else None
        metrics = one.data.get("compilation_metrics")
        if name == _BREAK:
            breaks.append(BreakText(0, _compile_id(one.data), one.text))
        elif name == "cudagraph_skip_reason":
            skips.append(CudagraphSkip(0, one.text.strip()))
        elif isinstance(metrics, dict):
            compiled.append(compiled_from(metrics))
    process = _process(first.pid, number, rank, libraries)
    return Recorded(file, process, tuple(breaks), tuple(compiled), tuple(skips))


def compiled_from(metrics: Mapping[str, Any]) -> Compiled:
    """One compilation, from torch's own record of it."""

    def seconds(key: str) -> float:
        value = metrics.get(key)
        return float(value) if isinstance(value, int | float) else 0.0

    def text(key: str) -> str:
        value = metrics.get(key)
        return value if isinstance(value, str) else ""

    def number(key: str) -> int:
        value = metrics.get(key)
        return value if isinstance(value, int) else 0

    return Compiled(
        at=int(seconds("start_time") * 1e9),
        compile_id=text("compile_id") or "?",
        function=text("co_name") or "?",
        filename=text("co_filename") or "?",
        row=number("co_firstlineno"),
        seconds=seconds("entire_frame_compile_time_s") or seconds("duration_us") / 1e6,
        backward=metrics.get("is_forward") is False,
        dynamo_seconds=seconds("dynamo_cumulative_compile_time_us") / 1e6,
        aot_seconds=seconds("aot_autograd_cumulative_compile_time_us") / 1e6,
        inductor_seconds=seconds("inductor_cumulative_compile_time_us") / 1e6,
        code_seconds=seconds("inductor_code_gen_cumulative_compile_time_us") / 1e6,
        graph_ops=number("graph_op_count"),
        guards=number("guard_count"),
        recompile_reason=text("recompile_reason"),
        fail_type=text("fail_type"),
        fail_reason=text("fail_reason"),
    )


def _process(pid: int, number: int, rank: int | None, libraries: tuple[str, ...]) -> Process:
    return Process(
        pid=pid,
        parent=0,
        started=number,
        arguments=(),
        folder="",
        executable="",
        python="",
        libraries=libraries,
        torch="?",
        rank=rank,
    )


def _compile_id(data: Mapping[str, Any]) -> str:
    return f"{data.get('frame_id', '?')}/{data.get('frame_compile_id', '?')}"


def _entries(lines: Iterable[str]) -> Iterator[_Entry]:
    """The entries of a structured log: a line with JSON, and below it its text behind tabs."""
    head: tuple[int, int | None, Mapping[str, Any]] | None = None
    text: list[str] = []
    for line in lines:
        if line.startswith("\t"):
            text.append(line[1:])
            continue
        if head is not None:
            yield _Entry(*head, "\n".join(text))
        head, text = _head(line), []
    if head is not None:
        yield _Entry(*head, "\n".join(text))


def _head(line: str) -> tuple[int, int | None, Mapping[str, Any]] | None:
    found = _HEAD.match(line)
    if found is None or not found["rest"].startswith("{"):
        return None
    try:
        data = parse_json(found["rest"])
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    rank = data.get("rank")
    return int(found["pid"]), rank if isinstance(rank, int) else None, data


def _plain(
    file: Path, number: int, lines: Iterable[str], libraries: tuple[str, ...]
) -> Iterator[Recorded]:
    """A file of ``TORCH_LOGS=graph_breaks,recompiles``: what stands between other output."""
    entries = _logged(lines)
    for pid, rank in dict.fromkeys((one.pid, one.rank) for one in entries):
        mine = [one for one in entries if (one.pid, one.rank) == (pid, rank)]
        process = _process(pid, number, rank, libraries)
        yield Recorded(file, process, tuple(_breaks(mine)), tuple(_recompiles(mine)))


def _logged(lines: Iterable[str]) -> list[_Logged]:
    """The entries of a plain log; those of several processes may stand between each other."""
    found: list[_Logged] = []
    last: dict[tuple[int, int | None, str, str], _Logged] = {}
    for line in lines:
        ranked = _RANK.match(line)
        rank = int(ranked["rank"]) if ranked else None
        head = _HEAD.match(line[ranked.end() :] if ranked else line)
        logged = _LOGGED.match(head["rest"]) if head else None
        if head is None or logged is None:
            continue
        key = int(head["pid"]), rank, logged["id"] or "?", logged["artifact"]
        if key not in last or logged["text"].startswith(_OPENINGS):
            last[key] = _Logged(*key)
            found.append(last[key])
        last[key].text.append(logged["text"])
    return found


def _breaks(entries: Iterable[_Logged]) -> Iterator[BreakText]:
    for one in entries:
        # The second time that a line breaks, torch leaves out the stack.
        if one.artifact == "graph_breaks" and "duplicate graph break" not in one.text[0]:
            yield BreakText(0, one.compile_id, "\n".join(one.text))


def _recompiles(entries: Iterable[_Logged]) -> Iterator[Compiled]:
    for one in entries:
        place = _RECOMPILED.match(one.text[0]) if one.artifact == "recompiles" else None
        if place is not None:
            guards = (found[1] for found in map(_FAILED_GUARD.match, one.text) if found)
            reason = next(guards, "?")
            at = place[1], place[2], int(place[3])
            yield Compiled(0, one.compile_id, *at, 0.0, recompile_reason=reason)
