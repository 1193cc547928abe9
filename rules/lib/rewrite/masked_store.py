"""``x[mask] = f(y[mask])``: compute all elements, and let the mask choose where to store them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Static, SymInt
from tclint.torch_facts.pointwise import is_pointwise
from tclint.torch_facts.table import canonical

from ..facts.compiling import is_compiled_aside
from ..facts.known import certain_tensor, is_boolean
from ..facts.purity import is_pure
from ..facts.shapes import same_dtype, same_shape
from ..judge.aliases import is_own_result
from ..judge.arms import keeps
from ..judge.same_device import judge_chosen
from ..judge.saved_for_backward import judge_kept
from ..judge.verdict import Changes, Verdict, combine
from .as_written import as_written
from .proved import NO_TORCH, repair_as_proved

_MESSAGE: Final = "Compute all elements and store the masked ones"
_ALL: Final = (
    "all elements are computed, not only those that `{}` selects: it takes longer where they are "
    "few, infinity or NaN in another one, or computed from it, makes gradients NaN, dtypes that do "
    "not fit no longer raise, and last bits may differ"
)
_PLACES: Final = "the fix assumes that `{0}` has one element for each of `{1}`"
_PLAIN: Final = (DataScalar, Static, SymInt)
_OPERATORS: Final = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr,
    ast.BitXor, ast.LShift, ast.RShift,
)  # fmt: skip


@record()
class _Reads:
    """The tensors that an expression reads by one mask, whose syntax is ``key``."""

    key: str
    found: list[ast.expr] = field(default_factory=list)

    def reads(self, node: ast.AST) -> bool:
        """True for ``x[mask]``."""
        return isinstance(node, ast.Subscript) and ast.dump(node.slice) == self.key

    def unmasked(self, node: ast.expr) -> ast.expr:
        """The expression on all elements; its leaves are the nodes of the program."""
        if isinstance(node, ast.Subscript) and self.reads(node):
            self.found.append(node.value)
            return node.value
        changed = copy.copy(node)
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                setattr(changed, name, self.unmasked(child))
            elif isinstance(child, list):
                setattr(changed, name, [self._unmasked_part(part) for part in child])
        return changed if list(ast.iter_child_nodes(node)) else node

    def _unmasked_part(self, part: ast.AST) -> ast.AST:
        if isinstance(part, ast.keyword):
            return ast.keyword(arg=part.arg, value=self.unmasked(part.value))
        return self.unmasked(part) if isinstance(part, ast.expr) else part


def store_where(site: Site, read: ast.AST) -> Repair | Decline | None:
    """Rewrite the store that a read by a mask is for; None for reads that are for more."""
    statement = site.statement
    stored = _stored(statement)
    if stored is None or not any(part is read for part in ast.walk(statement)):
        return None
    target, value = stored
    spelled = site.spell("torch.where")
    if is_compiled_aside(site, statement):
        return Decline("this branch is kept for eager code and for other tensors")
    if spelled is None:
        return NO_TORCH
    reads = _Reads(ast.dump(target.slice))
    whole = reads.unmasked(value)
    if not reads.found:
        return None
    obstacle = next(_obstacles(site, target, value, whole, reads), None)
    if obstacle is not None:
        return Decline(obstacle)
    verdicts = [*_judge_fit(site, target, reads.found), *_judge_owner(site, target.value)]
    if not _is_exact(site, target, whole, reads.found):
        others = [one for one in reads.found if ast.dump(one) != ast.dump(target.value)]
        verdicts.append(judge_kept(site, statement, others, None))
        verdicts.append(Changes(_ALL.format(site.text(target.slice))))
    name, mask = site.text(target.value), site.text(target.slice)
    text = f"{name}.copy_({spelled}({mask}, {as_written(whole, site.text)}, {name}))"
    return repair_as_proved(combine(verdicts), _MESSAGE, (Replace(statement, text),))


def _stored(statement: ast.stmt) -> tuple[ast.Subscript, ast.expr] | None:
    """What is stored where; ``y[m] += w`` stores ``y[m] + w``."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            first = ast.Subscript(target.value, target.slice, ast.Load())
            return target, ast.copy_location(ast.BinOp(first, op, value), statement)
    return None


