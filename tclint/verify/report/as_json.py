"""The machine-readable report of a verification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tclint.printable import json_text
from tclint.verify.complaints import complaints
from tclint.verify.report.details import only_graphs
from tclint.verify.results import Arm, TargetReport
from tclint.verify.speed import Speed


def render(reports: Sequence[TargetReport], base: Path) -> str:
    """All targets as one JSON object."""
    del base
    return json_text({"targets": [_target_record(report) for report in reports]})


def _target_record(report: TargetReport) -> dict[str, Any]:
    return {
        "target": report.target,
        "passed": not complaints(report) and all(arm.failure is None for arm in report.arms),
        "complaints": list(complaints(report)),
        "over_budget": list(report.over_budget),
        "arms": [_arm_record(arm) for arm in report.arms],
        "equal": report.equality.equal,
        "equality": asdict(report.equality),
        "speedup": report.speedup,
        "speed_note": report.speed_note,
        "speedups": [asdict(speedup) for speedup in report.speedups],
        "joined": [asdict(entry) for entry in report.joined],
        "diagnosis": asdict(report.diagnosis) if report.diagnosis else None,
        "distributed": asdict(report.distributed) if report.distributed else None,
        "applied": None if report.applied is None else [asdict(fix) for fix in report.applied],
        "compared": {
            "eager_graphs": report.after.probe is not None and report.after.failure is None,
            "compiled": [one.mode for one in report.after.numbers],
            "only_eager_graphs": next(iter(only_graphs(report)), None),
        },
        "eager_ratios": [asdict(one) for one in report.eager],
        "unfinished": list(report.unfinished),
        "diff": report.diff,
    }


def _arm_record(arm: Arm) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": arm.name,
        "failure": asdict(arm.failure) if arm.failure else None,
        "breaks": [],
        "graphs": None,
        "recompiles": [],
        "syncs": None,
    }
    if arm.probe is not None:
        probe = asdict(arm.probe)
        del probe["loaded"]
        record |= probe | {"graphs": arm.probe.graphs}
    record["no_speed"] = arm.no_speed or None
    record["untimed"] = [asdict(one) for one in arm.untimed]
    record["compiled"] = [asdict(one) for one in arm.numbers]
    record["modes"] = {speed.mode: _speed_record(speed) for speed in arm.speeds}
    if arm.speed is None:
        return record | {"times": None, "memory": None}
    first = _speed_record(arm.speed)
    return record | {key: first[key] for key in ("times", "memory", "steady")}


def _speed_record(speed: Speed) -> dict[str, Any]:
    return {
        "times": {
            "cold_start_s": speed.cold_start,
            "eager_ms": asdict(speed.eager),
            "compiled_ms": asdict(speed.compiled),
            "eager_again_ms": asdict(speed.eager_again) if speed.eager_again else None,
            "compiled_again_ms": asdict(speed.again) if speed.again else None,
            "compile_phases_s": {phase.name: phase.seconds for phase in speed.phases},
        },
        "memory": asdict(speed.memory),
        "eager_memory": asdict(speed.eager_memory),
        "kernels": asdict(speed.kernels) if speed.kernels else None,
        "eager_kernels": asdict(speed.eager_kernels) if speed.eager_kernels else None,
        "cudagraph_skips": list(speed.cudagraph_skips),
        "steady": {
            "syncs": None if speed.syncs is None else [asdict(sync) for sync in speed.syncs],
            "recompiles": [asdict(again) for again in speed.recompiles],
            "like_eager": asdict(speed.like_eager),
        },
    }
