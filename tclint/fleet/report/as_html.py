"""The leaderboard: one page that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tclint.fleet.board import Board, Row, Total
from tclint.fleet.changes import Kind
from tclint.fleet.report.sections import cell, heading, outcome_counts, sections
from tclint.fleet.units import BREAKS, FAILED, NOTHING, WHOLE, Measured
from tclint.report.project import NAME
from tclint.report.style import STYLE

_TEMPLATE = "board.html"
_COLOURS = {WHOLE: "good", BREAKS: "warn", NOTHING: "one", FAILED: "bad"}
_KINDS = {Kind.WORSE.value: "bad", Kind.BETTER.value: "good", Kind.OTHER.value: "one"}
_TARGETS = "Targets"


def render(board: Board) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return pages.get_template(_TEMPLATE).render(_content(board))


def _content(board: Board) -> dict[str, Any]:
    tables = [section for section in sections(board) if section.title != _TARGETS]
    return {
        "title": f"{NAME} fleet",
        "style": STYLE,
        "heading": heading(board),
        "arms": [_arm(total) for total in board.totals],
        "kinds": _KINDS,
        "legend": [*_COLOURS.items()],
        "tables": tables,
        "names": [total.arm.name for total in board.totals],
        "targets": [_target(row) for row in board.rows],
    }


def _arm(total: Total) -> dict[str, Any]:
    ran = max(1, total.targets - total.missing)
    return {
        "name": total.arm.name,
        "torch": total.arm.torch,
        "whole": f"{total.whole} of {ran} as one graph ({total.whole / ran:.0%})",
        "parts": [
            (_COLOURS[name], name, count, 100 * count / ran)
            for name, count in outcome_counts(total)
            if count
        ],
    }


def _target(row: Row) -> dict[str, Any]:
    return {
        "name": row.target,
        "cells": [
            (cell(one), _COLOURS.get(one.outcome, "one") if one else "one", _details(one))
            for one in row.cells
        ],
    }


def _details(one: Measured | None) -> list[str]:
    """What a row says when it is opened."""
    if one is None:
        return []
    lines = [one.reason] if one.reason else []
    lines += [
        f"{broken.place}:{broken.row} {broken.gb_id} {broken.reason}"
        f"{f' ({broken.rule})' if broken.rule else ''}"
        for broken in one.breaks
    ]
    lines += [one.detail] if one.detail else []
    lines += [f"torch.export: {one.exported}"] if one.exported else []
    return lines
