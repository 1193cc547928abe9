"""``tclint run`` held against the truth: ``python -m benchmarks.runs --sources DIR --out DIR``.

``DIR`` has a folder ``OWNER+NAME`` with the sources of each repository at the commit of the list
(``git archive``), and ``ours`` with those that are nobody else's. Each script is recorded as it is;
then it runs as it is and with each change by hand, in turns, without a report. Printed are, for
each script, the report's first line and the dearest in truth, what each change saves and what the
report said of it, whether shares add up to a step, and what compiling brings. On a CPU the script
runs once more with a clock around each statement, which tells the truth about each line.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.runs import desk as desks
from benchmarks.runs.listed import COMPILE, LINE, SCRIPTS, Change, Script
from benchmarks.runs.timed import Place, Timed, put_clocks, timed
from tclint.records import record
from tclint.run.launch import SITE, Settings
from tclint.run.read import read_folder, training

_SMALL = 0.03
"""The share of a step below which a difference counts as none."""
_WITHIN = 0.25
"""By what share of the truth a price may be off."""
_BROUGHT = 0.15
"""By what share what compiling brings may be off."""
_SUMS = 0.05
_OF_THE_MODEL = frozenset({"forward", "backward", "gpu"})


@record(frozen=True)
class Checked:
    """A change: what it saves of a step, and what the report says that it can bring at most.

    ``step`` is the one of which it saves that: the mean one, and for compiling the median, as an
    evaluation that is compiled in one of the steps makes none of them longer.
    """

    name: str
    kind: str
    at: str
    rows: tuple[int, ...]
    saves: float | None
    said: float | None
    why: str = ""
    step: float = 0.0


@record(frozen=True)
class Priced:
    """A line that the report prices: its share of a step, and that in truth, by the clock."""

    place: str
    said: float
    true: float


@record(frozen=True)
class Step:
    """Milliseconds of a step in one run; 0 where it made none."""

    mean: float = 0.0
    median: float = 0.0

    def of(self, change: Change) -> float:
        """That which a change is held against."""
        return self.median if change.kind == COMPILE else self.mean


@record(frozen=True)
class Found:
    """One script: its step, what the report says first, and what is true."""

    name: str
    kind: str
    digest: str
    step: float = 0.0
    finished: bool = False
    first: str = ""
    first_row: int = 0
    first_is_true: bool | None = None
    said: str = ""
    shares: float = 0.0
    nothing: bool = False
    tried: Mapping[str, Any] | None = None
    changes: tuple[Checked, ...] = ()
    lines: tuple[Priced, ...] = ()
    seconds: float = 0.0
    why: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)


def main() -> int:
    """Measure what there is time for, and print it."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    begun, found = time.monotonic(), []
    for script in _wanted(options):
        left = options.budget - (time.monotonic() - begun)
        if left < options.least:
            print(f"{script.name}: no time left")
            continue
        one = _checked(script, options)
        found.append(one)
        (options.out / f"{script.name}.json").write_text(json.dumps(asdict(one), indent=1))
        print(_told(one), flush=True)
    print(json.dumps(summary(found), indent=1))
    return 0


def _wanted(options: argparse.Namespace) -> list[Script]:
    only = options.only.split(",") if options.only else [one.name for one in SCRIPTS]
    here = [one for one in SCRIPTS if getattr(one, options.device) is not None]
    return sorted((one for one in here if one.name in only), key=lambda one: only.index(one.name))


def _checked(script: Script, options: argparse.Namespace) -> Found:
    begun, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="tclint-runs-"))
    try:
        found = _measured(script, options, folder)
    except (OSError, ValueError) as error:
        found = Found(script.name, script.kind, "", why=str(error)[-300:])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Found(**{**_fields(found), "seconds": time.monotonic() - begun})


def _fields(one: Found) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Found.__dataclass_fields__}  # type: ignore[attr-defined]


def _measured(script: Script, options: argparse.Namespace, folder: Path) -> Found:
    told, text = _recorded(script, options, folder)
    rounds: dict[str, list[Step]] = {}
    names = [None, *(_as_tried(change, told.get("tried")) for change in script.changes)]
    for _ in range(options.rounds):
        for change in names:
            rounds.setdefault(change.name if change else "", []).append(
                _quiet(script, options, folder, change)
            )
    plain = _middle(rounds[""])
    file = desks.lay_out(script, options.sources, folder / "work")
    changes = tuple(
        _one(change, told, desks.rows_of(file, change), plain, _middle(rounds[change.name]))
        for change in script.changes
    )
    rank = told["ranks"][0] if told["ranks"] else {}
    first = _first(told)
    clock = _clocked(script, options, folder, told) if options.device == "cpu" else None
    return Found(
        script.name,
        script.kind,
        desks.digest(script, options.sources),
        plain.mean,
        script.finished,
        _named(first),
        first[1] if first else 0,
        _first_is_true(first, clock, changes) if clock else None,
        text,
        _sum_of_shares(told),
        "nothing is worth a change" in text.lower(),
        told.get("tried"),
        changes,
        _priced(told, clock) if clock else (),
        report={
            "process": rank.get("process"),
            "step_ms": rank.get("step_ms"),
            "kernels": rank.get("kernels"),
            "ceiling": told.get("ceiling"),
            "account": told.get("account"),
            "lines": [one for one in told["lines"] if one["ms"]["value"]],
        },
    )


