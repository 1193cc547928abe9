"""What there is to say about one target, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tclint.printable import printable
from tclint.verify.complaints import complaints, remedies
from tclint.verify.events import Break, Sync
from tclint.verify.report.numbers import (
    closeness,
    graph_sizes,
    kernels,
    memory,
    milliseconds,
    place,
    plural,
    ratio,
    scaling,
)
from tclint.verify.results import Arm, Diagnosis, Distributed, Probe, TargetReport
from tclint.verify.speed import Speed

_PHASES = {
    "forward": "",
    "backward": " (forward and backward)",
    "step": " (training step)",
}


def details(report: TargetReport, base: Path) -> list[str]:
    """The lines under a target's row."""
    return [*map(printable, _details(report, base))]


def _details(report: TargetReport, base: Path) -> Iterator[str]:
    probe = report.after.probe
    phase = _PHASES[probe.phase] if probe is not None else ""
    summaries = [_named(s.mode, ratio(s), len(report.speedups)) for s in report.speedups]
    ran = all(arm.failure is None for arm in report.arms)
    yield f"{report.target}{phase}: {'; '.join(summaries) if ran else did_not_run(report)}"
    for arm in report.arms:
        if arm.failure is not None:
            yield f"  {arm.name}: {arm.failure.kind}: {arm.failure.message}"
        if arm.failure is not None and arm.probe is not None:
            yield f"  {arm.name}: not known: {', '.join(arm.probe.unfinished)}"
    yield from _applied_lines(report, base)
    for complaint in complaints(report):
        yield f"  fails: {complaint}"
    if report.equality.detail and ran:
        yield f"  outputs: {report.equality.verdict}: {report.equality.detail}"
    if probe is not None:
        yield from _probe_lines(report, probe, base)
    yield from _numbers_lines(report)
    for speed in report.after.speeds:
        yield from _speed_lines(report.after, speed, base)
    for arm in report.arms:
        yield from _joined_lines(report, arm)
    if report.diagnosis is not None:
        yield from diagnosis_lines(report.diagnosis)
    if report.distributed is not None:
        yield from distributed_lines(report.distributed)


def did_not_run(report: TargetReport) -> str:
    """The verdict on a target of which one arm has failed."""
    return "unfinished" if report.after.probe is not None else "did not run"


def _applied_lines(report: TargetReport, base: Path) -> Iterator[str]:
    if report.applied == ():
        yield "  nothing to apply: no fix for the files that the target loads; compiled only once"
    for fix in report.applied or ():
        yield f"  applied {fix.code} {place(fix.filename, fix.row, base)}: {fix.message}"


def _numbers_lines(report: TargetReport) -> Iterator[str]:
    """What real compilation computed, or that nobody has seen that."""
    arm = report.after
    for one in arm.numbers:
        backend = f" ({one.backend})" if one.backend else ""
        text = f"compiled numbers{backend}: {closeness(one.like_eager)}"
        yield "  " + _named(one.mode, text, len(arm.numbers))
    for why in only_graphs(report) if not arm.numbers else ():
        yield f"  compiled numbers: only graphs that run eagerly were compared ({why})"


def only_graphs(report: TargetReport) -> tuple[str, ...]:
    """Why no real backend's numbers were compared; empty where one's were."""
    arm = report.after
    if arm.failure is not None or any(one.like_eager.equal is not None for one in arm.numbers):
        return ()
    told = [one.like_eager.detail for one in arm.numbers]
    told += [one.reason for one in arm.untimed if one.mode]
    return (told[0] if told else arm.no_speed if report.applied == () else "backend eager",)


def _probe_lines(report: TargetReport, probe: Probe, base: Path) -> Iterator[str]:
    if probe.like_before is not None and probe.like_eager.equal is False:
        yield f"  compiled against eager: {probe.like_eager.detail}"
    if probe.unstable:
        yield f"  not deterministic: two eager runs with equal seeds differ: {probe.unstable}"
    yield f"  graphs: {graph_sizes(report.after)}{fullgraph(probe)}"
    if 0 < len(probe.user_breaks) <= report.allowed_breaks and remedies(report):
        yield f"  remedy: {remedies(report).removeprefix('; ')}"
    for one in probe.breaks:
        yield from _break_lines(one, base)
    for frame in probe.eager_frames:
        where = place(frame.filename, frame.row, base)
        yield f"  {where}: all of {frame.function} runs eagerly: {frame.reason}"
    real = next((one.recompiles for one in report.after.numbers if one.recompiles), ())
    for again in real or probe.recompiles:
        limit = " (limit reached: runs eagerly)" if again.limit_reached else ""
        yield f"  {place(again.filename, again.row, base)}: recompiles: {again.reason}{limit}"
    yield from _sync_lines("eager", probe.syncs, base)
    for said in probe.outputs:
        where, taken = place(said.filename, said.row, base), f"{said.milliseconds:.2g} ms"
        yield f"  {where}: {plural(said.count, said.what)} in each eager call, {taken}"


