"""What a graph break costs where it stands, in words."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.diagnostics import Confidence
from tclint.semantics.events import Event
from tclint.semantics.site import Site
from tclint.torch_facts.lifetimes import Version

_LONGEST = 60


def short(site: Site, node: ast.expr) -> str:
    """The source text of an expression on one line, cut where it is long."""
    text = " ".join(site.text(node).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


NUMBER_INSTEAD: Final = (
    "Compute with {}, or read it before the compiled call and pass the number in"
)
"""What to do about a number that compiled code reads from a tensor."""
_REFUSED = ", which `fullgraph=True` does not allow"


def consequence(site: Site, around: ast.stmt | None = None, *, always: bool = False) -> str:
    """The end of a message: that compiling fails, or that more than a piece runs in eager.

    ``around`` is a statement whose own loop or `try` does not count; ``always`` says that Dynamo
    cannot go on behind the break wherever it is.
    """
    if _is_whole(site):
        return _REFUSED
    loops = [loop for loop in site.facts.loops if loop is not around]
    if loops or site.facts.tries:
        return f" in {'a loop' if loops else 'a `try`'}: the function runs eagerly"
    return f": the {'rest of the function runs eagerly' if always else 'graph breaks'}"


def dropped(site: Site) -> str:
    """The end of a message about what Dynamo cannot split a function at, in a loop or not."""
    return _REFUSED if _is_whole(site) else ": the function runs eagerly"


def _is_whole(site: Site) -> bool:
    return site.region is not None and site.region.fullgraph


def loop_ids(site: Site, *ids: str) -> tuple[str, ...]:
    """What Dynamo prints: the break's own ids, and the loop's around it."""
    return (*ids, "GB7000") if site.facts.loops else ids


def renumbered(site: Site, gb_id: str, since: Version, newer: str) -> str:
    """The id of a graph break on the torch that is targeted: from a release on it is another."""
    return newer if site.settings.target_torch >= since else gb_id


ON_SOME_PATHS: Final = "it is a tensor on some paths, and a number on the others"
"""Why what holds on some paths only is not rewritten."""


def at_most_medium(event: Event) -> Confidence:
    """The confidence of a finding that holds on some paths only."""
    return Confidence.LOW if event.site.facts.default_off else Confidence.MEDIUM


def lines(places: Sequence[ast.expr]) -> str:
    """Where else the same is done, as the end of a sentence: all of that has to go."""
    rows = [str(row) for row in sorted({place.lineno for place in places})]
    if not rows:
        return ""
    shown = f"s {', '.join(rows[:-1])} and {rows[-1]}" if len(rows) > 1 else f" {rows[0]}"
    return f"; see line{shown}, too"
