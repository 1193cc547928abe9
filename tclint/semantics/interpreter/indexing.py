"""Subscripts: tensors by anything, sequences and mappings by constants."""

from __future__ import annotations

import ast
from typing import Final

from tclint.regexes import regex
from tclint.semantics.events import DynamicShape, TensorIndex
from tclint.semantics.interpreter.attributes import record_item, typed_item
from tclint.semantics.interpreter.evaluate import evaluate, handles, need_number
from tclint.semantics.interpreter.expressions import element_of_mapping, host_read, number_read
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.iteration import as_tuple
from tclint.semantics.interpreter.operators import elements
from tclint.semantics.interpreter.parameters import is_mask
from tclint.semantics.interpreter.special import special
from tclint.semantics.lattice import (
    as_assumed,
    is_tensor,
    join,
    likely_tensor,
    options,
    spread,
    tensor_in,
)
from tclint.semantics.values import (
    STATIC,
    UNKNOWN,
    DataScalar,
    DType,
    External,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Union,
    Unknown,
    Value,
)


@handles(ast.Subscript)
def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    base = evaluate(frame, node.value)
    index = evaluate(frame, node.slice)
    if type(base) is not Union:
        return _item(frame, node, base, index)
    # What is empty on some paths is not asked for an item there.
    filled = [one for one in base.options if not (isinstance(one, Sequence) and one.items == ())]
    return spread(lambda one: _item(frame, node, one, index), join(filled) if filled else base)


@handles(ast.Slice)
def _slice(frame: Frame, node: ast.Slice) -> Value:
    for bound in (node.lower, node.upper, node.step):
        if bound is not None:
            value = evaluate(frame, bound)
            need_number(frame, bound, value, "slice")
            number_read(frame, bound, "slice", bound, value)
    return Static("slice")


_MEMBERS: Final = {
    "torch.cuda.default_generators": "torch.Generator",
    "torch.optim.param_groups": "torch.optim.param_group",
}


