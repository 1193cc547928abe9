"""``ctc_loss(x, labels[mask], lengths, mask.sum(-1))``: give the loss the rows of labels.

The loss takes one row of targets for each sequence, and reads as many of a row as its length says.
A stable sort moves those that the mask selects to the front, in their order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor, Unknown

from ..facts.known import certain_tensor, is_boolean
from ..facts.purity import PURE, VIEWS, is_pure
from ..facts.reaching import binding_of
from ..facts.shapes import same_shape
from ..judge.verdict import Changes, Verdict, combine
from .ctc_operator import LOSS, arguments_of, flags_around, move_freely
from .proved import repair_as_proved

_MESSAGE: Final = "Give the loss one row of targets for each sequence"
_SORTS: Final = (
    "each row of targets is sorted by the mask first; without cuDNN, which takes targets in one "
    "dimension alone, last bits may differ on a GPU"
)
_ROWS: Final = "the fix assumes that `{}` has a row for each sequence"
_FITS: Final = "the fix assumes that `{}` fits `{}`"
_COUNT: Final = "`{}` is not known to count what `{}` selects in each row"
_LAST: Final = ("-1", "1")
_LOOKS: Final = ("device", "dtype", "gather", "masked_select", "shape")


def targets_in_rows(site: Site, read: ast.AST) -> Repair | Decline | None:
    """Leave out the selection whose result is only the targets of one loss; None for others."""
    found = _selected(site, read)
    call = _loss_of(site, read) if found is not None else None
    if found is None or call is None or not isinstance(read, ast.expr):
        return None
    labels, mask = found
    given = arguments_of(call)
    named = isinstance(read, ast.Call)
    rank = _rank(site, labels, named=named)
    if rank not in (None, 2) or not _may_select(site, mask, named=named):
        return None
    if not is_pure(site, labels) or not is_pure(site, mask) or not _is_batched(site, given):
        return None
    if not _counts(site, given.get("target_lengths"), mask):
        return Decline(_COUNT.format(site.text(given["target_lengths"]), site.text(mask)))
    plain = isinstance(labels, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    owner = "$labels" if plain else "($labels)"
    order = "(~$mask)" if plain and isinstance(mask, ast.Name) else "(~($mask))"
    text = f"{owner}.gather(-1, {order}.byte().argsort(dim=-1, stable=True))"
    rewrites: list[Rewrite] = [Replace(read, text, {"labels": labels, "mask": mask})]
    rewrites += _without_flags(site, call)
    scores = certain_tensor(site, given["log_probs"])
    known = rank is not None and scores is not None and scores.rank is not None
    verdict = combine(_judge(site, labels, mask, known=known))
    return repair_as_proved(verdict, _MESSAGE, tuple(rewrites))


def _selected(site: Site, read: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The labels and the mask of ``labels[mask]`` and ``labels.masked_select(mask)``."""
    match read:
        case ast.Subscript(value=labels, slice=mask):
            return labels, mask
        case ast.Call(func=function, args=[labels, mask], keywords=[]):
            return (labels, mask) if site.dotted(function) == "torch.masked_select" else None
        case ast.Call(func=ast.Attribute(value=labels, attr=name), args=[mask], keywords=[]):
            return (labels, mask) if name == "masked_select" else None
    return None


def _loss_of(site: Site, read: ast.AST) -> ast.Call | None:
    """The loss whose targets a selection is, and nothing else."""
    outer = site.parent(read)
    used: ast.AST = read
    match outer:
        case ast.Assign(targets=[ast.Name(id=name)]):
            loads = site.loads(name)
            if len(loads) != 1 or len(site.stores(name)) != 1 or is_nested(site, loads[0]):
                return None
            if binding_of(site, loads[0]) is not outer:
                return None
            used = loads[0]
    call = site.parent(used)
    call = site.parent(call) if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or site.dotted(call.func) != LOSS:
        return None
    plain = not any(isinstance(one, ast.Starred) for one in call.args)
    named = all(one.arg is not None for one in call.keywords)
    return call if plain and named and arguments_of(call).get("targets") is used else None


def _rank(site: Site, labels: ast.expr, *, named: bool) -> int | None:
    """The dimensions of labels; -1 for what may be no tensor.

    ``named``: `masked_select` is called, which nothing but tensors have.
    """
    kinds = [*options(site.value(labels))]
    ranks = {kind.rank for kind in kinds if isinstance(kind, Tensor)}
    others = [kind for kind in kinds if not isinstance(kind, Tensor)]
    if any(not isinstance(kind, Unknown) or not named for kind in others) or len(ranks) != 1:
        return -1
    return None if others else ranks.pop()


