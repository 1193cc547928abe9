"""The models of the benchmark: how each is made tiny, and what it is called with."""

from __future__ import annotations

from typing import Final

from benchmarks.models.catalogue.audio import AUDIO
from benchmarks.models.catalogue.diffusion import DIFFUSION
from benchmarks.models.catalogue.inputs import Input, Made, Model
from benchmarks.models.catalogue.multimodal import MULTIMODAL
from benchmarks.models.catalogue.newer import NEWER
from benchmarks.models.catalogue.others import OTHERS
from benchmarks.models.catalogue.text import TEXT
from benchmarks.models.catalogue.vision import VISION

MODELS: Final[tuple[Model, ...]] = (*TEXT, *VISION, *AUDIO, *MULTIMODAL, *DIFFUSION, *NEWER)

CATALOGUES: Final = {"transformers": MODELS, "others": OTHERS}

__all__ = ["CATALOGUES", "MODELS", "Input", "Made", "Model"]
