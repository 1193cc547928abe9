"""Where Python needs the value of a number that Dynamo holds as a 0-d tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .flow import End, Step, call_around, index_around, is_truth_test

# Methods and functions that take sizes, dimensions or positions, not elements.
_SIZED = """
    arange broadcast_to chunk diagonal empty expand eye flatten full linspace narrow
    new_empty new_full new_ones new_zeros ones pad permute rand randint randn randperm
    repeat repeat_interleave reshape roll select split squeeze swapaxes tile transpose
    unflatten unfold unsqueeze view zeros
"""
_SIZES = frozenset(_SIZED.split())
_CONVERTED = frozenset(("int", "float", "bool", "complex"))


def breaking_end(site: Site, way: Iterable[Step | End]) -> tuple[End, tuple[str, ...]] | None:
    """The first use that breaks the graph, and the ids that Dynamo may print for it.

    Measured for numpy's integers (``np.prod``) and floats (``np.sqrt``) apart: Dynamo converts a
    0-d float tensor that it computed from constants, but no integer one.
    """
    for end in way:
        if isinstance(end, End) and not end.lost:
            gb_ids = _gb_ids(site, end)
            if gb_ids:
                return end, gb_ids
    return None


def _gb_ids(site: Site, end: End) -> tuple[str, ...]:
    if is_truth_test(end):
        return ("GB0170",)
    call = call_around(site, end.use)
    name = (site.dotted(call.func) or "") if call is not None else ""
    if end.absolute and name in _CONVERTED:
        return ("GB0124",)
    if end.kind != "int":
        return ()
    if name == "range":
        return ("GB0059",)
    needed = name in _CONVERTED or name.startswith("math.") or index_around(site, end.use)
    sized = call is not None and _takes_sizes(site, call, name)
    return ("GB0033", "GB0208") if needed or sized else ()


def _takes_sizes(site: Site, call: ast.Call, name: str) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    of_torch = name.startswith("torch.") or isinstance(site.value(call.func.value), Tensor)
    return of_torch and call.func.attr in _SIZES