def _obstacles(
    site: Site, target: ast.Subscript, value: ast.expr, whole: ast.expr, reads: _Reads
) -> Iterator[str]:
    mask, owner = certain_tensor(site, target.slice), certain_tensor(site, target.value)
    text, name = site.text(target.slice), site.text(target.value)
    yield from _met(site, value, reads)
    if mask is None or not is_boolean(mask) or not is_pure(site, target.slice):
        yield f"`{text}` is not known to be a boolean tensor"
    if not is_pure(site, target.value):
        yield f"`{name}` may do more than compute"
    ranked = mask is not None and owner is not None and bool(mask.rank) and mask.rank == owner.rank
    if not ranked and not same_shape(site, target.slice, target.value):
        yield f"`{text}` may not have the shape of `{name}`"
    if keeps(site, whole, name):
        yield f"the backward pass needs what `{name}` held before the store"


def _met(site: Site, node: ast.expr, reads: _Reads) -> Iterator[str]:
    """The parts of a value that are not computed for each selected element by itself."""
    if reads.reads(node):
        return
    if not any(reads.reads(part) for part in ast.walk(node)):
        if not _is_same_for_all(site, node):
            yield f"`{site.text(node)}` may not be the same for all that the mask selects"
        return
    operands = _operands(site, node, reads)
    if operands is None:
        yield f"`{site.text(node)}` may depend on what else is selected"
    for operand in operands or ():
        yield from _met(site, operand, reads)


def _is_same_for_all(site: Site, node: ast.expr) -> bool:
    """True for a number, and for a tensor without dimensions."""
    tensor = certain_tensor(site, node)
    single = tensor is not None and tensor.rank == 0
    plain = all(isinstance(kind, _PLAIN) for kind in options(site.value(node)))
    return is_pure(site, node) and (single or plain)


def _operands(site: Site, node: ast.expr, reads: _Reads) -> list[ast.expr] | None:
    """What an operation computes with, element by element; None for any other."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            return [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return [operand]
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as function, args=given):
            dotted = canonical(site.dotted(function) or "")
            key, operands = (
                (dotted, given) if dotted.startswith("torch.") else (name, [owner, *given])
            )
            told = [keyword.value for keyword in node.keywords if keyword.arg in ("max", "min")]
            form = "".join(_letter(site, one, reads) for one in [*operands, *told])
            if len(told) == len(node.keywords) and is_pointwise(key, form):
                return [*operands, *told]
    return None


def _letter(site: Site, node: ast.expr, reads: _Reads) -> str:
    tensor = any(reads.reads(part) for part in ast.walk(node)) or certain_tensor(site, node)
    return "t" if tensor else "n"


def _is_exact(site: Site, target: ast.Subscript, whole: ast.expr, found: list[ast.expr]) -> bool:
    """True for elements that are only moved, and for integers, which raise for no element."""
    if not isinstance(target.value, ast.Name) or not same_dtype(site, target.value, *found):
        return False
    moved = isinstance(whole, ast.Name)
    return moved or (_is_integer(site, target.value) and _computes_integers(whole, target.value.id))


def _judge_fit(site: Site, target: ast.Subscript, found: list[ast.expr]) -> Iterator[Verdict]:
    """Where the mask does not fit, indexing by it raises; `torch.where` spreads an element."""
    mask, owner = target.slice, target.value
    yield judge_chosen(site, [mask], [owner])
    if not same_shape(site, mask, owner):
        yield Changes(
            f"if `{site.text(mask)}` does not fit `{site.text(owner)}`, the error differs, and a "
            "dimension of size 1 in it is broadcast"
        )
    for one in found:
        if not same_shape(site, owner, one):
            yield Changes(_PLACES.format(site.text(mask), site.text(one)))


def _judge_owner(site: Site, owner: ast.expr) -> Iterator[Verdict]:
    if not isinstance(owner, ast.Name) or not is_own_result(site, owner.id):
        yield Changes(
            f"`{site.text(owner)}` is written as a whole, which raises if it is expanded, or a "
            "leaf that requires grad"
        )


def _is_integer(site: Site, node: ast.expr) -> bool:
    tensor = certain_tensor(site, node)
    dtype = None if tensor is None else tensor.dtype
    return dtype is not None and dtype.category == "int"


def _computes_integers(node: ast.expr, root: str) -> bool:
    """True for sums and products with integers that are written out: they raise for no element."""
    match node:
        case ast.Name(id=name):
            return name == root
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return _computes_integers(operand, root)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            sides = (left, right)
            numbers = [isinstance(n, ast.Constant) and type(n.value) is int for n in sides]
            own = [_computes_integers(n, root) for n in sides]
            return sorted(numbers) == sorted(own) == [False, True]
    return False