def _item(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    base = as_tuple(base)
    if isinstance(base, Tensor):
        return index_tensor(frame, node, base, store=False)
    need_number(frame, node.slice, index, _NEEDED_BY.get(type(base), "torch"))
    match base:
        case Sequence():
            return _sequence_item(frame, node, base, index)
        case Mapping():
            if isinstance(index, Static) and index.known:
                return base.get(index.value)
            return element_of_mapping(base)
        case NDArray() | Iteration(source="numpy"):
            return _of_array(frame, node, index)
        case Object(name=name, site=site) if name in _MEMBERS:
            return Object(_MEMBERS[name], site=site)
        case Object():
            return _item_of_object(frame, node, base, index)
        case DataScalar():
            return _number_item(frame, node, base, index)
        case Static():
            return STATIC
        case External(name=name) if name.startswith(("typing.", "builtins.")):
            return STATIC
        case Unknown():
            return _item_of_unknown(frame, node)
    return UNKNOWN


_NEEDED_BY: Final[dict[type[Value], str]] = {Mapping: "key", Sequence: "python", Static: "python"}


def _of_param_group(frame: Frame, group: Object, index: Value) -> Value:
    key = index.value if isinstance(index, Static) else None
    if key == "params":
        return Sequence("list", Tensor(role="parameter", why="parameter of an optimizer"))
    made = frame.analysis.optimizers.get(group.site) if group.site is not None else None
    return made.lr_value if key == "lr" and made is not None else UNKNOWN


def _of_array(frame: Frame, node: ast.Subscript, index: Value) -> Value:
    if isinstance(index, NDArray) and isinstance(node.slice, ast.Compare):
        frame.analysis.emit(
            frame,
            DynamicShape,
            node,
            via="mask",
            gb_id="GB0036",
            source=node.slice,
            tensor=Tensor(),
        )
    several = isinstance(index, Static) and index.type in ("slice", "NoneType", "ellipsis")
    if several or not isinstance(index, (Static, SymInt)):
        return NDArray()
    return NumpyScalar(origin="array" if frame.region is not None else "outside")


def _item_of_object(frame: Frame, node: ast.Subscript, base: Object, index: Value) -> Value:
    if base.name == "torch.optim.param_group":
        return _of_param_group(frame, base, index)
    known: Value = UNKNOWN
    if isinstance(index, Static) and type(index.value) is int:
        known = record_item(frame, base, index.value)
    elif isinstance(index, Static) and type(index.value) is str:
        known = typed_item(frame, base, index.value)
    if known is UNKNOWN:
        known = special(frame, node, base, "__getitem__", index) or UNKNOWN
    return known


def _item_of_unknown(frame: Frame, node: ast.Subscript) -> Value:
    """Only tensors are indexed so, and arrays, of which compiled code makes tensors."""
    if _has_mask(frame, node.slice):
        why = "indexed by a mask"
    elif frame.region is not None and _is_of_dimensions(node.slice):
        why = "indexed by dimensions"
    else:
        return UNKNOWN
    return index_tensor(frame, node, Tensor(assumed=True, why=why), store=False)


def _is_of_dimensions(index: ast.expr) -> bool:
    """True for ``x[:, 0]`` and ``x[..., 0]``."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    return any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is ...)
        for part in parts
    )


def _has_mask(frame: Frame, node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(_is_mask(tensor_in(frame.body.values.get(part, UNKNOWN))) for part in parts)


def _number_item(frame: Frame, node: ast.Subscript, base: DataScalar, index: Value) -> DataScalar:
    """A member of the list that `tolist` gave."""
    tensor = tensor_in(index)
    if base.type == "list" and tensor is not None:
        host_read(frame, node, "index", node.slice, tensor)
    return DataScalar()


def _sequence_item(frame: Frame, node: ast.Subscript, base: Sequence, index: Value) -> Value:
    index = special(frame, node, index, "__index__") or index
    tensor = tensor_in(index)
    if tensor is not None:
        host_read(frame, node, "index", node.slice, tensor)
        return elements(base)
    if isinstance(node.slice, ast.Slice):
        return _sliced(base, node.slice)
    if isinstance(index, Static) and index.known and isinstance(index.value, int):
        items = base.items or ()
        if -len(items) <= index.value < len(items):
            return items[index.value]
    return elements(base)


def _sliced(base: Sequence, node: ast.Slice) -> Value:
    bounds = [_integer(bound) for bound in (node.lower, node.upper, node.step)]
    if base.items is not None and all(known for known, _ in bounds):
        return Sequence(base.type, items=base.items[slice(*(number for _, number in bounds))])
    return Sequence(base.type, elements(base))


def _integer(node: ast.expr | None) -> tuple[bool, int | None]:
    """Whether a slice bound is written out, and its number."""
    match node:
        case None:
            return True, None
        case ast.Constant(value=int() as value):
            return True, value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return True, -value
    return False, None


def _need_drawn_members(frame: Frame, part: ast.expr, value: Value) -> None:
    """Note a list of drawn numbers: torch reads them all to make an index of it."""
    if isinstance(value, Sequence):
        for member in options(elements(value)):
            if isinstance(member, NumpyScalar) and member.is_drawn:
                need_number(frame, part, member, "torch")


def index_tensor(frame: Frame, node: ast.Subscript, tensor: Tensor, *, store: bool) -> Value:
    """Index a tensor, reporting the parts of the index that live on the host."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    values = [frame.body.values.get(part, UNKNOWN) for part in parts]
    found = [(part, kind) for part, value in zip(parts, values, strict=True)
             if not isinstance(part, ast.Starred)
             and (kind := _host_index(value)) is not None]  # fmt: skip
    if found and not _names_one_place(node, values[0]):
        frame.analysis.emit(
            frame, TensorIndex, node, subscript=node, tensor=tensor, items=tuple(found), store=store
        )
    for part, value in zip(parts, values, strict=True):
        need_number(frame, part, value, "torch")
        _need_drawn_members(frame, part, value)
        _index_by_tensor(frame, node, tensor, part, value, store=store)
    return Tensor(_indexed_rank(tensor, values), tensor.dtype, None, assumed=tensor.assumed,
                  random=tensor.random, why="indexed tensor")  # fmt: skip


def _index_by_tensor(
    frame: Frame, node: ast.Subscript, tensor: Tensor, part: ast.expr, value: Value, *, store: bool
) -> None:
    index = likely_tensor(value)
    if index is not None and index.rank == 0 and not _is_mask(index):
        host_read(frame, node, "index", part, index)
    used = index is not None and _is_given(frame, part) and _is_used_as_mask(frame, part)
    named = not used and index is not None and _is_given(frame, part) and _is_named(part)
    if _is_mask(index) or used or named:
        sure = tensor_in(value) is not None and _is_mask(index)
        masked = tensor if sure else as_assumed(tensor)
        frame.analysis.emit(
            frame, DynamicShape, node, via="mask", gb_id="GB0036", source=part, tensor=masked,
            store=store, named=named,
        )  # fmt: skip


_MASKS: Final = regex(r"(?:^|_)masks?$")


def _is_named(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and _MASKS.search(node.id) is not None


def _is_given(frame: Frame, node: ast.expr) -> bool:
    """True for a parameter that is a tensor of nobody knows what element type, or its inverse."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        node = node.operand
    info = frame.body.function
    if not isinstance(node, ast.Name) or info is None:
        return False
    tensor = likely_tensor(frame.body.values.get(node, UNKNOWN))
    if tensor is None or tensor.dtype is None or tensor.dtype.category is not None:
        return False
    return any(one.arg == node.id for one, _ in frame.analysis.parameters(info.node))


def _is_used_as_mask(frame: Frame, node: ast.expr) -> bool:
    """True for a parameter, or its inverse, that has to be boolean elsewhere."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    info = frame.body.function
    if info is None or not isinstance(node, ast.Name):
        return False
    return is_mask(frame.analysis, info, node.id)


def _is_mask(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.dtype is not None and tensor.dtype.category == "bool"


def _host_index(value: Value) -> str | None:
    match value:
        case Iteration(source="range" | "shape" | "data"):
            return "range"
        case Iteration(source="numpy") | NDArray() | Sequence(type="tuple", element=NDArray()):
            return "numpy"
        case Sequence(type="list(range)" | "list(shape)" | "tuple(range)" | "tuple(shape)"):
            return "list(range)"
        case Sequence(type="list"):
            return None if is_tensor(elements(value)) else "list"
    return None


def _names_one_place(node: ast.Subscript, value: Value) -> bool:
    """True where a tuple is the whole index: ``x[tuple(range(2))]`` is ``x[0, 1]``."""
    alone = not isinstance(node.slice, ast.Tuple)
    if not alone or not isinstance(value, Sequence) or not value.type.startswith("tuple"):
        return False
    return not isinstance(value.element, NDArray)


def _indexed_rank(tensor: Tensor, values: list[Value]) -> int | None:
    """The rank of what is indexed: index tensors together give as many dimensions as the largest.

    Source: https://numpy.org/doc/stable/user/basics.indexing.html#advanced-indexing
    """
    if tensor.rank is None:
        return None
    rank, largest = tensor.rank, 0
    for value in values:
        match value:
            case SymInt() | Static(type="int"):
                rank -= 1
            case Static(type="NoneType"):
                rank += 1
            case Static(type="slice" | "ellipsis"):
                pass
            case Tensor(rank=int(count), dtype=DType(symbol="int64" | "int32" | "int16" | "int8")):
                rank, largest = rank - 1, max(largest, count)
            case Tensor(rank=int(count), dtype=DType(category="bool")) if count:
                rank, largest = rank - count, max(largest, 1)
            case _:
                return None
    return max(rank + largest, 0)
