"""What the process that children are forked from imports once for all of them."""

from __future__ import annotations

import contextlib
import importlib

import benchmarks.repair.child  # noqa: F401

# Where other packages are measured, it need not be there.
with contextlib.suppress(ImportError):
    importlib.import_module("transformers.modeling_utils")
