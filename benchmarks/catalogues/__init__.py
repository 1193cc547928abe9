"""The models of the benchmark: how each is made tiny, and what it is called with."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.audio import AUDIO
from benchmarks.catalogues.diffusion import DIFFUSION
from benchmarks.catalogues.inputs import Input, Made, Model
from benchmarks.catalogues.multimodal import MULTIMODAL
from benchmarks.catalogues.newer import NEWER
from benchmarks.catalogues.others import OTHERS
from benchmarks.catalogues.text import TEXT
from benchmarks.catalogues.vision import VISION

MODELS: Final[tuple[Model, ...]] = (*TEXT, *VISION, *AUDIO, *MULTIMODAL, *DIFFUSION, *NEWER)

CATALOGUES: Final = {"transformers": MODELS, "others": OTHERS}

__all__ = ["CATALOGUES", "MODELS", "Input", "Made", "Model"]