def _as_tried(change: Change, tried: Mapping[str, Any] | None) -> Change:
    """What compiling brings is held against the way of it that the report tells of."""
    if change.kind != COMPILE or not tried:
        return change
    edits, made = change.edits, change.loss
    if made and "its loss" in tried["what"]:
        edits += ((made, f"{made}; {made.partition(' ')[0]}.compile()"),)
    if "CUDA graphs" in tried["what"]:
        edits = tuple(
            (a, b.replace(".compile()", ".compile(mode='reduce-overhead')")) for a, b in edits
        )
    return replace(change, edits=edits)


def _first(told: Mapping[str, Any]) -> Place | None:
    """What is named first: the dearest of the table, of what else a step does, and of the GPU's.

    A class of kernels has no row.
    """
    found = max([*_ranked(told), *_beside(told), *_classes(told)], default=None)
    return (found[1], found[2]) if found else None


def _ranked(told: Mapping[str, Any]) -> list[tuple[float, str, int]]:
    """The lines of the table."""
    lines = told["lines"]
    return [(one["ms"]["value"], one["filename"], one["row"]) for one in lines if one["rank"]]


def _named(first: Place | None) -> str:
    if first is None:
        return ""
    return f"{Path(first[0]).name}:{first[1]}" if first[1] else first[0]


def _classes(told: Mapping[str, Any]) -> list[tuple[float, str, int]]:
    """What classes of kernels would save."""
    kernels = (told["ranks"][0].get("kernels") if told["ranks"] else None) or {"classes": []}
    return [(one["saves"], one["name"], 0) for one in kernels["classes"] if one["saves"]]


def _groups(
    told: Mapping[str, Any], without: frozenset[str] = frozenset()
) -> list[tuple[float, str, int]]:
    """The lines of the account, but for what is of some kinds."""
    groups = (told.get("account") or {}).get("groups") or []
    spent: Counter[Place] = Counter()
    for one in groups:
        if one["place"] and one["kind"] not in without:
            spent[(one["place"][0], one["place"][1])] += one["ms"]
    return [(ms, *place) for place, ms in spent.items()]


def _beside(told: Mapping[str, Any]) -> list[tuple[float, str, int]]:
    return _groups(told, _OF_THE_MODEL)


def _clocked(
    script: Script, options: argparse.Namespace, folder: Path, told: Mapping[str, Any]
) -> Timed | None:
    """The script with clocks in each of its files that the report names."""
    file = desks.lay_out(script, options.sources, folder / "work")
    named = {Path(name) for _, name, _ in (*_ranked(told), *_beside(told))}
    own = [one for one in sorted(named) if one.is_relative_to(folder) and one != file]
    written = Path(tempfile.mkdtemp(dir=folder))
    put_clocks(written, [file, *own])
    more = {"BENCHMARK_CLOCK": str(written)}
    for ends in _steps(script, options, folder, file, more):
        found = timed(written, ends, _settled(ends, compiling=False))
        if found is not None:
            return found
    return None


def _first_is_true(first: Place | None, clock: Timed, changes: Sequence[Checked]) -> bool:
    """Whether no line takes more than that which is named first.

    What a change edits elsewhere, such as the arguments of an optimizer, stands for its line.
    """
    ms, dear = clock.dearest(first)
    if ms <= _SMALL * clock.step:
        return first is None or first in dear
    rows = {row for _, row in dear}
    about = {row for one in changes if rows & {*one.rows} for row in one.rows}
    return first is not None and (first in dear or first[1] in about)


def _priced(told: Mapping[str, Any], clock: Timed) -> tuple[Priced, ...]:
    """Each line that is priced above 3% of a step, where the clock saw it."""
    mean = (told.get("account") or {}).get("mean") or 0.0
    found = []
    for lines, model in ((_ranked(told), False), (_groups(told), True)):
        true = clock.lines(frozenset((name, row) for _, name, row in lines), model=model)
        for ms, name, row in lines:
            share, exact = ms / mean if mean else 0.0, true.get((name, row), 0.0) / clock.step
            if exact and max(share, exact) > _SMALL:
                found.append(Priced(f"{Path(name).name}:{row}", share, exact))
    return tuple(dict.fromkeys(found))


