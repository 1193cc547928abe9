"""What happens to one use of a number if a 0-d tensor takes its place?"""

from __future__ import annotations

import ast

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .arguments import certain_tensor, judge_argument
from .callers import why_not_followed
from .expected import why_expected
from .promotion import FLOAT_OF_INTEGER, ROUNDED, is_boolean, promotion
from .strings import enclosing_text, is_handed_out
from .verdict import PROVED, Changes, Refused, Verdict

_TYPE = "holds a tensor instead of a Python number"


def judge(site: Site, use: ast.expr, read: Tensor) -> Verdict:
    """Judge the place of ``use``, whose number was read from ``read``."""
    parent = site.parent(use)
    if isinstance(parent, ast.BinOp):
        return _arithmetic(site, parent, use, read)
    if isinstance(parent, ast.Compare):
        return _comparison(site, parent, use, read)
    if isinstance(parent, ast.AugAssign):
        return _augmented(site, parent, read)
    call = site.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call):
        return judge_argument(site, use, read)
    if isinstance(parent, ast.Assign):
        return _stored(site, parent.targets, read)
    if isinstance(parent, ast.FormattedValue):
        return _formatted(site, parent, read)
    if isinstance(parent, ast.Return):
        why = why_expected(site, use) or why_not_followed(site)
        return Refused(why) if why else Changes(f"the function's result {_TYPE}")
    if isinstance(parent, (ast.Dict, ast.List, ast.Tuple, ast.Set)):
        return _container(site, parent, use)
    return Refused(_refusal(parent))


def _refusal(parent: ast.AST | None) -> str:
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.BoolOp)):
        return "the number decides a branch"
    if isinstance(parent, ast.UnaryOp):
        return "Python computes with the number before it meets a tensor"
    if isinstance(parent, (ast.Subscript, ast.Slice)):
        return "the number indexes or slices"
    return "the number is used where a tensor may not be"


def _arithmetic(site: Site, node: ast.BinOp, use: ast.expr, read: Tensor) -> Verdict:
    other = node.right if node.left is use else node.left
    tensor = certain_tensor(site, other)
    if tensor is None:
        return _python_number(site, other)
    if isinstance(node.op, (ast.MatMult, ast.LShift, ast.RShift)):
        return Refused("the operator takes no 0-d tensor")
    verdict = _operator(node.op, tensor, read)
    if verdict == PROVED and isinstance(node.op, ast.Div) and node.left is use:
        return Changes("`number / tensor` rounds twice, `tensor / tensor` once")
    return verdict


def _python_number(site: Site, other: ast.expr) -> Verdict:
    if any(isinstance(v, Tensor) for v in options(site.value(other))):
        return Refused(f"`{site.text(other)}` is not always a tensor")
    return Refused(f"`{site.text(other)}` is not known to be a tensor or a number")


def _comparison(site: Site, node: ast.Compare, use: ast.expr, read: Tensor) -> Verdict:
    plain = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    if len(node.ops) != 1 or not isinstance(node.ops[0], plain):
        return Refused("the number is compared by `in`, `is` or in a chain")
    other = node.comparators[0] if node.left is use else node.left
    tensor = certain_tensor(site, other)
    return _python_number(site, other) if tensor is None else promotion(tensor, read)


def _augmented(site: Site, node: ast.AugAssign, read: Tensor) -> Verdict:
    target = certain_tensor(site, node.target)
    if target is None:
        return _python_number(site, node.target)
    return _operator(node.op, target, read)


def _operator(operator: ast.operator, tensor: Tensor, read: Tensor) -> Verdict:
    if isinstance(operator, ast.Sub) and is_boolean(read):
        return Refused("torch does not subtract boolean tensors")
    verdict = promotion(tensor, read)
    if verdict == PROVED and isinstance(operator, ast.Pow):
        return Changes("powers of special numbers (2, 0.5, -1) are computed by another kernel")
    return verdict


def _stored(site: Site, targets: list[ast.expr], read: Tensor) -> Verdict:
    target = targets[0]
    if len(targets) == 1 and isinstance(target, ast.Subscript):
        tensor = certain_tensor(site, target.value)
        if tensor is not None:
            return promotion(tensor, read)
    names = ", ".join(f"`{site.text(t)}`" for t in targets)
    return Changes(f"{names} {_TYPE}")


def _formatted(site: Site, field: ast.FormattedValue, read: Tensor) -> Verdict:
    """``f"{t:.2f}"`` writes a 0-d tensor like its number, and is made after the graph has run."""
    text = enclosing_text(site, field)
    exact = read.rank == 0 and read.dtype not in (FLOAT_OF_INTEGER, ROUNDED)
    if text is None or field.conversion != -1 or not exact or _is_for_integers(field, read):
        return Refused("the number is formatted")
    if not is_handed_out(site, text):
        return Refused("the number is formatted into a text that this code goes on to use")
    return PROVED


def _is_for_integers(field: ast.FormattedValue, read: Tensor) -> bool:
    """True for a format such as ``04d``, which raises for a float."""
    last = [*ast.walk(field.format_spec)][-1] if field.format_spec is not None else None
    code = last.value[-1:] if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""
    whole = read.dtype is not None and read.dtype.category in ("int", "bool")
    return code in tuple("bcdnoxX") and not whole


def _container(site: Site, node: ast.expr, use: ast.expr) -> Verdict:
    if isinstance(node, ast.Set) or (isinstance(node, ast.Dict) and use in node.keys):
        return Refused("the number is found by its hash, which each tensor has for itself")
    if isinstance(site.parent(node), ast.Subscript):
        return Refused("the number indexes or slices")
    if isinstance(site.parent(node), (ast.Call, ast.keyword)):
        return Refused("the number is used where a tensor may not be")
    why = why_expected(site, use)
    return Refused(why) if why else Changes(f"the {type(node).__name__.lower()} {_TYPE}")
