"""Measure one unit: what a worker does, be it a local process or one on another machine."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from math import inf
from pathlib import Path

from tclint.config import load_config
from tclint.files import read_bytes
from tclint.fleet.units import (
    BREAKS,
    FAILED,
    KILLED,
    MISSING,
    NOTHING,
    WHOLE,
    BreakLine,
    CodeFile,
    Measured,
    ModeSpeed,
    Unit,
    failed,
)
from tclint.verify.arms import Options
from tclint.verify.complaints import comparisons
from tclint.verify.errors import TargetError
from tclint.verify.events import Equality
from tclint.verify.process import was_killed
from tclint.verify.results import Arm, Failure, Joined, Probe, TargetReport
from tclint.verify.session import Comparison, Job, verify_job
from tclint.verify.wire import shortened

_LONGEST_REASON = 300
_LINE_ENDS = re.compile(r"\s*\n\s*")
_MISSING = re.compile(r"(ModuleNotFoundError: No module named|ImportError: .*is not installed)")


def measure(unit: Unit) -> Measured:
    """Verify the unit's target in its arm, and keep what a fleet's reports tell."""
    start, began = time.monotonic(), time.time()
    root = Path(unit.root)
    try:
        config = load_config(root)
        comparison = Comparison()
        if unit.fixed:
            from tclint.verify.fixer import fixer  # which loads LibCST

            comparison = Comparison(fix=fixer(config, unsafe=unit.unsafe_fixes))
        job = Job(unit.target, unit.text, options_of(unit))
        report = verify_job(job, root, comparison, config)
    except TargetError as error:
        return failed("target", _plain(str(error), unit), _since(start))
    return replace(_told(report, unit, began), seconds=_since(start))


def digest_file(path: Path) -> str:
    """A digest of a file's content; empty for one that cannot be read."""
    try:
        return blake2b(read_bytes(path), digest_size=16).hexdigest()
    except OSError:
        return ""


def options_of(unit: Unit) -> Options:
    """How to run a unit's target."""
    wanted = unit.measures
    return Options(
        backend=wanted.backend,
        modes=wanted.modes,
        phase=unit.phase,
        inputs=unit.inputs,
        device=wanted.device,
        time_limit=wanted.time_limit,
        memory_limit=wanted.memory_limit,
        speed=wanted.speed,
        python=unit.python,
        export=wanted.export,
    )


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)


def _told(report: TargetReport, unit: Unit, began: float) -> Measured:
    arm = report.after
    failure = next((one.failure for one in report.arms[::-1] if one.failure is not None), None)
    probe, was = arm.probe, report.arms[0].probe
    if killed := _killed(report):
        return failed(KILLED, killed)
    if failure is not None or probe is None:
        kind, reason = _kind(failure)
        return replace(failed(kind, _plain(reason, unit)), code=_code(report.arms, unit, began))
    equality = next((e for _, e in comparisons(report) if e.equal is False), report.equality)
    fault = next((one.reason for one in arm.untimed if one.fault), "")
    return Measured(
        outcome=FAILED if fault else _outcome(probe),
        reason=_plain(fault or probe.nothing_compiled, unit),
        failure="compiled" if fault else "",
        torch=probe.torch,
        device=probe.device,
        graphs=probe.graphs,
        recompiles=len(probe.recompiles),
        breaks=tuple(_breaks(probe, report.joined, unit)),
        breaks_before=len(was.user_breaks) if unit.fixed and was is not None else None,
        verdict=equality.verdict,
        detail=_plain(_detail(equality, probe), unit),
        fixes=tuple(sorted(one.code for one in report.applied or ())),
        exported=None if report.exported is None else _plain(report.exported, unit),
        speeds=tuple(_speeds(report)) if unit.measures.speed else (),
        code=_code(report.arms, unit, began),
    )


def _killed(report: TargetReport) -> str:
    """What says that somebody ended a child; empty where nobody did."""
    failures = [arm.failure for arm in report.arms if arm.failure is not None]
    failures += [Failure("crash", one.reason) for arm in report.arms for one in arm.untimed]
    return next((one.message for one in failures if was_killed(one)), "")


def _kind(failure: Failure | None) -> tuple[str, str]:
    if failure is None:
        return "exception", "the target gave no result"
    kind = MISSING if _MISSING.search(failure.message) else failure.kind
    return kind, failure.message


def _outcome(probe: Probe) -> str:
    if probe.nothing_compiled:
        return NOTHING
    return BREAKS if probe.user_breaks else WHOLE


def _detail(equality: Equality, probe: Probe) -> str:
    return equality.detail or probe.unstable


def _breaks(probe: Probe, joined: Sequence[Joined], unit: Unit) -> Iterator[BreakLine]:
    arm = "after" if any(one.arm == "after" for one in joined) else "before"
    rules = {(one.filename, one.row, one.gb_id): one.code or "" for one in joined if one.arm == arm}
    for one in probe.user_breaks:
        yield BreakLine(
            _relative(one.filename, unit),
            one.row,
            one.gb_id or "",
            _plain(one.reason, unit),
            rules.get((one.filename, one.row, one.gb_id), ""),
        )


def _speeds(report: TargetReport) -> Iterator[ModeSpeed]:
    arm = report.after
    for one in report.speedups:
        speed = arm.speed_in(one.mode)
        yield ModeSpeed(
            one.mode,
            speed.eager.median if speed else None,
            speed.compiled.median if speed else None,
            one.ratio,
            one.low,
            one.high,
            speed.cold_start if speed else None,
            one.note,
        )


def _code(arms: Iterable[Arm], unit: Unit, began: float) -> tuple[CodeFile, ...]:
    """The files that the target loaded; none where that is not known.

    One that was written meanwhile gets no digest: nobody knows what was loaded.
    """
    root = Path(unit.root).resolve()
    loaded = {Path(name) for arm in arms if arm.probe is not None for name in arm.probe.loaded}
    inside = sorted(path for path in loaded if root in path.parents)
    return tuple(
        CodeFile(
            path.relative_to(root).as_posix(),
            digest_file(path) if _written(path) < began else "",
        )
        for path in inside
    )


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return inf


def _relative(filename: str, unit: Unit) -> str:
    path, root = Path(filename), Path(unit.root).resolve()
    if root in path.parents:
        return str(path.relative_to(root))
    _, found, inside = filename.rpartition("site-packages/")
    return inside if found else filename


def _plain(text: str, unit: Unit) -> str:
    """A text in one line that says the same wherever the tree lies, and is not too long."""
    for root in {unit.root, str(Path(unit.root).resolve())}:
        text = text.replace(f"{root}/", "")
    return shortened(_LINE_ENDS.sub(" ", text), _LONGEST_REASON)
