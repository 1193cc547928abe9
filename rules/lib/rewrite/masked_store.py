"""``x[mask] = f(y[mask])``: compute all elements, and let the mask choose where to store them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import field
from textwrap import indent
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt
from tclint.torch_facts.pointwise import is_pointwise

from ..facts.compiling import is_compiled_aside, is_compiled_only
from ..facts.known import certain_tensor, constant, is_boolean, is_parameter
from ..facts.purity import is_pure
from ..facts.shapes import same_dtype, same_shape
from ..judge.aliases import is_let_go, is_own_result
from ..judge.arms import judge_arm, keeps
from ..judge.certainty import is_certainly_tensor, tensors_only
from ..judge.row_by_row import HOST, judge_rows
from ..judge.same_device import judge_chosen
from ..judge.saved_for_backward import judge_kept
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .as_written import as_written
from .proved import NO_TORCH, repair_as_proved

_MESSAGE: Final = "Compute all elements and store the masked ones"
_FLOATS: Final = (
    "In compiled code, compute all elements of floating-point tensors and store the masked ones; "
    "eager code stays as it is"
)
_FILL: Final = "Fill by the mask on the device"
_HALF_MAX: Final = 65504.0
_SUMMED: Final = "the gradient of `{}` is summed over all elements, so its last bits may differ"
_ZERO_DIM: Final = (
    "the last bits of the sum may differ if `{}` is 0-d and `{}` has a different dtype"
)
_ALL: Final = (
    "all elements are computed, not only those that `{}` selects: it takes longer where they are "
    "few, infinity or NaN in another one, or computed from it, makes gradients NaN, dtypes that do "
    "not fit no longer raise, and last bits may differ"
)
_PLACES: Final = "the fix assumes that `{0}` has one element for each row of `{1}`"
_LEAVES_OUT: Final = "the fix assumes that `{}` leaves out the last dimension of `{}`"
_SAVES_NOTHING: Final = frozenset("all any argmax argmin count_nonzero mean sum where".split())
_INTEGERS: Final = frozenset({"int8", "int16", "int32", "int64", "uint8"})
_REDUCTIONS: Final = frozenset("all amax amin any argmax argmin mean prod sum".split())
_NUMBERS: Final = ("bool", "float", "int")


@record()
class _Reads:
    """The tensors that an expression reads by one mask."""

    mask: str
    found: list[ast.expr] = field(default_factory=list)

    def reads(self, node: ast.AST) -> bool:
        """True for ``x[mask]``, ``x[mask, :]`` and ``x[mask, ...]``."""
        match node:
            case ast.Subscript(slice=ast.Tuple(elts=[mask, rest])) if is_whole(rest):
                return ast.dump(mask) == self.mask
            case ast.Subscript(slice=mask):
                return ast.dump(mask) == self.mask
        return False

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


@record(frozen=True)
class _Given:
    """A store, what it stores computed for all elements, and how each row is computed."""

    statement: ast.stmt
    target: ast.Subscript
    whole: ast.expr
    reads: _Reads
    cover: Cover | None
    alone: Verdict


def is_whole(node: ast.expr) -> bool:
    """True for ``:`` and ``...`` in an index."""
    if isinstance(node, ast.Slice):
        return node.lower is None and node.upper is None and node.step is None
    return isinstance(node, ast.Constant) and node.value is ...


def store_where(site: Site, read: ast.AST) -> Repair | Decline | None:
    """Rewrite the store that a read by a mask is for; None for reads that are for more."""
    statement = site.statement
    stored = _stored(statement)
    if stored is None or not any(part is read for part in ast.walk(statement)):
        return None
    target, value, operator = stored
    spelled = site.spell("torch.where")
    if is_compiled_aside(site, statement):
        return Decline("this branch is kept for eager code and for other tensors")
    if spelled is None:
        return NO_TORCH
    reads = _Reads(ast.dump(target.slice))
    joined = value if operator is None else _joined(statement, target, operator, value)
    whole = reads.unmasked(joined)
    if not reads.found:
        return None
    cover, alone = _judge_rows(site, target, joined, reads)
    if isinstance(alone, Refused):
        return Decline(alone.why)
    if cover is not None:
        here = judge_chosen(site, [target.slice], [target.value])
        cover = Cover(cover.left, combine([cover.verdict, here]))
    given = _Given(statement, target, whole, reads, cover, alone)
    obstacle = _obstacle(site, target, reads, cover)
    if obstacle or cover is None:
        return _store_rows(site, given) or Decline(obstacle)
    name = site.text(target.value)
    mask, text = _spread(site, target.slice, cover.left), as_written(whole, site.text)
    store = f"{name}.copy_({spelled}({mask}, {text}, {name}))"
    repair = _repair(site, statement, store, whole, reads.found[0], cover)
    if isinstance(repair, Repair):
        return repair
    return _store_rows(site, given) or repair


def fill_where(site: Site) -> Repair | Decline:
    """Rewrite a store of a number by a mask without dimensions: one value asks for all or none."""
    match site.statement:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=mask)], value=value) if (
            _is_written_number(value)
        ):
            pass
        case _:
            return Decline("what is stored is not a number that is written out")
    parts: dict[str, ast.expr | ast.stmt] = {"owner": owner, "mask": mask, "value": value}
    rewrite = Replace(site.statement, "$owner.masked_fill_($mask, $value)", parts)
    verdicts = [_judge_fill(site, owner, value), judge_chosen(site, [mask], [owner])]
    verdicts += [tensors_only(site, owner), tensors_only(site, mask)]
    return repair_as_proved(combine(verdicts), _FILL, (rewrite,))


def _is_written_number(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and isinstance(number.value, (bool, int, float))


def _judge_fill(site: Site, owner: ast.expr, value: ast.expr) -> Verdict:
    """Judge that the dtype holds the number: a store cuts it, `masked_fill_` raises."""
    number = constant(site, value)
    small = number is not None and abs(number) <= _HALF_MAX
    simple = isinstance(value, ast.Constant) and value.value in (0, 1)
    if simple or (small and _is_float(site, owner)):
        return PROVED
    return Changes(f"it raises if the dtype of `{site.text(owner)}` cannot hold {site.text(value)}")


def judge_store_around(site: Site, is_reduced: Callable[[ast.AST], bool]) -> Verdict:
    """Judge that a store by a mask can follow, once what it reduces is reduced otherwise."""
    stored = _stored(site.statement)
    if stored is None:
        return PROVED
    target, value, operator = stored
    reads = _Reads(ast.dump(target.slice))
    cover = cover_of(site, target.slice, target.value)
    left = cover.left if cover is not None else 0

    def read(node: ast.AST) -> int | None:
        return HOST if is_reduced(node) else _rank(site, node, target, reads, left)

    whole = value if operator is None else _joined(site.statement, target, operator, value)
    return judge_rows(site, whole, read, left)


def _joined(
    statement: ast.stmt, target: ast.Subscript, operator: ast.operator, value: ast.expr
) -> ast.expr:
    """What ``y[m] += w`` stores."""
    first = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(ast.BinOp(first, operator, value), statement)


def _judge_rows(
    site: Site, target: ast.Subscript, value: ast.expr, reads: _Reads
) -> tuple[Cover | None, Verdict]:
    """How the mask covers the target, and whether each row of the value is computed by itself.

    Where it is not known which dimensions the mask leaves out, it may be none, or the last one.
    """

    def judge(left: int) -> Verdict:
        return judge_rows(site, value, lambda node: _rank(site, node, target, reads, left), left)

    cover = cover_of(site, target.slice, target.value)
    alone = judge(cover.left if cover is not None else 0)
    if cover is not None or not isinstance(alone, Refused):
        return cover, alone
    if not _may_leave_out(site, target, value, reads):
        return None, alone
    texts = site.text(target.slice), site.text(target.value)
    along = judge(1)
    if isinstance(along, Refused):
        return None, alone
    return Cover(1, Changes(_LEAVES_OUT.format(*texts))), along


def _rank(site: Site, node: ast.AST, target: ast.Subscript, reads: _Reads, left: int) -> int | None:
    """The number of dimensions in a row of what is read by the mask; None for other nodes."""
    if not isinstance(node, ast.Subscript) or not reads.reads(node):
        return None
    if ast.dump(node.value) == ast.dump(target.value):
        return left
    mask, owner = certain_tensor(site, target.slice), certain_tensor(site, node.value)
    if mask is None or owner is None or mask.rank is None or owner.rank is None:
        return left
    return max(owner.rank - mask.rank, 0)


def _may_leave_out(site: Site, target: ast.Subscript, value: ast.expr, reads: _Reads) -> bool:
    """True where rows are given to a call, and nothing says that the mask covers all dimensions."""
    calls = [part for part in ast.walk(value) if isinstance(part, ast.Call)]
    if not any(reads.reads(part) for call in calls for part in ast.walk(call)):
        return False
    mask, owner = certain_tensor(site, target.slice), certain_tensor(site, target.value)
    if mask is None or owner is None or mask.rank == 0:
        return False
    return owner.rank is None or (mask.rank is None and owner.rank > 1)


def _store_rows(site: Site, given: _Given) -> Repair | None:
    """Compute what is stored for all rows, where each row is certainly computed by itself.

    Not where the store is into memory that others may see and the backward pass needs: the rows
    that the mask selects were copies.
    """
    statement, target, cover, found = given.statement, given.target, given.cover, given.reads.found
    spelled = site.spell("torch.where")
    if cover is None or spelled is None or not _is_mask(site, target.slice):
        return None
    if not is_pure(site, target.value):
        return None
    name, mask = site.text(target.value), _spread(site, target.slice, cover.left)
    chosen = f"{spelled}({mask}, {as_written(given.whole, site.text)}, {name})"
    verdicts = [given.alone, cover.verdict, *_judge_stored(site, target)]
    own = isinstance(target.value, ast.Name) and is_own_result(site, target.value.id)
    line = f"{name}.copy_({chosen})"
    if _is_saved(site, given.whole, name):
        if not own or not is_let_go(site, statement, name, name):
            return None
        line = f"{name} = {chosen}{_cast(site, statement, target.value)}"
    others = [one for one in found if ast.unparse(one) != name]
    verdicts.append(judge_kept(site, statement, others, None))
    for one in found:
        if not same_shape(site, target.value, one):
            verdicts.append(Changes(_PLACES.format(site.text(target.slice), site.text(one))))
    verdicts.append(Changes(_ALL.format(site.text(target.slice))))
    repair = repair_as_proved(combine(verdicts), _MESSAGE, (Replace(statement, line),))
    return repair if isinstance(repair, Repair) else None


def _cast(site: Site, statement: ast.stmt, owner: ast.expr) -> str:
    """What keeps the dtype of a tensor that is computed with in place, where it is bound anew."""
    if not isinstance(statement, ast.AugAssign) or _is_number(site, statement.value):
        return ""
    one, other = certain_tensor(site, owner), certain_tensor(site, statement.value)
    known = one is not None and other is not None and one.dtype == other.dtype
    same = known and one is not None and one.dtype is not None
    return "" if same else f".to({site.text(owner)}.dtype)"


def _is_saved(site: Site, node: ast.expr, name: str, *, is_factor: bool = False) -> bool:
    """True where autograd may save the tensor ``name`` itself for the gradient of ``node``."""
    match node:
        case ast.Name() | ast.Attribute():
            return is_factor and ast.unparse(node) == name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_saved(site, operand, name)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_saved(site, left, name) or _is_saved(site, right, name)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            scaled = _is_number(site, right)
            saved = _is_saved(site, left, name, is_factor=not scaled)
            return saved or _is_saved(site, right, name, is_factor=True)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _SAVES_NOTHING:
            return any(_is_saved(site, one, name) for one in (owner, *node.args))
    return any(isinstance(part, ast.expr) and ast.unparse(part) == name for part in ast.walk(node))


def _is_mask(site: Site, node: ast.expr) -> bool:
    tensor = certain_tensor(site, node)
    return tensor is not None and is_boolean(tensor) and is_pure(site, node)


def _judge_stored(site: Site, target: ast.Subscript) -> Iterator[Verdict]:
    name = target.value.id if isinstance(target.value, ast.Name) else ""
    if not name or not is_own_result(site, name):
        yield Changes(
            f"`{site.text(target.value)}` is written as a whole, which raises if it is "
            "expanded, or a leaf that requires grad"
        )


def _stored(statement: ast.stmt) -> tuple[ast.Subscript, ast.expr, ast.operator | None] | None:
    """What is stored where, and the operator before ``=``."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value, None
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            return target, value, op
    return None