def fullgraph(probe: Probe) -> str:
    """What ``fullgraph=True`` says, in a clause."""
    if not probe.ops:
        return ""
    if probe.fullgraph == "refused":
        return f"; fullgraph=True refused: {probe.fullgraph_reason}"
    return "; fullgraph=True works" if probe.fullgraph == "possible" else ""


def _speed_lines(arm: Arm, speed: Speed, base: Path) -> Iterator[str]:
    many = len(arm.speeds)
    if speed.phases:
        parts = ", ".join(f"{phase.name} {phase.seconds:.2f} s" for phase in speed.phases)
        yield "  " + _named(speed.mode, f"cold start {speed.cold_start:.1f} s: {parts}", many)
    shown = f"memory: eager {memory(speed.eager_memory)}, compiled {memory(speed.memory)}"
    if speed.memory.allocated is None:
        shown = f"memory: {memory(speed.memory)} for the whole process"
    yield "  " + _named(speed.mode, shown, many)
    if speed.kernels is not None and speed.eager_kernels is not None:
        shown = f"one call: eager {kernels(speed.eager_kernels)}, compiled {kernels(speed.kernels)}"
        yield "  " + _named(speed.mode, shown, many)
    for skip in speed.cudagraph_skips:
        yield "  " + _named(speed.mode, f"no CUDA graph: {skip}", many)
    yield from _sync_lines("compiled", speed.syncs, base)


def _named(mode: str, text: str, many: int) -> str:
    return f"{mode}: {text}" if many > 1 else text


def _break_lines(one: Break, base: Path) -> Iterator[str]:
    ids = "+".join(one.gb_ids) or "no GB id"
    notes = [
        note
        for holds, note in (
            (one.drops_frame, "the whole function runs eagerly"),
            (one.by_torch, "asked for by torch itself"),
        )
        if holds
    ]
    tail = f" ({'; '.join(notes)})" if notes else ""
    yield f"  {place(one.filename, one.row, base)}: {ids} {one.reason}{tail}"
    inner = one.stack[-1] if one.stack else None
    if inner and (inner.filename, inner.row) != (one.filename, one.row):
        yield f"    in {place(inner.filename, inner.row, base)} ({inner.function})"


def _sync_lines(how: str, syncs: tuple[Sync, ...] | None, base: Path) -> Iterator[str]:
    for sync in syncs or ():
        where = place(sync.filename, sync.row, base)
        yield f"  {where}: {plural(sync.count, 'host sync')} in each {how} call"
        inner = sync.stack[-1] if sync.stack else None
        if inner and (inner.filename, inner.row) != (sync.filename, sync.row):
            yield f"    in {place(inner.filename, inner.row, base)} ({inner.function})"


def _joined_lines(report: TargetReport, arm: Arm) -> Iterator[str]:
    found = [entry.status for entry in report.joined if entry.arm == arm.name]
    if not found:
        return
    counts = {status: found.count(status) for status in ("confirmed", "missed", "not-seen")}
    which = f" {arm.name}" if len(report.arms) > 1 else ""
    yield (
        f"  static findings{which}: {counts['confirmed']} confirmed, {counts['missed']} missed, "
        f"{counts['not-seen']} not seen at run time"
    )


def diagnosis_lines(found: Diagnosis) -> Iterator[str]:
    """The ladder, and what to run next."""
    fault = found.layer or "none: every layer is fine by itself"
    yield f"  layer at fault: {fault}"
    for rung in found.rungs:
        yield f"    {rung.backend}: {rung.outcome}"
    if found.layer:
        yield f"    to shrink it: {found.minifier}"
    for script in found.scripts:
        yield f"    wrote {script}"


def distributed_lines(found: Distributed) -> Iterator[str]:
    """What happened on each rank."""
    yield f"  {found.size} processes ({found.parallel}, {found.backend})"
    for one in found.scaling:
        yield f"    {scaling(one)}"
    if found.note:
        yield f"    alone: {found.note}"
    for rank in found.ranks:
        if rank.failure is not None:
            yield f"    rank {rank.rank}: {rank.failure.kind}: {rank.failure.message}"
            continue
        like = closeness(rank.like_eager) if rank.like_eager is not None else "unknown"
        breaks = sum(not one.by_torch for one in rank.breaks)
        parts = [plural(breaks, "break"), plural(rank.graphs, "graph"), like]
        parts += [
            f"{form} {milliseconds(timing)} ms"
            for form, timing in (("eager", rank.eager), ("compiled", rank.compiled))
            if timing is not None
        ]
        if rank.tied:
            parts.append("other weights than rank 0" if rank.rank in found.diverged else "in step")
        if rank.untimed:
            parts.append(f"compiled code not timed: {rank.untimed}")
        yield f"    rank {rank.rank}: {', '.join(parts)}"
