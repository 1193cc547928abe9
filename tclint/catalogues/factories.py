"""Factories of the catalogues' models, for child processes under any Python.

Torch and the package are imported once a factory is called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tclint.catalogues import CATALOGUES, Model

MODES: Final = ("eval", "train")
# The models are made here; nothing may be looked for on a network.
_OFFLINE: Final = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

Made = tuple[Any, tuple[Any, ...], dict[str, Any]]


class Factories(Mapping[str, Callable[[], Made]]):
    """The models of one package, each as ``name/eval`` and ``name/train``."""

    def __init__(self, library: str) -> None:
        """Take those of the catalogues that are of that package."""
        self.library = library
        models = [model for found in CATALOGUES.values() for model in found]
        self._models = {model.name: model for model in models if model.library == library}

    def __getitem__(self, name: str) -> Callable[[], Made]:
        """The factory of a model in a mode."""
        model, _, mode = name.rpartition("/")
        if mode not in MODES:
            raise KeyError(name)
        return _factory(self._models[model], mode)

    def __iter__(self) -> Iterator[str]:
        """All names."""
        return (f"{name}/{mode}" for name in self._models for mode in MODES)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._models) * len(MODES)

    @property
    def families(self) -> dict[str, str]:
        """The names with the family of each."""
        return {name: self._models[name.rpartition("/")[0]].family for name in self}


def _factory(model: Model, mode: str) -> Callable[[], Made]:
    def make() -> Made:
        os.environ.update(_OFFLINE)
        from tclint.catalogues.build import build  # which imports torch

        module, arguments = build(model, mode)
        return module, (), arguments

    return make


TRANSFORMERS: Final = Factories("transformers")
DIFFUSERS: Final = Factories("diffusers")
TIMM: Final = Factories("timm")
TORCH_GEOMETRIC: Final = Factories("torch_geometric")
MONAI: Final = Factories("monai")
