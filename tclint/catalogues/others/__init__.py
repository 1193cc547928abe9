"""Models of packages that no rule was written against: some clean, some known to break."""

from __future__ import annotations

from typing import Final

from tclint.catalogues.inputs import Model
from tclint.catalogues.others.attention import ATTENTION
from tclint.catalogues.others.backbones import BACKBONES
from tclint.catalogues.others.detection import DETECTION
from tclint.catalogues.others.graphs import GRAPHS
from tclint.catalogues.others.medical import MEDICAL
from tclint.catalogues.others.routing import ROUTING
from tclint.catalogues.others.speech import SPEECH

OTHERS: Final[tuple[Model, ...]] = (
    *GRAPHS, *MEDICAL, *BACKBONES, *DETECTION, *ATTENTION, *ROUTING, *SPEECH,
)  # fmt: skip
