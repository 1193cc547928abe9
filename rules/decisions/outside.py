"""Where else a call can go that compiled code cannot make."""

from __future__ import annotations

_WAY_OUT = {
    "copy": "`t.clone()` copies a tensor, and `list(x)` or `dict(x)` a container",
    "dataclasses": "name the fields where they are needed, or ask an instance for its fields",
    "random": "`torch.rand` draws in the graph, `random.uniform` is traced",
    "torch.optim": "make it once, before the compiled function is called",
    "torch.manual_seed": "seed before the compiled function is called",
}
_OUTSIDE = (
    "call it before compiled code and pass the result in, keep it for eager code under "
    "`if not torch.compiler.is_compiling():`, or mark a helper with "
    "`torch.compiler.assume_constant_result` if its answer never changes"
)


def way_out(function: str) -> str:
    """What to do about a call of a function that Dynamo leaves to Python, by its dotted name."""
    if function.startswith("torch.optim."):
        return _WAY_OUT["torch.optim"]
    return _WAY_OUT.get(function) or _WAY_OUT.get(function.partition(".")[0], _OUTSIDE)
