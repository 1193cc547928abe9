"""Models of packages that no rule was written against: some clean, some known to break."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.inputs import Model
from benchmarks.catalogues.others.attention import ATTENTION
from benchmarks.catalogues.others.backbones import BACKBONES
from benchmarks.catalogues.others.detection import DETECTION
from benchmarks.catalogues.others.graphs import GRAPHS
from benchmarks.catalogues.others.medical import MEDICAL
from benchmarks.catalogues.others.routing import ROUTING
from benchmarks.catalogues.others.speech import SPEECH

OTHERS: Final[tuple[Model, ...]] = (
    *GRAPHS, *MEDICAL, *BACKBONES, *DETECTION, *ATTENTION, *ROUTING, *SPEECH,
)  # fmt: skip
