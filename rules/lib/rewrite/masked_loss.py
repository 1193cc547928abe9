"""``F.cross_entropy(x[mask], y[mask])``: a loss over some rows, computed for all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import AddArgument, Repair, Replace, Rewrite
from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..facts.known import certain_tensor
from ..facts.purity import is_pure
from ..facts.shapes import same_shape
from ..judge.no_rows import is_certain_mask
from ..judge.same_device import judge_chosen
from ..judge.verdict import Changes, Verdict, combine
from .proved import NO_TORCH, repair_as_proved

_OF_CLASSES: Final = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
_OF_PAIRS: Final = tuple(
    f"torch.nn.functional.{name}_loss" for name in ("huber", "l1", "mse", "smooth_l1")
)
"""Losses of two tensors that are zero where both are zero."""
_IGNORE: Final = "Compute the loss of all rows, and ignore those that the mask leaves out"
_ZERO: Final = "Compute the loss of all elements, with zeros for those left out"
_ALL: Final = (
    "the loss is computed for all rows, not only for those that `{}` selects; its last bits may "
    "differ, and infinity or NaN in another row makes gradients NaN"
)
_ORDER: Final = (
    "it adds in another order, so last bits may differ; the sum of half-precision numbers may "
    "overflow"
)
_FITS: Final = "the fix assumes that `{}` fits `{}`"
_CLASSES: Final = "the fix assumes that `{}` holds class indices as `torch.int64`"
_BOOLEAN: Final = "the fix assumes that `{}` is a boolean tensor"
_TOLD: Final = frozenset({"weight", "ignore_index", "reduction", "label_smoothing"})
_IGNORED: Final = "-100"
_CONVERTS: Final = frozenset({"contiguous", "float", "long"})


@record(frozen=True)
class _Loss:
    """``loss(guess[mask], target[mask].long())``, and what else it is told."""

    call: ast.Call
    guess: ast.Subscript
    target: ast.Subscript
    told: dict[str, ast.expr]

    @property
    def mask(self) -> ast.expr:
        return self.target.slice


def loss_of_all(site: Site, read: ast.AST) -> Repair | Decline | None:
    """Compute a loss for all rows where ``read`` is one of its arguments; None for other reads."""
    call = _given_to(site, read)
    name = site.dotted(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or name not in (*_OF_CLASSES, *_OF_PAIRS):
        return None
    loss = _loss(call)
    if loss is None or not _may_be_mask(site, loss.mask):
        return None
    if not all(is_pure(site, part) for part in (loss.mask, loss.guess.value, loss.target.value)):
        return None
    spelled = site.spell("torch.where")
    if spelled is None:
        return NO_TORCH
    if name in _OF_CLASSES:
        return _ignoring(site, loss, spelled)
    return _zeroing(site, loss, spelled)


def _given_to(site: Site, read: ast.AST) -> ast.AST | None:
    """The call that a read, or its conversion, is an argument of."""
    outer = site.parent(read)
    if isinstance(outer, ast.Attribute) and outer.attr in _CONVERTS:
        return site.parent(site.parent(outer) or outer)
    return outer


def _may_be_mask(site: Site, node: ast.expr) -> bool:
    """True for a mask, and for what has the name of one and a dtype that nobody knows."""
    tensor = certain_tensor(site, node)
    named = str(getattr(node, "attr", getattr(node, "id", ""))).lower().endswith("mask")
    unknown = tensor is not None and tensor.dtype is None and named
    return unknown or is_certain_mask(site, node)


def _loss(call: ast.Call) -> _Loss | None:
    told = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    plain = len(told) == len(call.keywords)
    given = [_converted(one) for one in call.args]
    match given:
        case [ast.Subscript() as guess, ast.Subscript() as target] if plain:
            same = ast.dump(guess.slice) == ast.dump(target.slice)
            return _Loss(call, guess, target, told) if same else None
    return None


def _converted(given: ast.expr) -> ast.expr:
    """What ``y[mask].long()`` converts."""
    match given:
        case ast.Call(func=ast.Attribute(value=inner, attr=attr), args=[], keywords=[]):
            return inner if attr in _CONVERTS else given
    return given


def _last_name(call: ast.expr) -> str:
    return (
        call.func.attr
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        else ""
    )


def _ignoring(site: Site, loss: _Loss, spelled: str) -> Repair | Decline | None:
    """Give the rows that are left out the class that is ignored."""
    target, mask = certain_tensor(site, loss.target.value), certain_tensor(site, loss.mask)
    if target is None or mask is None or not loss.told.keys() <= _TOLD:
        return None
    given = loss.call.args[1]
    is_long = _last_name(given) == "long"
    if (given is not loss.target and not is_long) or (not is_long and _is_other(target)):
        return None
    ignored, reduction = loss.told.get("ignore_index"), _reduction(loss)
    if reduction is None or (ignored is not None and not _is_number(ignored)):
        return None
    verdicts: list[Verdict] = [*_judge_fit(site, loss)]
    if not is_long and target.dtype is None:
        verdicts.append(Changes(_CLASSES.format(site.text(loss.target.value))))
    verdicts.append(Changes(_ALL.format(site.text(loss.mask))))
    told = site.text(ignored) if ignored is not None else _IGNORED
    rows, flat = ("", "") if mask.rank == 1 else (".flatten(0, -2)", ".flatten()")
    whole = "$target.long()" if is_long else "$target"
    parts: dict[str, ast.expr | ast.stmt] = {"mask": loss.mask, "target": loss.target.value}
    rewrites = (
        Replace(loss.guess, f"$guess{rows}", {"guess": loss.guess.value}),
        Replace(given, f"{spelled}($mask, {whole}, {told}){flat}", parts),
    )
    return repair_as_proved(combine(verdicts), _IGNORE, rewrites)


def _is_other(target: Tensor) -> bool:
    """True for a dtype that cannot hold the class that is ignored, or holds probabilities."""
    return target.dtype is not None and target.dtype.symbol != "int64"


def _zeroing(site: Site, loss: _Loss, spelled: str) -> Repair | Decline | None:
    """Give the elements that are left out a loss of zero."""
    reduction = _reduction(loss)
    ranks = {_rank(site, one) for one in (loss.mask, loss.guess.value, loss.target.value)}
    if reduction is None or not loss.told.keys() <= {"reduction", "beta", "delta"}:
        return None
    if None in ranks or len(ranks) > 1:
        return None
    rewrites: list[Rewrite] = [
        Replace(one, f"{spelled}($mask, $whole, 0)", {"mask": loss.mask, "whole": one.value})
        for one in (loss.guess, loss.target)
    ]
    verdicts = [*_judge_fit(site, loss), Changes(_ORDER)]
    if reduction == "mean":
        told = loss.told.get("reduction")
        if told is not None:
            rewrites.append(Replace(told, '"sum"'))
        else:
            rewrites.append(AddArgument(loss.call, '"sum"', keyword="reduction"))
        parts: dict[str, ast.expr | ast.stmt] = {"loss": loss.call, "mask": loss.mask}
        rewrites.append(Replace(loss.call, "$loss / $mask.sum()", parts))
    return repair_as_proved(combine(verdicts), _ZERO, tuple(rewrites))


def _reduction(loss: _Loss) -> str | None:
    """``"mean"`` or ``"sum"``; None for what gives more than one number, or is not known."""
    match loss.told.get("reduction", ast.Constant("mean")):
        case ast.Constant(value="mean" | "sum" as reduction):
            return str(reduction)
    return None


def _judge_fit(site: Site, loss: _Loss) -> Iterator[Verdict]:
    """Judge that the mask has a place for each row, or element."""
    if not is_certain_mask(site, loss.mask):
        yield Changes(_BOOLEAN.format(site.text(loss.mask)))
    yield judge_chosen(site, [loss.mask], [loss.target.value, loss.guess.value])
    for one in (loss.target.value, loss.guess.value):
        if not same_shape(site, loss.mask, one):
            yield Changes(_FITS.format(site.text(loss.mask), site.text(one)))


def _rank(site: Site, node: ast.expr) -> int | None:
    tensor = certain_tensor(site, node)
    return tensor.rank if tensor is not None else None


def _is_number(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) is int