@record(frozen=True)
class Cover:
    """How many of the last dimensions a mask leaves out, and whether it certainly fits, there."""

    left: int
    verdict: Verdict


def cover_of(site: Site, mask: ast.expr, owner: ast.expr) -> Cover | None:
    """How a mask covers a tensor; None where that is not known.

    Where the mask does not fit, indexing by it raises; `torch.where` spreads a single element.
    """
    place = judge_chosen(site, [mask], [owner])
    if same_shape(site, mask, owner):
        return Cover(0, place)
    if _is_row_each(site, mask, owner):
        return Cover(1, place)
    found, tensor = certain_tensor(site, mask), certain_tensor(site, owner)
    if found is None or tensor is None or not found.rank or tensor.rank is None:
        return None
    left = tensor.rank - found.rank
    what = (
        f"if `{site.text(mask)}` does not fit `{site.text(owner)}`, the error differs, and a "
        "dimension of size 1 in it is broadcast"
    )
    return Cover(left, combine([Changes(what), place])) if left >= 0 else None


def _is_row_each(site: Site, node: ast.expr, owner: ast.expr) -> bool:
    """True for what is computed from ``x[..., 0]`` or ``x.sum(-1)``, for each row of its own."""
    match node:
        case ast.Name(id=name):
            stores = site.stores(name)
            made = site.parent(stores[0]) if len(stores) == 1 else None
            alone = not is_parameter(site, name) and not site.facts.loops
            plain = isinstance(made, ast.Assign) and made.targets == stores and alone
            return plain and isinstance(made, ast.Assign) and _is_row_each(site, made.value, owner)
        case ast.Compare(left=left, comparators=[right]) | ast.BinOp(left=left, right=right):
            parts = [side for side in (left, right) if not _is_number(site, side)]
            return bool(parts) and all(_is_row_each(site, part, owner) for part in parts)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=inner):
            return _is_row_each(site, inner, owner)
        case ast.Subscript(value=whole, slice=ast.Tuple(elts=[ast.Constant(value=first), last])):
            return first is ... and _is_place(last) and _is_same(site, whole, owner)
        case ast.Call(func=ast.Attribute(value=whole, attr=name), args=[], keywords=[]):
            return is_pointwise(name, "t") and _is_row_each(site, whole, owner)
        case ast.Call(func=ast.Attribute(value=whole, attr=name), args=[last], keywords=[]) | (
            ast.Call(
                func=ast.Attribute(value=whole, attr=name),
                args=[],
                keywords=[ast.keyword(arg="dim", value=last)],
            )
        ):
            tensor = certain_tensor(site, owner)
            is_last = name in _REDUCTIONS and ast.unparse(last) == "-1"
            ranked = tensor is not None and bool(tensor.rank)
            return is_last and ranked and _is_same(site, whole, owner)
    return False


