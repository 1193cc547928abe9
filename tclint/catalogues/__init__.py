"""The models of the benchmark: how each is made tiny, and what it is called with."""

from __future__ import annotations

from typing import Final

from tclint.catalogues.audio import AUDIO
from tclint.catalogues.diffusion import DIFFUSION
from tclint.catalogues.inputs import Input, Made, Model
from tclint.catalogues.multimodal import MULTIMODAL
from tclint.catalogues.newer import NEWER
from tclint.catalogues.others import OTHERS
from tclint.catalogues.text import TEXT
from tclint.catalogues.timm_models import TIMM
from tclint.catalogues.vision import VISION

MODELS: Final[tuple[Model, ...]] = (*TEXT, *VISION, *AUDIO, *MULTIMODAL, *DIFFUSION, *NEWER)

CATALOGUES: Final = {"transformers": MODELS, "others": OTHERS, "timm": TIMM}

__all__ = ["CATALOGUES", "MODELS", "Input", "Made", "Model"]
