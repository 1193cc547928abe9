"""Inputs tried and failures, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.attack.kind import Kind, Tried


class Total:
    """What came of a kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.tried = 0
        self.failures = 0
        self._whats: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def add(self, found: Sequence[Tried]) -> None:
        """Count some more inputs."""
        self.tried += len(found)
        self.failures += sum(one.failure is not None for one in found)
        self._whats.update(one.what for one in found)
        self._seen.update(word for one in found for word in one.seen)

    @property
    def sorts(self) -> str:
        """What was tried, and what was seen on the way."""
        counted = [*sorted(self._seen.items())]
        return ", ".join(f"{count:,} {word}" for word, count in counted)

    def lines(self) -> Iterator[str]:
        """A line for the terminal."""
        sorts = f"  ({self.sorts})" if self.sorts else ""
        yield f"{self.kind.name:12} {self.tried:7,} tried {self.failures:4,} failed{sorts}"
