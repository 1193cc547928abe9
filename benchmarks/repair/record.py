"""What a child measures of one row with one source tree: plain data that travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BEFORE = "before"
AFTER = "after"
SAME = "identical"
ROUNDED = "equal within rounding"
"""Not the same bits, but no further from float64 than eager code before fixing is."""
UNSAFE = "unsafe"
SETTINGS = "settings"
VERIFIED = "verified"
TIERS = (AFTER, UNSAFE, SETTINGS, VERIFIED)
"""What is done to the package, each more than the one before it; settings edit no file."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to measure a row: with the sources of a ``tree``, and with settings of Dynamo or not.

    Where unsafe fixes change a row, what comes after them is tried on the safe ones.
    """

    name: str
    tier: str
    tree: str
    settings: bool = False


WAYS = (
    Way(BEFORE, BEFORE, BEFORE),
    Way(AFTER, AFTER, AFTER),
    Way(UNSAFE, UNSAFE, UNSAFE),
    Way("safe-settings", SETTINGS, AFTER, settings=True),
    Way(SETTINGS, SETTINGS, UNSAFE, settings=True),
)
VERIFIED_SETTINGS = "verified-settings"
"""What ``tclint fix --verify`` keeps of one row has settings, too; its tree is the row's own."""
TREES = (AFTER, UNSAFE)
KEPT = "kept.json"
"""The way that each row keeps, by name."""
_OWN = (
    Way(VERIFIED, VERIFIED, VERIFIED),
    Way(VERIFIED_SETTINGS, VERIFIED, VERIFIED, settings=True),
)
NAMED = {way.name: way for way in (*WAYS, *_OWN)}


@dataclass(frozen=True, slots=True)
class Site:
    """A graph break: the innermost line of the package, relative to the tree, and the reason."""

    file: str
    row: int
    gb_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One arm of one row; ``cls`` is the model's class.

    ``recompiles`` counts those of the second call; ``fullgraph`` is ``possible``, ``refused`` or
    ``unavailable``. ``eager`` and ``compiled`` say how results, gradients, buffers and the random
    state of the two kinds of call compare with the eager calls before fixing; ``messages`` whether
    eager code logs and warns the same. ``inductor`` compares the default backend with eager calls
    of the same code. It and ``fullgraph`` are empty where nothing broke before, or nobody asked.
    ``loaded`` holds the package's files that were imported, with a digest of each.
    """

    row: str
    arm: str
    cls: str = ""
    graphs: int = 0
    sites: tuple[Site, ...] = ()
    recompiles: int = 0
    fullgraph: str = ""
    eager: str = ""
    compiled: str = ""
    messages: str = ""
    inductor: str = ""
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    loaded: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None

    @property
    def breaks(self) -> int:
        """Graphs beyond the first."""
        return max(0, self.graphs - 1)

    def to_json(self) -> dict[str, Any]:
        """As plain types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Measured:
        """The inverse of :meth:`to_json`."""
        return cls(**{**data, "sites": tuple(Site(**one) for one in data["sites"])})
