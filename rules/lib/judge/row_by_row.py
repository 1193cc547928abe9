"""Does an expression compute each row of what it is given by itself?"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Final

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Object

from .verdict import PROVED, Changes, Refused, Verdict, combine

_POINTWISE: Final = frozenset(
    "abs add bfloat16 celu clamp clone contiguous cos div double elu erf exp expm1 float gelu half "
    "hardswish leaky_relu log log1p mish mul neg pow relu relu6 rsqrt selu sigmoid sign silu sin "
    "softplus sqrt square sub tanh to type where".split()
)
_LAST: Final = frozenset("chunk log_softmax mean norm normalize softmax sum unsqueeze var".split())
"""Functions that stay within a row where they are told the last dimension."""
_ENDS: Final = ("-1", "(-1,)", "[-1]")
_LINEAR: Final = frozenset("layer_norm linear matmul rms_norm".split())
_RANDOM: Final = frozenset("alpha_dropout dropout feature_alpha_dropout".split())
_MODULES: Final = frozenset(
    "CELU ELU Embedding GELU Hardswish Identity LayerNorm LeakyReLU Linear Mish RMSNorm ReLU ReLU6 "
    "SELU SiLU Sigmoid Softplus Tanh".split()
)
_MIXING: Final = (
    "BatchNorm", "SyncBatchNorm", "InstanceNorm", "GroupNorm", "Multihead", "Transformer", "LSTM",
    "GRU", "RNN", "Conv", "AvgPool", "MaxPool",
)  # fmt: skip
_ASSUMED: Final = (
    "the fix assumes that `{}` computes each row by itself, draws no random numbers and writes to "
    "no row"
)
_DRAWN: Final = "`{}` draws other random numbers, because it draws them for all rows"
_WRITES: Final = "`{}` may write to the rows"
_MIXED: Final = "`{}` may compute a row from other rows"


def judge_rows(site: Site, node: ast.expr, is_row: Callable[[ast.expr], bool]) -> Verdict:
    """Judge an expression whose leaves that pass ``is_row`` hold the rows.

    What else is computed with is the same for all rows, or torch would refuse to broadcast it.
    """
    if is_row(node) or not any(is_row(p) for p in ast.walk(node) if isinstance(p, ast.expr)):
        return PROVED
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            sides = (left,) if isinstance(op, ast.MatMult) else (left, right)
            if len(sides) > 1 or not _has(right, is_row):
                return combine([judge_rows(site, side, is_row) for side in sides])
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return judge_rows(site, operand, is_row)
        case ast.Compare(left=left, comparators=others):
            return combine([judge_rows(site, side, is_row) for side in (left, *others)])
        case ast.Subscript(value=whole, slice=index) if _keeps_rows(index):
            return judge_rows(site, whole, is_row)
        case ast.Call():
            return _judge_call(site, node, is_row)
    return Refused(_MIXED.format(site.text(node)))


def is_layer(site: Site, call: ast.Call, is_row: Callable[[ast.expr], bool]) -> bool:
    """True for what computes along the last dimension of its rows, as far as can be told."""
    dotted = site.dotted(call.func) or ""
    method = isinstance(call.func, ast.Attribute) and _has(call.func.value, is_row)
    if method or dotted.startswith("torch."):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted
        return name.rpartition(".")[2] in _LAST | _LINEAR
    return any(_has(one, is_row) for one in call.args)


def _has(node: ast.expr, is_row: Callable[[ast.expr], bool]) -> bool:
    return any(is_row(part) for part in ast.walk(node) if isinstance(part, ast.expr))


def _keeps_rows(index: ast.expr) -> bool:
    """True for ``[..., 0]``, ``[..., None]``, ``[:, None]`` and ``[:, :n]``."""
    match index:
        case ast.Tuple(elts=[ast.Constant(value=first), last]) if first is ...:
            return isinstance(last, (ast.Slice, ast.Constant))
        case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), *rest]):
            return all(isinstance(one, (ast.Slice, ast.Constant)) for one in rest)
    return False


def _judge_call(site: Site, call: ast.Call, is_row: Callable[[ast.expr], bool]) -> Verdict:
    if any(keyword.arg in ("inplace", "out") for keyword in call.keywords):
        return Refused(_WRITES.format(site.text(call)))
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    dotted = site.dotted(call.func) or ""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted.rpartition(".")[2]
    if dotted.startswith("torch."):
        inner = combine([judge_rows(site, one, is_row) for one in given])
        return combine([inner, _judge_named(site, call, name, call.args[1:], is_row)])
    if isinstance(call.func, ast.Attribute) and _has(call.func.value, is_row):
        inner = combine([judge_rows(site, one, is_row) for one in (call.func.value, *given)])
        return combine([inner, _judge_named(site, call, name, call.args, is_row)])
    if hasattr(builtins, dotted):
        return Refused(_MIXED.format(site.text(call)))  # `len`, `sum`
    inner = combine([judge_rows(site, one, is_row) for one in given])
    kinds = [*options(site.value(call.func))]
    several = sum(_has(one, is_row) for one in given) > 1
    if several and not all(isinstance(kind, Object) and kind.is_module for kind in kinds):
        return Refused(_MIXED.format(site.text(call)))  # one may tell how to group the other
    verdicts = [_judge_called(site, call, kind) for kind in kinds]
    return combine([inner, *verdicts])


def _judge_named(
    site: Site,
    call: ast.Call,
    name: str,
    rest: list[ast.expr],
    is_row: Callable[[ast.expr], bool],
) -> Verdict:
    """Judge a function or a method of torch by its name and what else it is given."""
    if name in _RANDOM:
        return Changes(_DRAWN.format(site.text(call.func)))
    last = {k.arg: k.value for k in call.keywords}.get("dim", rest[-1] if rest else None)
    within = (
        name in _POINTWISE
        or (name in _LINEAR and not any(_has(one, is_row) for one in rest))
        or (name in _LAST and last is not None and ast.unparse(last) in _ENDS)
        or (name in ("reshape", "view") and len(rest) == 2 and ast.unparse(rest[0]) == "-1")
    )
    return PROVED if within else Refused(_MIXED.format(site.text(call)))


def _judge_called(site: Site, call: ast.Call, kind: object) -> Verdict:
    """Judge a module, or what else is called."""
    text = site.text(call.func)
    if isinstance(kind, Object) and kind.cls is None:
        name = kind.name.rpartition(".")[2]
        settings = kind.site.keywords if isinstance(kind.site, ast.Call) else []
        if any(keyword.arg == "inplace" for keyword in settings):
            return Refused(_WRITES.format(text))
        if name in _MODULES:
            return PROVED
        if "Dropout" in name:
            return Changes(_DRAWN.format(text))
        if name.startswith(_MIXING):
            return Refused(_MIXED.format(text))
    return Changes(_ASSUMED.format(text))
