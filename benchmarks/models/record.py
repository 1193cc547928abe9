"""What a child measures of one model in one mode: plain data that travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Place = tuple[int, int, int, int]
"""The line and column where an expression begins, and those where it ends."""


@dataclass(frozen=True, slots=True)
class BreakSite:
    """A graph break at the innermost line of the package's own code.

    ``file`` is relative to the folder that the package lies in. ``gb_ids`` holds the break's own
    id first, then those of its consequences for the frame.
    """

    file: str
    row: int
    gb_ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class DroppedFrame:
    """A function that Dynamo gave up on: all of it runs eagerly, whatever else it holds."""

    file: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class Measured:
    """A model's first compiled call, and the lines of the package that an eager call executes.

    ``unreached`` are expressions of the same functions that it does not execute.
    """

    model: str
    cls: str
    mode: str
    package: str
    root: str
    versions: Mapping[str, str]
    seconds: float
    graphs: int
    breaks: tuple[BreakSite, ...]
    dropped: tuple[DroppedFrame, ...]
    executed: Mapping[str, tuple[int, ...]]
    failure: str | None = None
    unreached: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Measured:
        """The inverse of :meth:`to_json`."""
        values = dict(data)
        values["breaks"] = tuple(
            BreakSite(**{**one, "gb_ids": tuple(one["gb_ids"])}) for one in data["breaks"]
        )
        values["dropped"] = tuple(DroppedFrame(**one) for one in data["dropped"])
        values["executed"] = {file: tuple(rows) for file, rows in data["executed"].items()}
        values["unreached"] = {
            file: tuple((a, b, c, d) for a, b, c, d in places)
            for file, places in data.get("unreached", {}).items()
        }
        return cls(**values)


def failed(model: str, cls: str, mode: str, failure: str) -> Measured:
    """The record of a model that could not be measured."""
    return Measured(model, cls, mode, "", "", {}, 0.0, 0, (), (), {}, failure)
