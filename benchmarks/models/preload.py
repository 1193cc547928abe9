"""What the process that children are forked from imports, and compiles, once for all of them."""

from __future__ import annotations

import contextlib
import importlib

import torch

import benchmarks.models.child  # noqa: F401
from benchmarks.catalogues import CATALOGUES

LAZY = ("transformers.modeling_utils", "torch_geometric.nn", "monai.networks.nets")
LIBRARIES = {model.library for models in CATALOGUES.values() for model in models}

for name in sorted({*LIBRARIES, *LAZY}):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)

torch.set_num_threads(1)
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
torch.compiler.reset()
