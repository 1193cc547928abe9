"""TCL106: reads of a tensor that look like none."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.semantics.lattice import may_be_tensor, options, tensor_in, tensor_on_some_paths
from tclint.semantics.site import Site
from tclint.semantics.values import Object, Sequence, Tensor
from tclint.torch_facts import is_tensor_member
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.facts.integers import is_integer
from ..lib.facts.likely_numbers import is_folded, is_likely_number, is_likely_number_everywhere
from ..lib.judge.certainty import is_certainly_tensor
from ..lib.judge.range_bounds import judge_torch_arange
from ..lib.judge.verdict import PROVED, Changes, Verdict, combine
from ..lib.rewrite.host_read import is_captured
from ..lib.rewrite.proved import repair_as_proved
from ..lib.rewrite.slice_store import store_by_mask
from ..lib.wording import ON_SOME_PATHS, consequence, loop_ids, renumbered, short

_TRACED_IF_CAPTURED = frozenset({"number", "slice"})
_NUMBERS = frozenset({"number", "slice", "index"})
_WHAT: Final = {
    "given": "The function that is passed reads `{}`",
    "number": "The tensor `{}` is read as a number",
    "slice": "A slice reads the tensor `{}`",
    "index": "A list is indexed by the tensor `{}`",
    "repeat": "A list is repeated by the tensor `{}`",
    "row": "The 0-d tensor `{}` is read as an index",
    "equal": "`{}` is read to return a `bool`",
    "allclose": "`{}` is read to return a `bool`",
    "is_nonzero": "`{}` is read to return a `bool`",
    "cov": "The data of `{}` is read",
    "corrcoef": "The data of `{}` is read",
    "branch": "The data of `{}` is read",
}
_MAYBE: Final = {
    "number": "`{}` may be a tensor, and is read as a number",
    "slice": "`{}` may be a tensor, and a slice reads it",
}
"""What is said of a tensor on some paths."""
_WAY_OUT: Final = {
    "given": "`torch.stack` the members and compute on the whole tensor",
    "number": "take sizes from shapes, or pass the number in as an argument",
    "slice": "mask what is out of range: `torch.arange(len({x}), device={x}.device) {sign} {n}`",
    "index": "`torch.stack` the members and use `torch.index_select`",
    "repeat": "make a tensor of the largest size and mask what is out of range",
    "row": "`x[i.reshape(1)].squeeze(0)` stays on the device",
    "equal": "`(a == b).all()` stays on the device",
    "allclose": "`torch.isclose(a, b).all()` stays on the device",
    "is_nonzero": "`x != 0` stays on the device",
}
_LONGEST_NAME: Final = 40
_WITH_RANGE: Final = "Count with `range`"
_LISTS: Final = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList")


class HiddenHostRead(Rule[HostRead]):
    """A tensor is used where Python or torch needs a number."""

    code = "TCL106"
    name = "hidden-host-read"
    summary = "A tensor used as a size, a bound or an index breaks the graph"
    instead = (
        "Take sizes and indices from shapes, mask instead of slicing, or pass the number in as "
        "an argument"
    )
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0124", "GB7000")
    settings = (SCALARS,)

    def check(self, event: HostRead) -> Finding | None:
        """Report the ways to read that have no name of their own."""
        site, kind = event.site, _kind_of(event)
        what = (_MAYBE if event.sometimes else _WHAT).get(kind)
        if what is None:
            return None
        if event.via in _NUMBERS and is_likely_number(site, event.source):
            return None
        if is_likely_number_everywhere(event):
            return None
        if is_captured(event) and event.via in _TRACED_IF_CAPTURED:
            return None
        source = _member(event)
        if event.via == "number" and is_folded(site, source):
            return None
        end = consequence(site, always=event.via == "slice")
        ids = ("GB0124",) if kind in ("slice", "index") else ("GB0033",)
        if kind == "index":
            ids = (renumbered(site, "GB0070", (2, 12), "GB0124"),)
        return Finding(
            f"{what.format(short(site, source))}{end}",
            Decline(ON_SOME_PATHS) if event.sometimes else _repair(event, source),
            node=source if event.via in _NUMBERS else None,
            gb_ids=loop_ids(site, *ids),
            cedes_to=site.facts.output,
            removed_by_settings=(SCALARS,) if _goes_when_captured(event, kind) else (),
        )


def _goes_when_captured(event: HostRead, kind: str) -> bool:
    """True for a size, and for a slice that no tensor beside it makes an index of rows."""
    if kind != "slice":
        return kind in _TRACED_IF_CAPTURED
    index = event.site.statement
    beside = (part for node in ast.walk(index) if isinstance(node, ast.Tuple) for part in node.elts)
    return not any(may_be_tensor(event.site.value(part)) for part in beside)


def _kind_of(event: HostRead) -> str:
    """How a value is read: ``"row"`` where a tensor is indexed, not a list."""
    node = event.node
    if event.via != "index" or not isinstance(node, ast.Subscript):
        return event.via
    return "row" if may_be_tensor(event.site.value(node.value)) else "index"


def _member(event: HostRead) -> ast.expr:
    """The tensor itself where it stands among other sizes."""
    if isinstance(event.source, (ast.Tuple, ast.List)):
        for part in event.source.elts:
            value = event.site.value(part)
            if tensor_in(value) or tensor_on_some_paths(value):
                return part
    return event.source


def _repair(event: HostRead, source: ast.expr) -> Repair | Decline:
    if event.via == "slice":
        stored = store_by_mask(event.site, event.source, event.site.statement)
        if isinstance(stored, Repair):
            return stored
    counted = _count_with_range(event.site, event.source) if event.via == "index" else None
    return counted or Advice(_way_out(event, source))


def _way_out(event: HostRead, member: ast.expr) -> str:
    """What stays on the device, with the names of the code where they are short."""
    site = event.site
    around = (one for one in site.ancestors(member) if isinstance(one, ast.Subscript))
    sliced = next(around, None)
    texts = {"n": site.text(member), "x": site.text(sliced.value) if sliced is not None else "x"}
    names = {name: text if len(text) <= _LONGEST_NAME else name for name, text in texts.items()}
    text = _WAY_OUT.get(_kind_of(event), "compute it outside of compiled code")
    bound = site.parent(member)
    below = isinstance(bound, ast.Slice) and bound.lower is member
    return text.format(**names, sign=">=" if below else "<")


def _count_with_range(site: Site, index: ast.expr) -> Repair | Decline | None:
    """Replace the ``torch.arange`` that ``index`` counts; None where it does not count one."""
    loop = _loop(site, index)
    if loop is None or not isinstance(loop.iter, ast.Call) or not isinstance(index, ast.Name):
        return None
    if not all(_is_position(site, load) for load in site.loads(index.id)):
        return Decline(f"`{index.id}` is used as more than a position")
    call = loop.iter
    if not call.args or any(isinstance(bound, ast.Starred) for bound in call.args):
        return None
    if any(keyword.arg != "device" for keyword in call.keywords):
        return Decline(f"`{site.text(call)}` may give numbers that `range` does not")
    if not all(is_integer(site, bound) for bound in call.args):
        return Decline(
            f"`range` takes integers, which the bounds of `{site.text(call)}` may not be"
        )
    bounds = judge_torch_arange(site, ast.Call(call.func, call.args, []))
    verdict = combine([bounds, *(_dimensions(site, load) for load in site.loads(index.id))])
    parts = {f"bound_{place}": bound for place, bound in enumerate(call.args)}
    counted = Replace(call, f"range({', '.join(f'${name}' for name in parts)})", parts)
    return repair_as_proved(verdict, _WITH_RANGE, (counted,))


def _loop(site: Site, index: ast.expr) -> ast.For | None:
    """The one loop over ``torch.arange`` that a variable belongs to."""
    match [one.node for one in site.flow.definitions(index)]:
        case [ast.For(target=ast.Name(), iter=ast.Call(func=function)) as loop]:
            return loop if site.dotted(function) == "torch.arange" else None
    return None


def _is_position(site: Site, load: ast.Name) -> bool:
    """True for ``i`` in ``x[i]``, ``x[i, 0]`` and ``layers[i]``: a number does the same there."""
    inner: ast.AST = load
    outer = site.parent(load)
    if isinstance(outer, ast.Tuple):
        inner, outer = outer, site.parent(outer)
    if not isinstance(outer, ast.Subscript) or outer.slice is not inner:
        return False
    kinds = list(options(site.value(outer.value)))
    if all(isinstance(kind, Tensor) for kind in kinds):
        return is_certainly_tensor(site, outer.value) or _is_no_mapping(site, outer.value)
    return inner is load and all(
        isinstance(kind, Sequence) or (isinstance(kind, Object) and kind.name in _LISTS)
        for kind in kinds
    )


def _is_no_mapping(site: Site, owner: ast.expr) -> bool:
    """True for a variable that is computed with: keys are found by what they are."""
    if not isinstance(owner, ast.Name):
        return False
    around = [site.parent(load) for load in site.loads(owner.id)]
    return any(
        (isinstance(outer, ast.BinOp) and not isinstance(outer.op, ast.BitOr))
        or (isinstance(outer, ast.Attribute) and is_tensor_member(outer.attr))
        for outer in around
    )


def _dimensions(site: Site, load: ast.Name) -> Verdict:
    """A tensor without dimensions refuses a number in other words than a tensor."""
    outer = next(node for node in site.ancestors(load) if isinstance(node, ast.Subscript))
    indexed = options(site.value(outer.value))
    known = all(value.rank for value in indexed if isinstance(value, Tensor))
    text = site.text(outer.value)
    return PROVED if known else Changes(f"the error message differs if `{text}` is 0-d")