def _is_number(site: Site, node: ast.expr) -> bool:
    return all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in _NUMBERS)
        for kind in options(site.value(node))
    )


def _is_place(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) is int


def _is_same(site: Site, whole: ast.expr, owner: ast.expr) -> bool:
    """True for a tensor of the same shape, whose variable has been bound once only."""
    names = [part for part in ast.walk(whole) if isinstance(part, ast.Name)]
    once = all(len(site.stores(name.id)) <= 1 for name in names)
    return once and same_shape(site, whole, owner)


def _obstacle(site: Site, target: ast.Subscript, reads: _Reads, cover: Cover | None) -> str:
    tensors = [target.value, *reads.found]
    names = [tensor.id for tensor in tensors if isinstance(tensor, ast.Name)]
    mask = certain_tensor(site, target.slice)
    if len(names) < len(tensors) or len({*names[1:]}) > 1:
        return "the mask selects from more than one tensor, or from one without a name"
    if mask is None or not is_boolean(mask) or not is_pure(site, target.slice):
        return f"`{site.text(target.slice)}` is not known to be a boolean tensor"
    if not is_own_result(site, names[0]):
        return f"`{names[0]}` may come from outside, or be a view of such a tensor"
    if cover is None or not same_shape(site, *tensors):
        return f"`{site.text(target.slice)}` may not have the shape of `{names[0]}`"
    if not same_dtype(site, *tensors):
        return f"`{names[0]}` and `{names[-1]}` may have different dtypes"
    return ""


