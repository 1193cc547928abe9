"""The repair of a host read: leave the value on the device, as the 0-d tensor that it is."""

from __future__ import annotations

import ast
import struct
from typing import Final

from tclint import torch_facts
from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import HostRead
from tclint.semantics.ownership import is_consumed, is_fresh, is_private
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor
from tclint.torch_facts.dynamo_settings import SCALARS

from ..facts.uses import Uses, uses_of
from ..judge.certainty import tensors_only
from ..judge.declared import takes_numbers
from ..judge.numbers import Number, bound_of
from ..judge.raising import cannot_raise, is_ordering
from ..judge.same_device import Whereabouts
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .number_as_tensor import Way
from .proved import repair_as_proved

_ONE = Changes("a tensor with several elements raises a different error, or none")
_CONVERSIONS = ("float", "int", "bool", "complex")
"""These take Python numbers as well; the methods of tensors do not."""

_NO_GRADIENT: Final = "torch.no_grad"
_GRADIENT_MODES: Final = (
    _NO_GRADIENT, "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled",
)  # fmt: skip


def repair_read(
    event: HostRead,
    template: str = "$source",
    read: Tensor | None = None,
    extra: Verdict = PROVED,
) -> Repair | Decline:
    """Replace a read by ``template`` on the device, as far as all uses of the number allow it.

    ``read`` is the tensor to judge promotion by, if it is not the event's own; ``extra`` is a
    verdict of the rule on the template itself.
    """
    site, node = event.site, event.node
    assert isinstance(node, ast.expr)
    literal = constant_content(site, event.source)
    if literal is not None and event.via == "item":
        return Repair("Use the number itself", (Replace(node, site.text(literal)),))
    if isinstance(node, ast.Call) and event.source is node.func:
        return Decline("the tensor is not named at the call that reads it")
    refusal = takes_numbers(site, event.source) if event.via in _CONVERSIONS else None
    if refusal is not None:
        return refusal
    uses = uses_of(site, node)
    if uses.lost and not uses.several:
        return Decline(f"{uses.lost}, so its uses cannot be followed")
    rank: Verdict = PROVED if event.tensor.rank == 0 else _ONE
    rank = combine([rank, tensors_only(site, event.source)])
    if uses.statement is not None:
        return _unused(event, uses, rank if template == "$source" else combine([extra, rank]))
    real = isinstance(event.source, ast.Call) and is_ordering(event.source)
    where = Whereabouts(site, event.source)
    way = Way(site, where, real=real)
    way.follow(node, Number(read or event.tensor, bound_of(site, event.source)))
    verdict = combine([extra, rank, way.verdict(), where.verdict()])
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    if event.via == "int" and way.kept and isinstance(way.verdict(), Changes):
        return Decline("`int` may make a size or an index for code that tclint does not follow")
    return _keep(event, template, way, verdict)


def _keep(event: HostRead, template: str, way: Way, verdict: Verdict) -> Repair | Decline:
    site, source = event.site, event.source
    assert isinstance(event.node, ast.expr)
    written = template if _has_no_gradient(event) else f"{template}.detach()"
    if event.tensor.rank != 0:
        written += ".reshape(())"
    if template == "$source" and not _may_share(site, event.node, source, way):
        written += ".clone()"
    around = way.rewrites.pop(event.node, None)
    if around is not None:
        written = around.template.replace("$number", written)
    rewrite = Replace(event.node, written, {"source": source})
    message = "Keep the value on the device as a 0-d tensor"
    return repair_as_proved(verdict, message, (rewrite, *way.rewrites.values()))


def _may_share(site: Site, read: ast.expr, source: ast.expr, way: Way) -> bool:
    """True where the tensor may keep the memory that the number was read from."""
    if way.written:
        return is_fresh(site, source)
    return is_private(site, source) or is_consumed(site, read)


def _unused(event: HostRead, uses: Uses, rank: Verdict) -> Repair | Decline:
    statement = uses.statement
    assert statement is not None
    if cannot_raise(event.site, event.source):
        return repair_as_proved(rank, "Remove the unused read", (Replace(statement, ""),))
    if isinstance(statement, ast.Expr):
        kept = Replace(event.node, "$source", {"source": event.source})
    else:
        written = "$source" if _has_no_gradient(event) else "$source.detach()"
        kept = Replace(event.node, written, {"source": event.source})
    return repair_as_proved(rank, "Do not read the unused value", (kept,))


def _has_no_gradient(event: HostRead) -> bool:
    """True for a whole number, and for what methods make of ``x.detach()`` and of constants.

    Also for what is computed where no gradients are recorded.
    """
    dtype, site = event.tensor.dtype, event.site
    if dtype is not None and dtype.concrete and dtype.category in ("int", "bool"):
        return True
    if _records_no_gradient(site, event.source) and is_fresh(site, event.source):
        return True
    made: ast.expr = event.source
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        if made.func.attr == "detach":
            return True
        given = [*made.args, *(keyword.value for keyword in made.keywords)]
        if not torch_facts.is_tensor_member(made.func.attr) or made.func.attr.endswith("_"):
            return False
        if not all(isinstance(argument, ast.Constant) for argument in given):
            return False
        made = made.func.value
    return False


def _records_no_gradient(site: Site, node: ast.expr) -> bool:
    """True below ``with torch.no_grad():``, and in a function with that decorator."""
    for outer in site.ancestors(node):
        if isinstance(outer, ast.With):
            for item in reversed(outer.items):
                given = item.context_expr
                entered = site.dotted(given.func) if isinstance(given, ast.Call) else None
                if entered in _GRADIENT_MODES:
                    return entered == _NO_GRADIENT
    decorators = () if site.function is None else site.function.decorators
    return [name for name in decorators if name in _GRADIENT_MODES] == [_NO_GRADIENT]


def constant_content(site: Site, node: ast.expr) -> ast.Constant | None:
    """The literal in ``torch.tensor(3.0)``, if no rounding happens on its way through float32."""
    if not isinstance(node, ast.Call) or site.dotted(node.func) != "torch.tensor":
        return None
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Constant):
        return None
    literal = node.args[0]
    value = literal.value
    if isinstance(value, float):
        try:
            exact = struct.unpack("f", struct.pack("f", value))[0] == value
        except OverflowError:
            return None
        return literal if exact else None
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return literal
    return None


def is_captured(event: HostRead) -> bool:
    """True where Dynamo traces reads of single numbers instead of breaking."""
    return event.site.has_setting(SCALARS)