def _may_select(site: Site, mask: ast.expr, *, named: bool) -> bool:
    """True for a boolean tensor; `masked_select` raises for anything else."""
    kinds = [*options(site.value(mask))]
    tensors = [kind for kind in kinds if isinstance(kind, Tensor)]
    others = [kind for kind in kinds if not isinstance(kind, Tensor)]
    plain = all(isinstance(kind, Unknown) and named for kind in others)
    return plain and bool(tensors) and all(map(is_boolean, tensors))


def _is_batched(site: Site, given: dict[str, ast.expr]) -> bool:
    """True where the loss is given what it needs, and not one sequence alone."""
    scores = given.get("log_probs")
    tensor = certain_tensor(site, scores) if scores is not None else None
    told = "input_lengths" in given and "target_lengths" in given
    return told and tensor is not None and tensor.rank in (None, 3)


def _counts(site: Site, lengths: ast.expr | None, mask: ast.expr) -> bool:
    """True for ``mask.sum(-1)``, of the very mask that selects."""
    if isinstance(lengths, ast.Name):
        made = binding_of(site, lengths)
        alone = isinstance(made, ast.Assign) and _is_only_read(site, lengths.id)
        return alone and isinstance(made, ast.Assign) and _counts(site, made.value, mask)
    match lengths:
        case ast.Call(func=ast.Attribute(value=counted, attr="sum"), args=[last], keywords=[]) | (
            ast.Call(
                func=ast.Attribute(value=counted, attr="sum"),
                args=[],
                keywords=[ast.keyword(arg="dim", value=last)],
            )
        ) if ast.unparse(last) in _LAST:
            return _is_same(site, counted, mask)
    return False


def _is_same(site: Site, one: ast.expr, other: ast.expr) -> bool:
    """True for expressions with the same source and the same variables, which nobody changes."""
    if ast.dump(one) != ast.dump(other):
        return False
    for first, second in zip(_names(site, one), _names(site, other), strict=True):
        bound = binding_of(site, first)
        if bound is None or bound is not binding_of(site, second):
            return False
        if not _is_only_read(site, first.id):
            return False
    return True


def _names(site: Site, node: ast.expr) -> Iterator[ast.Name]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id not in site.module.imports:
            yield part


def _is_only_read(site: Site, name: str) -> bool:
    """True for a tensor that is only computed with: nothing changes what it holds."""
    return not any(is_nested(site, one) for one in site.body.names(name)) and all(
        _is_read(site, load) for load in site.loads(name)
    )


def _is_read(site: Site, load: ast.Name) -> bool:
    outer = site.parent(load)
    match outer:
        case ast.Attribute(attr=name):
            return name in PURE - VIEWS or name in _LOOKS
        case ast.Subscript(slice=index, ctx=ast.Load()):
            return index is load or _is_selection(site, outer)
        case ast.Compare() | ast.BinOp() | ast.UnaryOp():
            return True
        case ast.Call(func=function) | ast.keyword(value=function):
            call = outer if isinstance(outer, ast.Call) else site.parent(outer)
            assert isinstance(call, ast.Call)
            if function is load and isinstance(outer, ast.Call):
                return False
            return _selects(site, call) or site.dotted(call.func) == LOSS
    return False


def _is_selection(site: Site, node: ast.Subscript) -> bool:
    mask = certain_tensor(site, node.slice)
    return mask is not None and is_boolean(mask)


def _selects(site: Site, call: ast.Call) -> bool:
    method = isinstance(call.func, ast.Attribute) and call.func.attr == "masked_select"
    return method or site.dotted(call.func) == "torch.masked_select"


def _without_flags(site: Site, call: ast.Call) -> Iterator[Rewrite]:
    """Leave out ``cudnn.flags(enabled=False)``: cuDNN takes no rows of targets anyway."""
    for around in flags_around(site, call):
        if move_freely(site, around, call) and _turns_off(around):
            yield Replace(around, "$inner", {"inner": around.body[0]})


def _turns_off(around: ast.With | ast.AsyncWith) -> bool:
    match around.items:
        case [ast.withitem(context_expr=ast.Call(args=[], keywords=[only]))]:
            off = isinstance(only.value, ast.Constant) and only.value.value is False
            return only.arg == "enabled" and off
    return False


def _judge(site: Site, labels: ast.expr, mask: ast.expr, *, known: bool) -> Iterator[Verdict]:
    if not known:
        yield Changes(_ROWS.format(site.text(labels)))
    if not same_shape(site, labels, mask):
        yield Changes(_FITS.format(site.text(mask), site.text(labels)))
    yield Changes(_SORTS, Change.ROUNDING)
