"""Shards in several processes.

Where processes can be forked they inherit what is loaded already. Each takes the largest shard
left when it is done with one; the order of outcomes is that of the shards, whoever is faster.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import cast

from tclint.children import FORKS, safe_spawning
from tclint.lint.examine import Examiner
from tclint.lint.execution import Execution, Program, WorkerError, size
from tclint.lint.outcome import Outcome
from tclint.lint.registry import load_rules
from tclint.lint.shards import Shard
from tclint.records import record


def examine_in_processes(
    program: Program, parts: Sequence[Shard], execution: Execution, number: int
) -> list[Outcome]:
    """The outcomes of shards, worked out by a ``number`` of processes.

    Raises:
        ConfigError: the configured environment holds no packages.
        WorkerError: a process died.
    """
    load_rules()  # before the forks, which then have them
    sizes = [*map(size, parts)]
    by_size = sorted(range(len(parts)), key=sizes.__getitem__)
    crew = _Crew(parts, execution, by_size)
    try:
        for _ in range(number):
            crew.hire(program)
        return crew.work()
    finally:
        crew.dismiss()


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
        """Start a process."""
        context = get_context("fork") if FORKS else get_context("spawn")
        here, there = context.Pipe()
        # A fork that kept our ends of the pipes open would never notice that we have gone.
        inherited = [*self.members, here] if FORKS else []
        process = context.Process(target=_serve, args=(there, program, inherited))
        process.daemon = True
        with safe_spawning():
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


def _end_with_parent() -> None:
    """End this process in the middle of its work where the parent was ended: nobody will ask."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _serve(line: Connection, program: Program, inherited: Sequence[Connection]) -> None:
    """Examine shards as they come in; runs in the worker process."""
    # Ctrl-C reaches the whole group: the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # the parent has said it
    for other in inherited:
        other.close()
    examiner: Examiner | None = None
    answer: Outcome | Exception
    with suppress(EOFError, BrokenPipeError):
        while True:
            shard = line.recv()
            try:
                examiner = examiner or Examiner(program)
                answer = examiner.examine(shard)
            except Exception as error:  # noqa: BLE001 (raised again in the parent)
                answer = error
            line.send(answer)
