"""What ``tclint verify`` does between its options and its exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from tclint.cli.progress import progress_bar
from tclint.cli.terminal import note

if TYPE_CHECKING:
    from tclint.config import Config
    from tclint.verify.results import TargetReport
    from tclint.verify.session import Comparison, Job


def run_jobs(
    jobs: Sequence[Job], comparison: Comparison, config: Config
) -> tuple[TargetReport, ...]:
    """Verify the jobs one by one, with a bar of progress where someone is watching."""
    from tclint.verify.session import verify_job

    reports = []
    with orderly_end(), progress_bar(len(jobs)) as show:
        for number, job in enumerate(jobs):

            def tell(doing: str, number: int = number, name: str = job.name) -> None:
                show(number, f"{name}: {doing}")

            reports.append(verify_job(job, Path.cwd(), comparison, config, tell))
    return tuple(reports)


def apply_baseline(
    reports: Sequence[TargetReport], path: Path, *, update: bool
) -> tuple[TargetReport, ...]:
    """Judge by the baseline instead of by zero breaks, or write what there is now."""
    from dataclasses import replace

    from tclint.verify.baseline import compare_baseline, read_baseline, write_baseline

    known, root = read_baseline(path), Path.cwd()
    if update:
        write_baseline(path, reports, known, root)
        note(f"wrote {path}")
        known = read_baseline(path)
    return tuple(
        replace(
            report,
            over_budget=(*report.over_budget, *compare_baseline(report, known, root)),
            allowed_breaks=sys.maxsize,
        )
        for report in reports
    )


def render(reports: Sequence[TargetReport], output_format: str) -> str:
    """The reports in one of the formats, with a line end."""
    from importlib import import_module

    name = "text" if output_format == "text" else f"as_{output_format}"
    module = import_module(f"tclint.verify.report.{name}")
    text: str = module.render(reports, Path.cwd())
    return text if text.endswith("\n") else text + "\n"


def fixer(config: Config, *, unsafe: bool = False) -> Callable[[Sequence[Path]], Mapping[str, str]]:
    """What ``tclint fix`` makes of some files, without writing them."""

    def fix(files: Sequence[Path]) -> Mapping[str, str]:
        from tclint.fix.apply import fix_files

        changed = fix_files(files, config, unsafe=unsafe).changed
        return {str(file.path.resolve()): file.after for file in changed}

    return fix


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
