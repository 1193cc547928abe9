"""The catalogues that come with tclint, as entry points name them."""

from __future__ import annotations

from typing import Final

from tclint.catalogues import factories
from tclint.catalogues.factories import Factories
from tclint.fleet.catalogue import Catalogue


def _catalogue(name: str, made: Factories) -> Catalogue:
    return Catalogue(made.library, f"{factories.__name__}:{name}", made.families)


TRANSFORMERS: Final = _catalogue("TRANSFORMERS", factories.TRANSFORMERS)
DIFFUSERS: Final = _catalogue("DIFFUSERS", factories.DIFFUSERS)
TIMM: Final = _catalogue("TIMM", factories.TIMM)
TORCH_GEOMETRIC: Final = _catalogue("TORCH_GEOMETRIC", factories.TORCH_GEOMETRIC)
MONAI: Final = _catalogue("MONAI", factories.MONAI)