def _spread(site: Site, mask: ast.expr, left: int) -> str:
    """The mask with a dimension of one element for each that it leaves out."""
    text = site.text(mask)
    if not left:
        return text
    plain = isinstance(mask, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return f"{text if plain else f'({text})'}[..., {', '.join(['None'] * left)}]"


def _repair(
    site: Site, statement: ast.stmt, store: str, computed: ast.expr, root: ast.expr, cover: Cover
) -> Repair | Decline | None:
    assert isinstance(root, ast.Name)
    if isinstance(computed, ast.Name):  # only moved: no arithmetic that could change the dtype
        return repair_as_proved(cover.verdict, _MESSAGE, (Replace(statement, store),))
    added, is_float = _added(site, statement, cover.left), _is_float(site, root)
    if _is_integer(site, root) and _computes_integers(computed, root.id):
        return repair_as_proved(cover.verdict, _MESSAGE, (Replace(statement, store),))
    if _category(site, root) not in ("float", None):
        return Decline(f"`{site.text(statement)}` may raise, or change the dtype of `{root.id}`")
    if added is not None:
        verdict = _judge_added(site, added, root)
    else:
        verdict = judge_arm(site, computed, root.id, {})
    kept = added is None and not isinstance(verdict, Refused) and keeps(computed, root.id)
    if is_float and kept:
        if _is_target(statement, root):
            return Decline(f"the backward pass needs what `{root.id}` held before the store")
        verdict = combine([verdict, judge_kept(site, statement, [root], None)])
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    rewrite, message = Replace(statement, store), _MESSAGE
    if not is_float:
        spelled = site.spell("torch.compiler.is_compiling")
        if spelled is None or is_compiled_only(site, statement):
            return None
        test = f"{spelled}() and {root.id}.is_floating_point()"
        split = f"if {test}:\n{indent(store, '    ')}\nelse:\n    $kept"
        rewrite, message = Replace(statement, split, {"kept": statement}), _FLOATS
    return repair_as_proved(combine([verdict, cover.verdict]), message, (rewrite,))


def _added(site: Site, statement: ast.stmt, most: int) -> ast.expr | None:
    """The tensor that is added to, or taken from, each element that the mask selects.

    It has no more dimensions than those that the mask leaves out.
    """
    match statement:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value):
            pass
        case ast.Assign(
            targets=[target],
            value=ast.BinOp(left=ast.Subscript() as left, op=ast.Add() | ast.Sub(), right=value),
        ) if ast.unparse(target) == ast.unparse(left):
            pass
        case _:
            return None
    tensor = certain_tensor(site, value)
    rank = tensor.rank if tensor is not None else None
    plain = rank is not None and rank <= most and is_certainly_tensor(site, value)
    return value if plain and is_pure(site, value) else None


