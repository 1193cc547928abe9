"""``for i in counts.nonzero()``: a loop over what is there becomes one over all indices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Facts, Site
from tclint.semantics.values import Object

from ..facts.selections import (
    Indices,
    Selection,
    indices_of,
    loop_over,
    one_for_each,
    selection_in,
)
from ..judge.no_rows import Rows, is_certain_mask, rows_of_round, trace_of
from .masked_store import store_where
from .selected_rows import compute_all_rows

_MESSAGE: Final = "Loop over all indices: an index that selects nothing changes nothing"
_COUNTS: Final = (
    "the loop runs for all indices: the fix assumes that `{}` counts what it selects, and "
    "parameters that were not used get a gradient of zero instead of None"
)
_IN_COMPILED: Final = "Run the loop for every index in compiled code"
_ALSO_UNUSED: Final = (
    "compiled code also runs the loop for indices that are not selected: this is correct only "
    "if they select no rows in the loop; a parameter that no selected index uses gets a "
    "gradient of zeros, not None"
)
_CHOOSES: Final = (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp)
"""A test of its own: rounds that it leaves out may select rows."""
_ONCE: Final = "each index is taken once, as in a tensor of one dimension"


def loop_over_all(site: Site, call: ast.expr) -> Repair | None:
    """Count with `range` where a loop adds nothing for the indices that ``call`` leaves out.

    Only where all that selects inside is rewritten as well: a break in the loop would come as
    often as there are indices.
    """
    selection = selection_in(site, call)
    if selection is None or not _is_of_one_dimension(site, selection, indices_of(site, selection)):
        return None
    indices = indices_of(site, selection)
    counted = one_for_each(site, selection.mask)
    found = _idle_loop(site, indices.value)
    if found is None or not isinstance(counted, ast.Name):
        return None
    loop, rows = found
    taken = _taken_out(site, loop, rows.index) if indices.rows else []
    if taken is None or not all(_is_rewritten(site, loop, one) for one in loop.body):
        return None
    parts: dict[str, ast.expr | ast.stmt] = {"counted": counted}
    counting = Replace(indices.value, "range($counted.shape[0])", parts)
    what = _COUNTS.format(site.text(counted))
    return Repair(_MESSAGE, (counting, *taken), Change.BEHAVIOUR, what)


def _is_of_one_dimension(site: Site, selection: Selection, indices: Indices) -> bool:
    """True for a tensor of one dimension; one of unknown rank unless its rows are joined."""
    tensor = tensor_in(site.value(selection.mask))
    rank = tensor.rank if tensor is not None else None
    return rank == 1 or (rank is None and not indices.flat)


def _idle_loop(site: Site, value: ast.expr) -> tuple[ast.For, Rows] | None:
    """The loop over the indices, where a round that selects nothing leaves no trace."""
    loop = loop_over(site, value)
    rows = rows_of_round(site, loop) if loop is not None else None
    if loop is None or rows is None:
        return None
    body = loop.body[1:] if _is_row(loop.body[0], rows.index) else loop.body
    bound_again = len(site.stores(rows.index)) > 1 and body is loop.body
    return None if bound_again or trace_of(site, body, rows) else (loop, rows)


def _is_rewritten(site: Site, loop: ast.For, statement: ast.stmt) -> bool:
    """True where every selection in a statement of the loop is computed for all rows instead."""
    loops = (*site.facts.loops, loop)
    for part in ast.walk(statement):
        if not isinstance(part, ast.stmt) or isinstance(part, ast.If):
            continue
        facts = Facts(loops, site.facts.tries, site.facts.contexts, site.facts.default_off)
        inside = Site(site.body, site.region, part, facts, site.chain, site.settings)
        for node, mask in _selecting(inside, part):
            done = store_where(inside, node) if mask else compute_all_rows(inside, node)
            if not isinstance(done, Repair):
                return False
    return True


def _selecting(site: Site, statement: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """The reads by a mask in a statement, with True, and its calls that select."""
    for part in ast.walk(statement):
        if isinstance(part, ast.Call) and selection_in(site, part) is not None:
            yield part, False
            continue
        read = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load)
        if read and isinstance(part, ast.Subscript) and is_certain_mask(site, part.slice):
            yield part, True


def _taken_out(site: Site, loop: ast.For, index: str) -> list[Rewrite] | None:
    """How the body takes the index out of its row, to be left out; None where it does more."""
    first = loop.body[0]
    if _is_row(first, index):
        return [Replace(first, "")]
    rewrites: list[Rewrite] = []
    for load in site.loads(index):
        outer = site.parent(load)
        match outer:
            case ast.Subscript(value=inner, slice=ast.Constant(value=0)) if inner is load:
                rewrites.append(Replace(outer, index))
            case ast.Subscript(value=whole, slice=inner) if inner is load:
                dropped = _squeezed(site, outer)
                if dropped is None and not isinstance(site.value(whole), Object):
                    return None
                if dropped is not None:
                    rewrites.append(Replace(dropped, "$part", {"part": outer}))
            case _:
                return None
    return rewrites


def _squeezed(site: Site, part: ast.Subscript) -> ast.Call | None:
    """The call of ``mask[i].squeeze(0)``."""
    method = site.parent(part)
    call = site.parent(method) if isinstance(method, ast.Attribute) else None
    match call:
        case ast.Call(func=ast.Attribute(attr="squeeze"), args=[ast.Constant(value=0)]):
            return call
    return None


def _is_row(statement: ast.stmt, index: str) -> bool:
    """True for ``i = i[0]``, which takes the index out of a row."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Subscript(value=ast.Name(id=read), slice=ast.Constant(value=0)),
        ):
            return name == read == index
    return False
