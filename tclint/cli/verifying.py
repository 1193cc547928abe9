"""What ``tclint verify`` does between its options and its exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from tclint.cli.progress import timed_lines
from tclint.cli.terminal import fail
from tclint.printable import printable

if TYPE_CHECKING:
    from tclint.config import Config
    from tclint.verify.results import TargetReport
    from tclint.verify.session import Comparison, Job


def require_torch() -> None:
    """End the command where the interpreter that would run the targets has no torch."""
    if find_spec("torch") is None:
        fail(
            f"{sys.executable} has no torch: install `tclint-torch[verify]` there, or run"
            " `python -m tclint` with the interpreter that runs your model"
        )


def run_jobs(
    jobs: Sequence[Job], comparison: Comparison, config: Config
) -> tuple[TargetReport, ...]:
    """Verify the jobs one by one; each thing that takes long gets a line on standard error."""
    from tclint.verify.session import verify_job

    reports, say = [], timed_lines()
    with orderly_end():
        for job in jobs:

            def tell(doing: str, name: str = job.name) -> None:
                say(f"{name}: {doing}")

            reports.append(verify_job(job, Path.cwd(), comparison, config, tell))
    return tuple(reports)


def render(reports: Sequence[TargetReport], output_format: str) -> str:
    """The reports in one of the formats, with a line end."""
    name = "text" if output_format == "text" else f"as_{output_format}"
    module = import_module(f"tclint.verify.report.{name}")
    rendered: str = module.render(reports, Path.cwd())
    text = printable(rendered, styled=output_format == "text")
    return text if text.endswith("\n") else text + "\n"


@contextmanager
def orderly_end() -> Iterator[None]:
    """Let a polite kill unwind like Ctrl-C does, so that children go and folders are removed."""

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    old = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)
