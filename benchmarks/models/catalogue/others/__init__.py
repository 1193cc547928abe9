"""Models of packages that no rule was written against: some clean, some known to break."""

from __future__ import annotations

from typing import Final

from benchmarks.models.catalogue.inputs import Model
from benchmarks.models.catalogue.others.attention import ATTENTION
from benchmarks.models.catalogue.others.backbones import BACKBONES
from benchmarks.models.catalogue.others.detection import DETECTION
from benchmarks.models.catalogue.others.graphs import GRAPHS
from benchmarks.models.catalogue.others.medical import MEDICAL
from benchmarks.models.catalogue.others.routing import ROUTING
from benchmarks.models.catalogue.others.speech import SPEECH

OTHERS: Final[tuple[Model, ...]] = (
    *GRAPHS, *MEDICAL, *BACKBONES, *DETECTION, *ATTENTION, *ROUTING, *SPEECH,
)  # fmt: skip
