"""What an attack consists of: kinds of it, inputs that have numbers, and what came of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Slice:
    """Inputs ``first`` to ``first + count - 1`` of a kind; each is made of the seed and its number.

    ``folder`` is empty and is theirs; it goes away when nothing failed.
    """

    seed: int
    first: int
    count: int
    folder: Path

    @property
    def numbers(self) -> range:
        """The numbers of the inputs."""
        return range(self.first, self.first + self.count)

    def chance(self, number: int) -> random.Random:
        """The dice of one input: the same for its number whichever slice it is in."""
        return random.Random(f"{self.seed}:{number}")


@dataclass(frozen=True, slots=True)
class Tried:
    """One input that was tried.

    ``seen`` are words that are counted over all inputs: which sort it was of, how far it came.
    """

    number: int
    what: str
    failure: str | None = None
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of attack.

    ``count`` is how many inputs the whole attack tries, ``share`` how many of them one process
    takes at a time.
    """

    name: str
    count: int
    share: int
    tried: Callable[[Slice], Iterator[Tried]]

    @property
    def about(self) -> str:
        """The first line of what the kind's file says about it."""
        text = getattr(__import__(self.tried.__module__, fromlist=["__doc__"]), "__doc__", "")
        return str(text).strip().splitlines()[0].replace("``", "`")
