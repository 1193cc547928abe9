"""The machine-readable report of a verification."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tclint.verify.results import Arm, Speed, TargetReport


def as_json(reports: Sequence[TargetReport]) -> str:
    """All targets as one JSON object."""
    return json.dumps({"targets": [_target_record(report) for report in reports]}, indent=2)


def _target_record(report: TargetReport) -> dict[str, Any]:
    return {
        "target": report.target,
        "arms": [_arm_record(arm) for arm in report.arms],
        "equal": report.equality.equal,
        "equality": asdict(report.equality),
        "speedup": report.speedup,
        "speed_note": report.speed_note,
        "joined": [asdict(entry) for entry in report.joined],
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
    return record | _speed_record(arm.speed, arm.no_speed)


def _speed_record(speed: Speed | None, reason: str) -> dict[str, Any]:
    if speed is None:
        return {"times": None, "memory": None, "no_speed": reason or None}
    return {
        "times": {
            "cold_start_s": speed.cold_start,
            "eager_ms": asdict(speed.eager),
            "compiled_ms": asdict(speed.compiled),
        },
        "memory": asdict(speed.memory),
        "no_speed": None,
        "steady": {
            "syncs": None if speed.syncs is None else [asdict(sync) for sync in speed.syncs],
            "recompiles": [asdict(again) for again in speed.recompiles],
            "like_eager": asdict(speed.like_eager),
        },
    }
