"""TCL320: a Python range or a numpy array indexes a tensor."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorIndex
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static

from ..lib.judge.range_bounds import judge_torch_arange
from ..lib.judge.verdict import PROVED, Changes, Verdict, combine
from ..lib.rewrite.proved import repair_as_proved
from ..lib.rewrite.torch_name import torch_name

_COPIED = "is copied to the device on every call: the CPU waits"
_OF_ARRAYS = frozenset(("shape", "dtype", "device", "ndim", "size"))
_RANGES = ("range", "numpy.arange")


class RangeAsIndex(Rule[TensorIndex]):
    """A tensor is indexed by `range(n)`, `list(range(n))` or `np.arange(n)`."""

    code = "TCL320"
    name = "range-as-index"
    summary = "A Python range as an index is copied to the device, and each length compiles anew"
    instead = "Index with `torch.arange(n, device=x.device)`"
    on = TensorIndex
    effects = (Effect.RECOMPILE, Effect.HOST_SYNC)

    def check(self, event: TensorIndex) -> Finding | None:
        """Report the first range among the indices."""
        ranges = [(node, kind) for node, kind in event.items if kind != "list"]
        if not ranges:
            return None
        node, kind = ranges[0]
        site = event.site
        varying = kind != "numpy" and _is_varying(site, node)
        if event.tensor.device == "cpu" and not varying:
            return None  # an index of a tensor on the host stays there
        also = ", each length recompiles" if varying else ""
        return Finding(
            f"`{site.text(node)}` {_COPIED}{also}",
            fix=_use_arange(event, [node for node, _ in ranges]),
            node=node,
            effect=Effect.RECOMPILE if varying else Effect.HOST_SYNC,
        )


def _is_varying(site: Site, node: ast.expr) -> bool:
    """True unless the range has the same length on every call."""
    call = _range_call(site, node)
    if call is None:
        return True
    constant = all(isinstance(v, Static) for a in call.args for v in options(site.value(a)))
    sized = any(_is_len(site, part) for argument in call.args for part in ast.walk(argument))
    return sized or not constant


def _range_call(site: Site, node: ast.expr) -> ast.Call | None:
    """The ``range(...)`` or ``np.arange(...)`` that an index is, or is a list of."""
    if not isinstance(node, ast.Call):
        return None
    name = site.dotted(node.func)
    if name in ("list", "tuple") and len(node.args) == 1:
        return _range_call(site, node.args[0])
    return node if name in _RANGES else None


def _is_len(site: Site, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and site.dotted(node.func) == "len"


def _use_arange(event: TensorIndex, ranges: Sequence[ast.expr]) -> Repair | Decline:
    """Replace all ranges of a subscript by positions on the tensor's device."""
    site, tensor = event.site, event.subscript.value
    if not _is_plain(tensor):
        return Decline(f"`{site.text(tensor)}` would be evaluated twice")
    spelled = torch_name(site, "torch.arange")
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    verdicts: list[Verdict] = [
        PROVED
        if _has_device(event)
        else Changes(f"the fix assumes that `{site.text(tensor)}` is a tensor")
    ]
    rewrites: list[Rewrite] = [*imports]
    for node in ranges:
        call = _range_call(site, node)
        if call is None:
            return Decline(f"`{site.text(node)}` is not created here")
        verdicts.append(judge_torch_arange(site, call))
        names = [f"$bound{place}" for place in range(len(call.args))]
        parts = {f"bound{place}": bound for place, bound in enumerate(call.args)}
        template = f"{name}({', '.join(names)}, device=$tensor.device)"
        rewrites.append(Replace(node, template, {**parts, "tensor": tensor}))
    verdict = combine(verdicts)
    message = f"Use `{name}` on the tensor's device"
    return repair_as_proved(verdict, message, tuple(rewrites))


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _has_device(event: TensorIndex) -> bool:
    """True for a tensor; what is only believed to be one could be a dict, or a list.

    A variable that is asked for its shape or dtype is a tensor, or an array that has a device too.
    """
    site, owner = event.site, event.subscript.value
    if not event.tensor.assumed or not isinstance(owner, ast.Name):
        return not event.tensor.assumed
    asked = (site.parent(load) for load in site.loads(owner.id))
    return any(isinstance(node, ast.Attribute) and node.attr in _OF_ARRAYS for node in asked)
