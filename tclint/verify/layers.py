"""The layers of the compiler, in the order in which code passes through them."""

from __future__ import annotations

LADDER = {
    "eager": "Dynamo (tracing)",
    "aot_eager": "AOTAutograd",
    "aot_eager_decomp_partition": "decompositions and the partitioner",
    "inductor": "Inductor",
}
"""Backends, each one layer deeper than the one before, and the layer that it adds."""
