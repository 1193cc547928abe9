"""What calls were measured to do when they are compiled, on each release.

The section ``skipped`` of ``lifetimes.json``: ``python -m scripts.torch_facts`` compiles each.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tclint.records import record
from tclint.torch_facts.lifetimes import FIRST, Lifetime, Version, lifetimes


@record(frozen=True)
class Skipped:
    """What Dynamo prints, and on which releases: on all where nothing else was measured.

    ``since`` is the first release on which the call breaks the graph, ``until`` the first that
    traces it again.
    """

    gb_id: str
    since: Version | None = None
    until: Version | None = None

    def holds(self, version: Version) -> bool:
        """Whether the call breaks the graph on that release."""
        return Lifetime(self.since or FIRST, self.until).holds(version)


def measured(dotted: str, version: Version) -> Skipped | None:
    """What the call of a function or a method was measured to do; None if it was not."""
    spans = measured_calls().get(dotted)
    if spans is None:
        return None
    gb_id = next((gb_id for gb_id, one in spans if one.holds(version)), spans[-1][0])
    since, last = min(one.since for _, one in spans), spans[-1][1]
    return Skipped(gb_id, since if since > FIRST else None, last.until)


def traced_since(dotted: str) -> Version | None:
    """The first release that traces a call on which older ones break; None for all others."""
    spans = measured_calls().get(dotted)
    return None if spans is None else spans[-1][1].until


@cache
def measured_calls() -> Mapping[str, list[tuple[str, Lifetime]]]:
    """What the calls of functions were measured to do, the oldest release first."""
    found: dict[str, list[tuple[str, Lifetime]]] = {}
    for entry, one in lifetimes("skipped").items():
        name, _, gb_id = entry.partition(":")
        found.setdefault(name, []).append((gb_id, one))
    return found
