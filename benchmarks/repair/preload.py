"""What the process that children are forked from imports once for all of them."""

from __future__ import annotations

import importlib

import benchmarks.repair.child  # noqa: F401

importlib.import_module("transformers.modeling_utils")
