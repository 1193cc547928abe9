"""Working out what is found in files: in this process, or in several."""

from __future__ import annotations

from collections.abc import Sequence

from tclint.lint.execution import Execution, Program, workers
from tclint.lint.outcome import Outcome
from tclint.lint.shards import Shard
from tclint.source.file import SourceFile


def examined(
    program: Program, parts: Sequence[Shard], execution: Execution
) -> tuple[list[Outcome], dict[str, SourceFile]]:
    """The outcomes of shards, worked out now, and files with findings that are in memory still."""
    # Imported here, because a run that the cache answers needs none of it.
    number = workers(parts, execution.jobs)
    if number > 1:
        from tclint.lint.parallel import examine_in_processes

        return examine_in_processes(program, parts, execution, number), {}
    from tclint.lint.examine import no_garbage_collection

    with no_garbage_collection():  # until the examiner is gone
        return _examined_here(program, parts, execution)


def _examined_here(
    program: Program, parts: Sequence[Shard], execution: Execution
) -> tuple[list[Outcome], dict[str, SourceFile]]:
    from tclint.lint.examine import Examiner

    examiner = Examiner(program)
    outcomes = []
    for shard in parts:
        outcomes.append(examiner.examine(shard, last=execution.ends and shard is parts[-1]))
        execution.count(shard)
    if execution.goes_on:
        examiner.forget()
    return outcomes, examiner.flagged if len(parts) == 1 else {}
