"""Workflow commands that GitHub Actions turns into annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.report.project import NAME
from tclint.report.workflow import command
from tclint.verify.complaints import complaints
from tclint.verify.events import Break
from tclint.verify.results import TargetReport


def render(reports: Sequence[TargetReport], base: Path) -> str:
    """One command a break, a complaint or a target that did not run."""
    return "".join(f"{line}\n" for report in reports for line in _commands(report, base))


def _commands(report: TargetReport, base: Path) -> Iterator[str]:
    failing = complaints(report)
    level = "error" if failing else "warning"
    for arm in report.arms:
        if arm.failure is not None:
            yield _command("error", {}, f"{report.target}: {arm.name}: {arm.failure.message}")
    for text in failing:
        yield _command("error", {}, f"{report.target}: {text}")
    probe = report.after.probe
    for one in probe.user_breaks if probe is not None else ():
        yield _command(level, _place(one, base), f"{report.target}: {_text(one)}")


def _place(one: Break, base: Path) -> dict[str, str]:
    path = Path(one.filename)
    file = path.relative_to(base) if path.is_relative_to(base) else path
    return {"file": file.as_posix(), "line": str(one.row)}


def _text(one: Break) -> str:
    return f"graph break {'+'.join(one.gb_ids)} {one.reason}".replace("  ", " ")


def _command(level: str, place: dict[str, str], message: str) -> str:
    return command(level, {"title": f"{NAME} verify", **place}, message)