def _sum_of_shares(told: Mapping[str, Any]) -> float:
    """What the groups of the time add up to, as a share of a step; 0 where none are told."""
    account = told.get("account") or {}
    groups = account.get("groups") or []
    whole = account.get("mean") or 0.0
    unexplained = account.get("unexplained") or 0.0
    return (sum(one["ms"] for one in groups) + unexplained) / whole if whole else 0.0


def _middle(rounds: Sequence[Step]) -> Step:
    return Step(median(one.mean for one in rounds), median(one.median for one in rounds))


def _one(
    change: Change, told: Mapping[str, Any], rows: frozenset[int], plain: Step, changed: Step
) -> Checked:
    before, after = plain.of(change), changed.of(change)
    why = "" if before and after else "made no steps"
    saves = before - after if not why else None
    said, at = _said(change, told, rows), tuple(sorted(rows))
    return Checked(change.name, change.kind, change.at, at, saves, said, why, before)


def _said(change: Change, told: Mapping[str, Any], rows: frozenset[int]) -> float | None:
    """Milliseconds of a step that a change can bring by the report; None where it says nothing."""
    if change.kind == COMPILE:
        tried = told.get("tried")
        failed = not tried or tried["failed"]
        return None if failed else tried["eager"]["value"] - tried["compiled"]["value"]
    if change.kind == LINE:
        lines = [one["ms"]["value"] for one in told["lines"] if one["row"] in rows]
        return max([*lines, *(ms for ms, _, row in _beside(told) if row in rows)], default=None)
    named = [saves for saves, name, _ in _classes(told) if name.startswith(change.at)]
    return sum(named) if named else None


def _recorded(
    script: Script, options: argparse.Namespace, folder: Path
) -> tuple[Mapping[str, Any], str]:
    """The report on the script as it is, as JSON and as text."""
    file = desks.lay_out(script, options.sources, folder / "work")
    report, kept = folder / "report.json", folder / "kept"
    tries = script.name in options.try_compile.split(",") or options.try_compile == "all"
    words = [sys.executable, "-m", "tclint", "run", "--keep", str(kept)]
    words += ["--output-format", "json", "--output-file", str(report), "--seed", "0"]
    words += ["--steps", str(script.steps)] if script.steps else []
    words += ["--try-compile" if tries else "--no-try-compile", "--"]
    told = _run([*words, *_command(script, options, file)], script, options, folder, {})
    (options.out / f"{script.name}.log").write_text(told)
    if not report.is_file():
        raise ValueError(f"no report: {told[-300:]}")
    trace = [sys.executable, "-m", "tclint", "trace", str(kept)]
    text = _run(trace, script, options, folder, {})
    (options.out / f"{script.name}.txt").write_text(text)
    return json.loads(report.read_text()), text


def _quiet(
    script: Script, options: argparse.Namespace, folder: Path, change: Change | None
) -> Step:
    """The steps after the warm-up."""
    file = desks.lay_out(script, options.sources, folder / "work", change)
    for ends in _steps(script, options, folder, file, {}):
        warm = _settled(ends, compiling=change is not None and change.kind == COMPILE)
        if found := [(b - a) / 1e6 for a, b in pairwise(ends[warm:])]:
            return Step(mean(found), median(found))
    return Step()


def _steps(
    script: Script,
    options: argparse.Namespace,
    folder: Path,
    file: Path,
    more: Mapping[str, str],
) -> list[Sequence[int]]:
    """When the steps of a run ended, of each process that trains; nothing else is recorded."""
    record_to = Path(tempfile.mkdtemp(dir=folder))
    settings = Settings(steps=script.steps, window=(0, 0, 0), seed=0)
    told = {**settings.environment(record_to), **more}
    _run(_command(script, options, file), script, options, folder, told)
    recorded = training(read_folder(record_to))
    return [one.steps.ends for one in recorded if one.steps is not None]


def _settled(ends: Sequence[int], *, compiling: bool) -> int:
    """The steps that do not count: ten, or a third of few; half of all where some compile."""
    return len(ends) // 2 if compiling else min(10, len(ends) // 3)


def _command(script: Script, options: argparse.Namespace, file: Path) -> list[str]:
    more = getattr(script, options.device) or ""
    launcher = shlex.split(script.launcher)
    return [options.python, *launcher, file.name, *shlex.split(f"{script.arguments} {more}")]


