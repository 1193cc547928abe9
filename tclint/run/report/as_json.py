"""The answer as JSON, for programs: every line with its events, its finding and its price."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tclint.run.ablate import Ablation, Measured
from tclint.run.host import Work
from tclint.run.intervals import Interval
from tclint.run.lines import Line
from tclint.run.loading import loading_moves
from tclint.run.price import FREE, Price, quiet_steps
from tclint.run.proof import Proof
from tclint.run.report.recorded_at import path_from, recorded_at, top_of
from tclint.run.report.verdict_words import verdict
from tclint.run.session import Answer, Rank
from tclint.verify.wire import plain


def render(
    answer: Answer, root: Path, proof: Proof | None = None, ablation: Ablation | None = None
) -> str:
    """The answer as one object; file names are whole, and paths as the repository has them."""
    top = top_of(root)
    first = answer.first.recorded if answer.first else None
    dear = [(one.line.filename, one.line.row) for one in answer.dear]
    data: dict[str, Any] = {
        **recorded_at(answer, root),
        "command": answer.command,
        "ended": plain(answer.ended) if answer.ended else None,
        "processes": answer.processes,
        "ranks": [_rank(rank) for rank in answer.ranks],
        "files": [str(path) for path in answer.joined.files],
        "cells": {cell.name: cell.text for cell in first.cells} if first else {},
        "lines": [
            {"path": path_from(top, line.filename)}
            | _line(line, answer.by_key.get((line.filename, line.row), FREE), dear)
            | _measured(ablation.of(line) if ablation else None)
            for line in (*answer.joined.lines, *_beside(answer))
        ],
        "verdict": verdict(answer, root),
        "host_parts": _parts(answer.work),
        "breaks_explained": dict(zip(("known", "of"), answer.joined.explained, strict=True)),
        "account": {**plain(answer.account), "unexplained": answer.account.unexplained},
        "ceiling": plain(answer.ceiling) if answer.ceiling else None,
        "moves": [plain(move) for move in loading_moves(answer)],
        "tried": plain(answer.tried) if answer.tried else None,
        "notes": answer.notes,
        "proof": _proof(proof) if proof else None,
    }
    return json.dumps(data, indent=2) + "\n"


def _parts(work: Work) -> dict[str, float]:
    """The share of the host's time that each part of the model's work has."""
    return {part.value: work.part(part) / work.total for part in work.parts}


def _beside(answer: Answer) -> list[Line]:
    return [one.line for one in answer.dear if one.line.only_works]


def _rank(rank: Rank) -> dict[str, Any]:
    one = rank.recorded
    return {
        "process": plain(one.process),
        "steps": len(quiet_steps(one.steps)) if one.steps else 0,
        "step_ms": _interval(rank.step),
        "marker": one.steps.marker if one.steps else None,
        "gpu": plain(rank.activity) if rank.activity else None,
        "kernels": plain(rank.kernels) if rank.kernels else None,
        "gpu_idle": rank.idle_share if rank.activity else None,
        "compiled": plain(one.compiled),
        "cudagraph_skips": [skip.reason for skip in one.skips],
        "memory_peak": one.memory.peak if one.memory else None,
        "losses": [float.fromhex(loss.value) for loss in one.losses],
    }


def _line(line: Line, price: Price, dear: list[tuple[str, int]]) -> dict[str, Any]:
    found = line.finding
    place = (line.filename, line.row)
    return {
        "filename": line.filename,
        "row": line.row,
        "rank": dear.index(place) + 1 if place in dear else None,
        "ms": _interval(price.total),
        "host_ms": _interval(price.host),
        "idle_ms": _interval(price.waits),
        "gpu_ms": _interval(price.gpu),
        "events": [plain(event) for event in line.events],
        "code": found.code if found else None,
        "message": found.message if found else None,
        "fix": found.fixable.value if found and found.fixable else None,
        "url": found.url if found else None,
    }


def _measured(told: Measured | str | None) -> dict[str, Any]:
    """What was measured for a line: nothing of it where nobody asked."""
    if told is None:
        return {}
    if isinstance(told, str):
        return {"measured": {"ms": None, "why": told}}
    return {
        "measured": {
            "ms": _interval(told.saved),
            "losses_equal": told.same,
            "losses": told.losses,
            "together": [{"filename": one.filename, "row": one.row} for one in told.together],
        }
    }


def _proof(proof: Proof) -> dict[str, Any]:
    return {
        "fixes": [
            {
                "code": fix.diagnostic.code,
                "filename": str(fix.diagnostic.path),
                "row": fix.diagnostic.span.start.row,
                "message": fix.message,
            }
            for fix in proof.fixed.fixes
        ],
        "before_ms": _interval(proof.before.step),
        "after_ms": _interval(proof.after.step),
        "speedup": _interval(proof.speedup),
        "breaks": [proof.before.breaks, proof.after.breaks],
        "losses_equal": proof.same,
        "change": proof.change or None,
        "losses": proof.losses,
    }


def _interval(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}
