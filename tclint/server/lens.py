"""Code lenses: what in a file is compiled, and how often it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import ChainLink, Effect
from tclint.records import record

if TYPE_CHECKING:
    from tclint.server.document import Analysis


@record(frozen=True)
class Told:
    """What is said above a function that is compiled."""

    text: str
    row: int


def compiled_in(analysis: Analysis) -> Iterator[Told]:
    """The functions of a document that are compiled: where, and how often they break here."""
    path = str(analysis.document.path)
    for region in analysis.looked.regions:
        if region.root.filename != path:
            continue
        places = ", ".join(f"{Path(each.filename).name}:{each.row}" for each in region.places)
        where = f"Compiled at {places}" if places else "Compiled by other code"
        number = _break_count(analysis, region.root)
        breaks = "1 graph break" if number == 1 else f"{number or 'no'} graph breaks"
        yield Told(f"{where}: {breaks} in this file", region.root.row)


def _break_count(analysis: Analysis, root: ChainLink) -> int:
    found = [each.result.diagnostic for each in analysis.reported]
    roots = [one.chain[0] for one in found if one.effect is Effect.GRAPH_BREAK and one.chain]
    # The row of a step is that of the call that it makes.
    return sum(each[:2] == (root.function, root.filename) for each in roots)
