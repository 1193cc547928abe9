"""TCL103: `.tolist()` in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.facts.lists import known_list
from ..lib.facts.purity import cannot_raise, is_pure
from ..lib.facts.uses import uses_of
from ..lib.rewrite.as_operator import as_operator
from ..lib.rewrite.empty_selection import writes_only_rows
from ..lib.rewrite.host_read import is_captured, repair_read
from ..lib.rewrite.range_loop import count_list

_FOR_ALL: Final = "Run the loop for every index in compiled code"
_ALSO_UNUSED: Final = (
    "compiled code also runs the loop for indices that are not selected: it is right where these "
    "select no rows inside; a parameter that is used for none gets a gradient of zeros, not None"
)
_ONCE: Final = "each index is taken once, as in a tensor of one dimension"
_SAME_LENGTH: Final = frozenset({"bool", "int", "long", "abs", "detach"})
_FUNCTIONS: Final = ("torch.nonzero", "torch.where")


class TolistInCompiledRegion(Rule[HostRead]):
    """Compiled code copies a whole tensor into a Python list."""

    code = "TCL103"
    name = "tolist-in-compiled-region"
    summary = "`.tolist()` in compiled code breaks the graph and copies the tensor to the host"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0109", "GB0033")
    settings = (SCALARS,)

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless an integer tensor of a known length is traced through."""
        if event.via != "tolist":
            return None
        dtype = event.tensor.dtype
        category = dtype.category if dtype else None
        if is_captured(event) and category == "int" and _asked(event.site, event.source) is None:
            return None
        ids = {"int": ("GB0033",), None: self.gb_ids}.get(category, ("GB0109",))
        assert isinstance(event.node, ast.expr)
        message = f"`{event.site.text(event.node)}` copies a tensor to the host"
        return Finding(
            message,
            _repair(event, event.node),
            gb_ids=ids,
            cedes_to=event.site.facts.output,
            goes_with=(SCALARS,) if category in ("int", None) and _are_lengths(event) else (),
            hatch=_run_for_all(event.site, event.node, event.source) or as_operator(event.site),
        )


def _are_lengths(event: HostRead) -> bool:
    """True for the lengths that `split` cuts a tensor into; `view` takes -1, too."""
    call = event.site.parent(event.node)
    func = call.func if isinstance(call, ast.Call) and event.node in call.args else None
    return isinstance(func, ast.Attribute) and func.attr in ("split", "split_with_sizes")


def _repair(event: HostRead, node: ast.expr) -> Repair | Decline:
    if event.tensor.rank == 0:
        return repair_read(event)
    known = known_list(event.site, event.source)
    if known is not None:
        return Repair("Use the list that the tensor was created from", (Replace(node, known),))
    counted = count_list(event.site, node, event.source)
    if counted is not None:
        return counted
    uses = uses_of(event.site, node)
    if uses.statement is not None and cannot_raise(event.site, event.source):
        return Repair("Remove the unused list", (Replace(uses.statement, ""),))
    return Decline("the surrounding code needs Python numbers")


def _run_for_all(site: Site, node: ast.expr, source: ast.expr) -> Repair | None:
    """Count over the length of `t` for ``for i in t.nonzero(as_tuple=True)[0].tolist():``."""
    asked = _asked(site, source)
    loop = _loop_over(site, node)
    if asked is None or loop is None or not is_pure(site, asked):
        return None
    tensor = tensor_in(site.value(asked))
    known = (1,) if isinstance(source, ast.Call) else (1, None)  # all indices in one: `flatten()`
    if tensor is None or tensor.rank not in known:
        return None
    if not _only_writes_rows(site, loop):
        return None
    spelled = site.spell("torch.compiler.is_compiling")
    if spelled is None:
        return None
    template = f"range(len($asked)) if {spelled}() else $node"
    rewrite = Replace(node, template, {"asked": _as_long(asked), "node": node})
    changes = _ALSO_UNUSED if tensor.rank == 1 else f"{_ALSO_UNUSED}; {_ONCE}"
    return Repair(_FOR_ALL, (rewrite,), Applicability.UNSAFE, changes)


def _asked(site: Site, source: ast.expr) -> ast.expr | None:
    """The tensor of one dimension whose indices are selected."""
    match source:
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=0)):
            return _selected(site, call, as_tuple=True)
        case ast.Call(func=ast.Attribute(value=ast.Call() as call, attr="flatten"), args=[]):
            return _selected(site, call, as_tuple=False)
        case ast.Subscript(
            value=ast.Call() as call,
            slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), ast.Constant(value=0)]),
        ):
            return _selected(site, call, as_tuple=False)
    return None


def _selected(site: Site, call: ast.Call, *, as_tuple: bool) -> ast.expr | None:
    dotted = site.dotted(call.func)
    of = call.args[0] if dotted in _FUNCTIONS and len(call.args) == 1 else None
    if of is None and isinstance(call.func, ast.Attribute) and not call.args:
        of = call.func.value if call.func.attr == "nonzero" else None
    pairs = any(
        keyword.arg == "as_tuple" and getattr(keyword.value, "value", None) is True
        for keyword in call.keywords
    )
    return of if (dotted == "torch.where" or pairs) is as_tuple else None


def _as_long(asked: ast.expr) -> ast.expr:
    """The shortest expression that is as long: what is compared, or converted."""
    match asked:
        case ast.Compare(left=left, comparators=[ast.Constant()]):
            return _as_long(left)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]) if (
            method in _SAME_LENGTH
        ):
            return _as_long(owner)
        case ast.Call(
            func=ast.Attribute(value=owner), args=[], keywords=[ast.keyword("dim", dims)]
        ):
            return owner if _are_all_others(dims) else asked
    return asked


def _are_all_others(dims: ast.expr) -> bool:
    """True for what leaves the first dimension where it leaves one: `(-1, -2)`, or `-1`."""
    try:
        given = ast.literal_eval(dims)
    except ValueError:
        return False
    numbers = {given} if isinstance(given, int) else set(given)
    count = len(numbers)
    return numbers in (set(range(-count, 0)), set(range(1, count + 1)))


def _only_writes_rows(site: Site, loop: ast.For) -> bool:
    """True where a round for an index that selects nothing leaves no trace."""
    if loop.orelse or not isinstance(loop.target, ast.Name):
        return False
    inside = {id(node) for statement in loop.body for node in ast.walk(statement)}
    index = loop.target.id
    if len(site.stores(index)) > 1 or any(id(read) not in inside for read in site.loads(index)):
        return False
    return writes_only_rows(site, loop.body, index)


def _loop_over(site: Site, node: ast.expr) -> ast.For | None:
    """The one loop that reads the list, if nothing else does."""
    uses = uses_of(site, node)
    if uses.lost or len(uses.nodes) != 1:
        return None
    loop = site.parent(uses.nodes[0])
    return loop if isinstance(loop, ast.For) and loop.iter is uses.nodes[0] else None
