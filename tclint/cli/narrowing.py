"""Which of the findings a run is asked about: new ones, or those on changed lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tclint.cli.exits import CLEAN
from tclint.cli.terminal import note, warn
from tclint.lint.engine import Run
from tclint.records import record
from tclint.report.view import count


@record(frozen=True)
class Narrowing:
    """What the command line says about it; ``since`` is a revision."""

    baseline: Path | None = None
    since: str | None = None


@record(frozen=True)
class Narrowed:
    """What is left of a run, and how many known findings were taken out."""

    run: Run
    known: int = 0


def require_narrowing(asked: Narrowing, files: Sequence[Path]) -> None:
    """Make sure that what it names is there, before all files are checked for nothing.

    Raises:
        BaselineError: the baseline cannot be used.
        ChangesError: Git cannot tell what has changed.
    """
    if asked.baseline is not None:
        from tclint.lint.baseline import read_baseline

        read_baseline(asked.baseline)
    if asked.since is not None:
        from tclint.git.changes import require_revision

        require_revision(asked.since, files)


def narrowed(run: Run, asked: Narrowing, files: Sequence[Path]) -> Narrowed:
    """Take out what is known or unchanged.

    Raises:
        BaselineError: the baseline cannot be used.
        ChangesError: Git cannot tell what has changed.
    """
    known, whole = 0, run
    if asked.baseline is not None:
        from tclint.lint.baseline import compare, read_baseline

        compared = compare(run, read_baseline(asked.baseline), files)
        run, known = compared.run, compared.known
        if compared.stale:
            entries = count(len(compared.stale), "entry", "entries")
            warn(
                f"{asked.baseline}: {entries} without a finding, such as {compared.stale[0]};"
                " --update-baseline removes them"
            )
    if asked.since is not None:
        # What talks to git takes long to import.
        from tclint.git.changes import changed

        run = replace(run, results=changed(run.results, asked.since))
    return Narrowed(_without_errors_of(whole, run), known)


def _without_errors_of(whole: Run, left: Run) -> Run:
    """What is left, without the errors that only findings told which are taken out."""
    gone = {*left.unread} - {*whole.unread}
    return replace(left, errors=tuple(error for error in left.errors if error not in gone))


def update_baseline(run: Run, file: Path, files: Sequence[Path]) -> int:
    """Make the findings of a run the known ones.

    Raises:
        BaselineError: the old baseline cannot be read, or the new one not written.
    """
    from tclint.lint.baseline import Baseline, read_baseline, updated, write_baseline

    before = read_baseline(file) if file.exists() else Baseline(file)
    after = updated(run, before, files)
    write_baseline(after)
    note(f"Wrote {file}: {count(sum(after.entries.values()), 'known finding')}.")
    return CLEAN
