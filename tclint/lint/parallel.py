"""Shards in several processes.

Where processes can be forked they inherit what is loaded already. Each takes the largest shard
left when it is done with one; the order of outcomes is that of the shards, whoever is faster.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final, cast

from tclint.lint.engine import Execution, Program, WorkerError, examined
from tclint.lint.examine import Examiner
from tclint.lint.outcome import Outcome
from tclint.lint.registry import load_rules
from tclint.lint.shards import Shard
from tclint.records import record

MOST: Final = 16
"""Processes unless somebody asks for more: each takes up to 800 MB."""
WORTH: Final = 2_000_000
"""Bytes of source that others must take off the longest of them to be worth their start."""


def examine_in_processes(
    program: Program, parts: Sequence[Shard], execution: Execution
) -> list[Outcome]:
    """The outcomes of shards, worked out by as many processes as ``execution`` says.

    One does it all where more would save nothing.

    Raises:
        ConfigError: the configured environment holds no packages.
        WorkerError: a process died.
    """
    number = min(execution.jobs or min(processors(), MOST), len(parts))
    sizes = [*map(_size, parts)]
    if sum(sizes) - max(*sizes, sum(sizes) // number) < WORTH:
        return examined(program, parts, replace(execution, jobs=1))[0]
    load_rules()  # before the forks, which then have them
    by_size = sorted(range(len(parts)), key=sizes.__getitem__)
    crew = _Crew(parts, execution, by_size)
    try:
        for _ in range(number):
            crew.hire(program)
        return crew.work()
    finally:
        crew.dismiss()


def _size(shard: Shard) -> int:
    """The bytes of a shard's files, as far as they are to be had."""
    total = 0
    for path in shard:
        with suppress(OSError):
            total += path.stat().st_size
    return total


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@record()
class _Crew:
    """The processes at work; ``tasks`` says which shard each of them has.

    ``left`` are the numbers of the shards that nobody has yet, the next one last.
    """

    parts: Sequence[Shard]
    execution: Execution
    left: list[int]
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    members: dict[Connection, BaseProcess] = field(default_factory=dict)
    tasks: dict[Connection, int] = field(default_factory=dict)

    def hire(self, program: Program) -> None:
        """Start a process. Threads of macOS's own libraries make forks unsafe there."""
        forks = sys.platform == "linux"
        context = get_context("fork") if forks else get_context("spawn")
        here, there = context.Pipe()
        # A fork that kept our ends of the pipes open would never notice that we have gone.
        inherited = [*self.members, here] if forks else []
        process = context.Process(target=_serve, args=(there, program, inherited))
        process.daemon = True
        process.start()
        there.close()
        self.members[here] = process

    def work(self) -> list[Outcome]:
        """Hand out all shards and collect their outcomes, in order."""
        for member in self.members:
            self._give(member)
        while self.tasks:
            for member in cast("list[Connection]", wait([*self.tasks])):
                self._take(member)
                self._give(member)
        return [self.outcomes[number] for number in range(len(self.parts))]

    def _give(self, member: Connection) -> None:
        if self.left:
            self.tasks[member] = self.left.pop()
            with suppress(BrokenPipeError):  # its death is noticed when nothing comes back
                member.send(self.parts[self.tasks[member]])

    def _take(self, member: Connection) -> None:
        number = self.tasks.pop(member)
        try:
            answer = member.recv()
        except (EOFError, OSError) as error:
            raise WorkerError(self._obituary(member, number)) from error
        if isinstance(answer, BaseException):
            raise answer
        self.outcomes[number] = answer
        self.execution.count(self.parts[number])

    def _obituary(self, member: Connection, number: int) -> str:
        process = self.members[member]
        process.join(1)
        code = process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        first, last = self.parts[number][0], self.parts[number][-1]
        return (
            f"a worker process {how} while it checked {first} to {last}; "
            "with --jobs 1 everything runs in one process"
        )

    def dismiss(self) -> None:
        """End all processes, whatever they are doing."""
        for member, process in self.members.items():
            member.close()
            process.kill()
        for process in self.members.values():
            process.join()


def _serve(line: Connection, program: Program, inherited: Sequence[Connection]) -> None:
    """Examine shards as they come in; runs in the worker process."""
    # Ctrl-C reaches the whole group: the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # the parent has said it
    for other in inherited:
        other.close()
    examiner: Examiner | None = None
    answer: Outcome | Exception
    with suppress(EOFError, BrokenPipeError):
        while True:
            shard = line.recv()
            try:
                examiner = examiner or Examiner(*program)
                answer = examiner.examine(shard)
            except Exception as error:  # noqa: BLE001 (raised again in the parent)
                answer = error
            line.send(answer)