def _run(
    words: Sequence[str],
    script: Script,
    options: argparse.Namespace,
    folder: Path,
    told: Mapping[str, str],
) -> str:
    """What a command prints until it ends, or until it and all that it started are ended."""
    work = folder / "work"
    file = work / script.path
    here = dict(desks.environment(file, work)) | dict(told)
    if told:
        here["PYTHONPATH"] = os.pathsep.join([str(SITE), here["PYTHONPATH"]])
    here["PATH"] = os.pathsep.join([str(file.parent / "bin"), here["PATH"]])
    process = subprocess.Popen(
        words,
        cwd=file.parent,
        env=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=options.time_limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed = process.communicate()[0]
        return f"{printed}\nended after {options.time_limit:.0f} s"


def summary(found: Sequence[Found]) -> dict[str, Any]:
    """How often the report is right."""
    whole = [one for one in found if not one.why]
    lines = [(one, change) for one in whole for change in one.changes if change.saves is not None]
    large = [_is_near(one, change) for one, change in lines if _is_large(one, change)]
    large += [_is_true(line) for one in whole for line in one.lines]
    judged = [one for one in whole if _is_judged(one)]
    finished = [one for one in whole if one.finished]
    return {
        "scripts": len(found),
        "ran": len(whole),
        "first_named_is_first": [sum(map(is_first, judged)), len(judged)],
        "prices_within": [sum(large), len(large)],
        "shares_sum": [sum(abs(one.shares - 1) <= _SUMS for one in whole), len(whole)],
        "nothing_though_something": [one.name for one in whole if one.nothing and _gains(one)],
        "nothing_of_finished": [sum(one.nothing for one in finished), len(finished)],
        "compiling_within": _compiling(lines),
    }


def _is_large(one: Found, change: Checked) -> bool:
    most = max(change.saves or 0.0, change.said or 0.0)
    return change.kind != COMPILE and most > _SMALL * one.step


def _is_near(one: Found, change: Checked) -> bool:
    saves = change.saves or 0.0
    off = abs((change.said or 0.0) - saves)
    return off <= max(_WITHIN * abs(saves), _SMALL * one.step)


def _is_true(line: Priced) -> bool:
    return abs(line.said - line.true) <= max(_WITHIN * line.true, _SMALL)


def _is_judged(one: Found) -> bool:
    changed = any(change.kind != COMPILE and change.saves is not None for change in one.changes)
    return one.first_is_true is not None or changed


def is_first(one: Found) -> bool:
    """Whether the first line is the dearest by the clock.

    Without a clock: that of the change that saves most, or none of them where none saves.
    """
    if one.first_is_true is not None:
        return one.first_is_true
    changes = [change for change in one.changes if change.kind != COMPILE]
    best = max(changes, key=lambda change: change.saves or 0.0)
    if (best.saves or 0.0) <= _SMALL * one.step:
        return not any(_is_about(change, one) for change in changes)
    return _is_about(best, one)


def _is_about(change: Checked, one: Found) -> bool:
    """Whether a change is what the report names first."""
    if change.kind == LINE:
        return one.first_row in change.rows
    return one.first.startswith(change.at)


def _gains(one: Found) -> bool:
    return any((change.saves or 0.0) > 0.1 * one.step for change in one.changes)


def _compiling(lines: Sequence[tuple[Found, Checked]]) -> list[int]:
    tried = [
        (one, change) for one, change in lines if change.kind == COMPILE and change.said is not None
    ]
    right = [
        abs((change.saves or 0.0) - (change.said or 0.0))
        <= _BROUGHT * ((change.step or one.step) - (change.saves or 0.0))
        for one, change in tried
    ]
    return [sum(right), len(right)]


def _told(one: Found) -> str:
    if one.why:
        return f"{one.name}: failed after {one.seconds:.0f} s: {one.why}"
    head = (
        f"{one.name} ({one.kind}): step {one.step:.3f} ms, first named {one.first or 'none'}, "
        f"{'' if one.first_is_true is None else 'right, ' if one.first_is_true else 'WRONG, '}"
        f"shares {one.shares:.2f}, {'says nothing, ' if one.nothing else ''}{one.seconds:.0f} s"
    )
    rows = [head]
    rows += [f"  {line.place}: {line.true:.0%}, said {line.said:.0%}" for line in one.lines]
    for change in one.changes:
        said = "not named" if change.said is None else f"said {change.said:.3f}"
        share = (change.saves or 0) / (change.step or one.step)
        true = change.why or f"saves {change.saves:.3f} ms ({share:.0%})"
        at = ", ".join(map(str, change.rows))
        rows.append(f"  {change.name} (line {at}): {true}, {said}")
    return "\n".join(rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out/runs"))
    parser.add_argument("--python", default=sys.executable, help="runs the scripts")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", default="", help="names in order, with commas between")
    parser.add_argument("--try-compile", default="", help="names, or all")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--budget", type=float, default=3600, help="seconds for all of them")
    parser.add_argument("--least", type=float, default=40, help="seconds that a script may take")
    parser.add_argument("--time-limit", type=float, default=300)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