def _category(site: Site, node: ast.expr) -> str | None:
    tensor = certain_tensor(site, node)
    return tensor.dtype.category if tensor is not None and tensor.dtype is not None else None


def _is_float(site: Site, node: ast.expr) -> bool:
    return _category(site, node) == "float"


def _is_integer(site: Site, node: ast.expr) -> bool:
    tensor = certain_tensor(site, node)
    dtype = tensor.dtype if tensor is not None else None
    return dtype is not None and dtype.symbol in _INTEGERS


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


def _judge_added(site: Site, added: ast.expr, root: ast.Name) -> Verdict:
    """A sum cannot make NaN of a gradient, but each element takes part in that of ``added``."""
    tensor, owner = certain_tensor(site, added), certain_tensor(site, root)
    dtype = tensor.dtype if tensor is not None else None
    category = dtype.category if dtype is not None else None
    text = site.text(added)
    if tensor is not None and tensor.rank:
        fits = Changes(
            f"the fix assumes that `{text}` has the dtype of `{root.id}` and fits its elements"
        )
        return combine([fits, _judge_sum(text, category)])
    if category in ("int", "bool"):
        return PROVED
    verdicts: list[Verdict] = [_judge_sum(text, category)]
    if owner is None or (not owner.rank and owner.dtype != dtype):
        verdicts.append(Changes(_ZERO_DIM.format(root.id, text)))
    if category != "float":
        verdicts.append(Changes(f"the fix assumes that `{text}` is real"))
    return combine(verdicts)


def _judge_sum(text: str, category: str | None) -> Verdict:
    """Judge the gradient of what is added to several elements."""
    if category in ("int", "bool"):
        return PROVED
    return Changes(_SUMMED.format(text), Change.ROUNDING)


def _is_target(statement: ast.stmt, root: ast.Name) -> bool:
    stored = _stored(statement)
    return stored is not None and ast.unparse(stored[0].value) == root.id
