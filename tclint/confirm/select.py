"""Find fixes that pass together, in few trials: delta debugging with blame.

A trial that fails often says who is at fault, such as the fix at whose line the graph still
breaks; those go at once. Where nobody can be blamed, the fixes are halved until the culprits are
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from tclint.records import record
from tclint.report.fixes.outcome import Ground, Reason

Key = TypeVar("Key", bound=Hashable)


@record(frozen=True)
class Problem(Generic[Key]):
    """What is wrong with a trial; ``blamed`` are the fixes at fault where that is known."""

    reason: Reason
    blamed: frozenset[Key] = frozenset()


Attempt = Callable[[frozenset[Key]], "Sequence[Problem[Key]] | None"]
"""Tries some fixes together: the problems, or None when no more trials are allowed."""

NOT_TRIED = Reason(Ground.NOT_TRIED, "not tried: the limit of runs was reached")


class Search(Generic[Key]):
    """One search; ``dropped`` says why fixes are not among those that pass."""

    def __init__(self, attempt: Attempt[Key]) -> None:
        """Start with nothing decided."""
        self._attempt = attempt
        self.dropped: dict[Key, Reason] = {}
        self._suspects: list[tuple[Key, frozenset[Key]]] = []

    def keep(self, keys: Sequence[Key]) -> frozenset[Key]:
        """The fixes among ``keys`` that pass together.

        What failed alone may pass beside what was kept after it, so it is tried once more.
        """
        kept = self._settle(frozenset(), list(keys))
        for key, beside in self._suspects:
            if kept != beside and self._attempt(kept | {key}) == []:
                kept |= {key}
                del self.dropped[key]
        return kept

    def _settle(self, kept: frozenset[Key], part: Sequence[Key]) -> frozenset[Key]:
        """Add to ``kept``, which passes, what passes beside it of ``part``."""
        if not part:
            return kept
        problems = self._attempt(kept | set(part))
        if problems is None:
            self._drop(part, NOT_TRIED)
            return kept
        if not problems:
            return kept | set(part)
        rest = self._without_blamed(part, problems)
        if len(rest) < len(part):
            return self._settle(kept, rest)
        if len(part) == 1:
            self._drop(part, problems[0].reason)
            self._suspects.append((part[0], kept))
            return kept
        middle = len(part) // 2
        return self._settle(self._settle(kept, part[:middle]), part[middle:])

    def _without_blamed(
        self, part: Sequence[Key], problems: Sequence[Problem[Key]]
    ) -> Sequence[Key]:
        for problem in problems:
            self._drop((key for key in part if key in problem.blamed), problem.reason)
        blamed = frozenset[Key]().union(*(problem.blamed for problem in problems))
        return [key for key in part if key not in blamed]

    def _drop(self, keys: Iterable[Key], reason: Reason) -> None:
        for key in keys:
            self.dropped.setdefault(key, reason)
