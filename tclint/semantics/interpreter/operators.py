"""Operators on abstract values: ranks and element types of tensor arithmetic, constant folding."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, Final

from tclint.regexes import regex
from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import bounded, join, spread
from tclint.semantics.values import (
    FALSE,
    NONE,
    SYMINT,
    TRUE,
    UNKNOWN,
    DataScalar,
    DType,
    External,
    Mapping,
    NDArray,
    NumpyScalar,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Union,
    Value,
    constant,
)
from tclint.torch_facts.autocast import DEVICES, lowers, widens
from tclint.torch_facts.dtypes import DTYPES, SYNONYMS, WHOLES, promoted

BOOL: Final = DType("bool", "bool")
INT64: Final = DType("int64", "int")
FLOAT32: Final = DType("float32", "float")
DEFAULT: Final = DType("default", "float")
"""What torch makes of whole numbers where it needs others: ``torch.get_default_dtype()``."""
CATEGORIES: Final = ("bool", "int", "float", "complex")
_LOWERED: Final = regex(r"~lowered@[^()]*\((.*)\)")
SYMBOL: Final = Bound(96, "characters to tell an element type", hides=False)
"""An element type that takes longer to tell is not known."""
CALLS: Final = Bound(64, "calls that make one number")

_FOLDED: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def named_dtype(value: Value) -> DType | None:
    """The element type that ``torch.bool`` and its like stand for."""
    if not isinstance(value, External):
        return None
    name = value.name.removeprefix("torch.")
    category = DTYPES.get(name)
    return DType(SYNONYMS.get(name, name), category) if category else None


def derived(dtype: DType | None, how: str, category: str | None = None) -> DType | None:
    """The element type that ``how`` makes of another, the same symbol for the same question."""
    if dtype is None:
        return None
    return _symbol(f"~{how}({dtype.symbol})", category)


def held(dtype: DType | None) -> DType | None:
    """The element type of what a module holds: ``module.half()`` converts all but integers."""
    if dtype is None or dtype.category in ("bool", "int"):
        return dtype
    return derived(dtype, "held", dtype.category)


def computed_in(key: str, dtype: DType | None, site: str = "") -> DType | None:
    """The element type that a call at a site computes in: autocast takes another for some."""
    if dtype is None or dtype.category not in ("float", None) or dtype.symbol == "float64":
        return dtype
    if lowers(key):
        return lowered(dtype, site)
    if dtype.symbol == "float32":
        return dtype
    widened: DType | None = dtype
    for device in DEVICES:
        how = f"autocast_{device}"
        if widens(device, key) and not is_widened(dtype, how):
            widened = derived(widened, how, dtype.category)
    return widened


def lowered(dtype: DType, site: str) -> DType | None:
    """The element type that autocast gives what is computed at a site; without it, the same."""
    inner = _LOWERED.fullmatch(dtype.symbol)
    name = inner[1] if inner is not None else dtype.symbol
    return _symbol(f"~lowered@{site}({name})", dtype.category)


def is_widened(dtype: DType, how: str = "autocast_") -> bool:
    """True for what autocast, on one kind of device or on any, has made float32 already."""
    calls = dtype.symbol.split("(")
    casts = takewhile(lambda call: call.startswith("~autocast_"), calls)
    return any(call.startswith(f"~{how}") for call in casts)


def _symbol(text: str, category: str | None) -> DType | None:
    if len(text) <= SYMBOL.most:
        return DType(text, category)
    SYMBOL.cut()
    return None


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    """The value of ``left op right``."""
    if type(left) is not Union and type(right) is not Union:
        return _binary(op, left, right)
    return spread(lambda a: spread(lambda b: _binary(op, a, b), right), left)


def _binary(op: ast.operator, left: Value, right: Value) -> Value:
    kinds = (type(left), type(right))
    if Tensor in kinds:
        return tensor_binary(op, left, right)
    if NDArray in kinds:
        return NDArray()
    if NumpyScalar in kinds:
        return _numpy_scalar(_number_type(op, left, right), left, right)
    if DataScalar in kinds:
        return DataScalar(_number_type(op, left, right))
    if Sequence in kinds:
        return _sequence_binary(op, left, right)
    if isinstance(left, Mapping) and isinstance(right, Mapping) and isinstance(op, ast.BitOr):
        return _merged(left, right)
    if isinstance(left, (Static, SymInt)) and isinstance(right, (Static, SymInt)):
        return _static_binary(op, left, right)
    decided = _ABSORBING.get(type(op))
    return decided if decided is not None and decided in (left, right) else UNKNOWN


def _merged(left: Mapping, right: Mapping) -> Value:
    items = {**dict(left.items), **dict(right.items)}
    return bounded(Mapping(tuple(items.items()), join((left.element, right.element))))


def _numpy_scalar(kind: str | None, left: Value, right: Value) -> Value:
    if is_only_drawn(left, right):
        return Static(kind)
    parts = [v for v in (left, right) if isinstance(v, NumpyScalar)]
    return combined(kind, parts)


def is_only_drawn(left: Value, right: Value) -> bool:
    """True for a drawn number beside one of Python's: the graph breaks where they are computed."""
    sides = (left, right)
    drawn = any(isinstance(side, NumpyScalar) and side.is_drawn for side in sides)
    return drawn and all(
        isinstance(side, (SymInt, DataScalar))
        or (isinstance(side, NumpyScalar) and side.is_drawn)
        or (isinstance(side, Static) and side.type in ("int", "float", "bool"))
        for side in sides
    )


def combined(kind: str | None, parts: Iterable[NumpyScalar]) -> NumpyScalar:
    """A number computed from others of numpy's, and from Python's."""
    parts = list(parts)
    drawn = any(part.from_loop for part in parts)
    made = tuple(dict.fromkeys(call for part in parts for call in part.made))
    if len(made) > CALLS.most:
        CALLS.cut()
    return NumpyScalar(kind, drawn, _origin([part.origin for part in parts]), made[: CALLS.most])


def made_outside(number: NumpyScalar) -> NumpyScalar:
    """A number of numpy's that is there before compiled code runs: Dynamo knows it."""
    return NumpyScalar(number.type, origin=number.origin and "outside")


def _origin(origins: list[str | None]) -> str | None:
    if "array" in origins:
        return "array"
    if "drawn" in origins:
        return "drawn"
    if None in origins:
        return None
    # Computing with what was made before is what Dynamo does with tensors.
    return "constant" if all(one == "constant" for one in origins) else "computed"


def _number_type(op: ast.operator, left: Value, right: Value) -> str | None:
    types = {v.type for v in (left, right) if isinstance(v, (DataScalar, NumpyScalar, Static))}
    if isinstance(op, ast.Div) or "float" in types:
        return "float"
    return types.pop() if len(types) == 1 else None


def _sequence_binary(op: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(op, ast.Add) and isinstance(left, Sequence) and isinstance(right, Sequence):
        if left.items is not None and right.items is not None:
            return bounded(Sequence(left.type, items=left.items + right.items))
        return Sequence(left.type, join((elements(left), elements(right))))
    if isinstance(op, ast.Mult):
        source = left if isinstance(left, Sequence) else right
        return Sequence("list", elements(source)) if isinstance(source, Sequence) else UNKNOWN
    return UNKNOWN


def elements(sequence: Sequence) -> Value:
    """The join of all members of a sequence."""
    if sequence.items is not None:
        return join(sequence.items) if sequence.items else UNKNOWN
    return sequence.element


def _static_binary(op: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(left, SymInt) or isinstance(right, SymInt):
        other = right if isinstance(left, SymInt) else left
        floats = isinstance(op, ast.Div) or (isinstance(other, Static) and other.type == "float")
        return Static("float") if floats else SYMINT
    assert isinstance(left, Static)
    assert isinstance(right, Static)
    fold = _FOLDED.get(type(op))
    if left.known and right.known and fold and _foldable(left.value) and _foldable(right.value):
        try:
            result = fold(left.value, right.value)
        except (ArithmeticError, TypeError):
            return Static()
        return constant(result)
    types = {left.type, right.type}
    absorbing = _ABSORBING.get(type(op))
    if absorbing is not None and absorbing in (left, right) and types == {"bool"}:
        return absorbing
    if isinstance(op, ast.Div) or "float" in types:
        return Static("float")
    return Static(left.type if len(types) == 1 else None)


# What decides an operation on booleans alone, whatever the other operand is.
_ABSORBING: Final[dict[type[ast.operator], Static]] = {ast.BitOr: TRUE, ast.BitAnd: FALSE}


def _foldable(constant: object) -> bool:
    return isinstance(constant, (int, float)) and abs(constant) < 2**53


def compare(op: ast.cmpop, left: Value, right: Value) -> Value:
    """The value of one comparison."""
    for kind, result in _COMPARISON_RESULTS:
        if isinstance(left, kind) or isinstance(right, kind):
            if kind is Tensor:
                if _is_no_operand(left) or _is_no_operand(right):
                    return Static("bool")
                return Tensor(
                    rank=broadcast_rank(left, right),
                    dtype=BOOL,
                    assumed=_assumed(left, right),
                    random=is_random(left, right),
                    why="comparison of a tensor",
                )
            if kind is NumpyScalar:
                return combined("bool", [v for v in (left, right) if isinstance(v, NumpyScalar)])
            return result
    fold = _COMPARED.get(type(op))
    if fold and isinstance(left, Static) and isinstance(right, Static):
        if left.known and right.known:
            try:
                return Static("bool", bool(fold(left.value, right.value)), known=True)
            except TypeError:
                return Static("bool")
        return Static("bool")
    if isinstance(left, (Static, SymInt)) and isinstance(right, (Static, SymInt)):
        return Static("bool")
    return UNKNOWN


def _is_no_operand(value: Value) -> bool:
    """True for what no tensor is equal to: torch refuses it, so Python compares identities."""
    return value == NONE or isinstance(value, (Sequence, Mapping)) or is_text(value)


def is_text(value: Value) -> bool:
    """True for a string."""
    return isinstance(value, Static) and value.type == "str"


_COMPARISON_RESULTS: Final[tuple[tuple[type[Value], Value], ...]] = (
    (Tensor, UNKNOWN),
    (NDArray, NDArray()),
    (NumpyScalar, UNKNOWN),
    (DataScalar, DataScalar("bool")),
)


def tensor_binary(op: ast.operator, left: Value, right: Value) -> Value:
    """The tensor that an arithmetic operator gives, with what is known of its rank and dtype."""
    if not isinstance(left, _ARITHMETIC) or not isinstance(right, _ARITHMETIC):
        masks = isinstance(op, _BITWISE) and any(map(_is_mask, (left, right)))
        return Tensor(dtype=BOOL if masks else None, assumed=True, why="arithmetic with a tensor")
    if isinstance(op, ast.MatMult):
        return _product(left, right)
    return Tensor(
        rank=broadcast_rank(left, right),
        dtype=_promoted(op, left, right),
        assumed=_assumed(left, right),
        random=is_random(left, right),
        why="arithmetic with a tensor",
    )


def _product(left: Value, right: Value) -> Value:
    """A matrix product; autocast says in which element type it is computed."""
    ranks = (one.rank if isinstance(one, Tensor) else None for one in (left, right))
    return Tensor(
        product_rank(*ranks),
        assumed=_assumed(left, right),
        random=is_random(left, right),
        why="matrix product",
    )


def product_rank(left: int | None, right: int | None) -> int | None:
    """The rank of a matrix product."""
    if left is None or right is None:
        return None
    return max(left, right) if min(left, right) > 1 else max(left, right) - 1


_ARITHMETIC: Final = (Tensor, Static, SymInt, DataScalar, NumpyScalar, NDArray)
_BITWISE: Final = (ast.BitAnd, ast.BitOr, ast.BitXor)


def _is_mask(value: Value) -> bool:
    """True for what is combined with masks alone, as far as anybody does it."""
    dtype = value.dtype if isinstance(value, Tensor) else None
    return dtype is not None and dtype.category == "bool"


def broadcast_rank(left: Value, right: Value) -> int | None:
    """The rank of an elementwise result; None when an operand's is not known."""
    ranks = [v.rank for v in (left, right) if isinstance(v, Tensor)]
    if any(isinstance(v, NDArray) for v in (left, right)):
        return None
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) else None


def _assumed(*values: Value) -> bool:
    return all(v.assumed for v in values if isinstance(v, Tensor))


def is_random(*values: Value) -> bool:
    """True for what is made of random numbers alone, or with what a model keeps."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    drawn = any(tensor.random for tensor in tensors)
    return drawn and all(tensor.random or tensor.role is not None for tensor in tensors)


def _promoted(op: ast.operator, left: Value, right: Value) -> DType | None:
    dtype = _promoted_operands(op, left, right)
    if isinstance(op, ast.Pow):
        return computed_in("pow", dtype)
    inverts = isinstance(op, ast.Div) and not isinstance(left, Tensor)
    return computed_in("reciprocal", dtype) if inverts else dtype


def _promoted_operands(op: ast.operator, left: Value, right: Value) -> DType | None:
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        name = _promoted_name(left, right)
        category = DTYPES.get(name or "")
        if name is not None and (category in ("float", "complex") or not isinstance(op, ast.Div)):
            return DType(name, category)
        return _promoted_tensors(op, left.dtype, right.dtype)
    tensor = left if isinstance(left, Tensor) else right
    number = right if isinstance(left, Tensor) else left
    assert isinstance(tensor, Tensor)
    if isinstance(number, DataScalar) and number.dtype == tensor.dtype:
        return _promoted_tensors(op, tensor.dtype, tensor.dtype)
    return _promoted_number(op, tensor.dtype, number_category(number))


def _promoted_name(left: Tensor, right: Tensor) -> str | None:
    """What two known dtypes that differ promote to: a tensor with dimensions comes first."""
    one, other = left.dtype, right.dtype
    if one is None or other is None or one == other or left.rank is None or right.rank is None:
        return None
    if one.symbol not in DTYPES or other.symbol not in DTYPES:
        return None
    if bool(left.rank) != bool(right.rank):
        shaped, single = (one, other) if left.rank else (other, one)
        if _higher(shaped.category, single.category) == shaped.category:
            return shaped.symbol
        if shaped.category == "float":
            return WHOLES.get(shaped.symbol)
    return promoted(one.symbol, other.symbol)


def _promoted_tensors(op: ast.operator, left: DType | None, right: DType | None) -> DType | None:
    if left is None or right is None:
        return None
    if left == right:
        if isinstance(op, _BITWISE):
            return left
        if left == BOOL and isinstance(op, (ast.Add, ast.Mult)):
            return left
        floats = left.category in ("float", "complex")
        keeps = not isinstance(op, ast.Div) or floats
        return left if keeps and left.category != "bool" else derived(left, "op", None)
    return _symbol(f"~({left.symbol}|{right.symbol})", _higher(left.category, right.category))


def _higher(left: str | None, right: str | None) -> str | None:
    if left is None or right is None:
        return None
    return max(left, right, key=CATEGORIES.index)


def number_category(value: Value) -> str | None:
    """The category that a Python number brings into type promotion."""
    if isinstance(value, SymInt):
        return "int"
    if isinstance(value, NumpyScalar):
        return None if value.type == "bool" else value.type or "float"
    if isinstance(value, (Static, DataScalar)):
        return value.type if value.type in CATEGORIES else None
    return None


def _promoted_number(op: ast.operator, dtype: DType | None, category: str | None) -> DType | None:
    if dtype is None or category is None:
        return None
    if dtype.category in ("float", "complex") and category != "complex":
        return dtype
    divides = isinstance(op, ast.Div)
    if dtype == BOOL and category == "bool" and isinstance(op, (*_BITWISE, ast.Add, ast.Mult)):
        return dtype
    if dtype.category == "int" and category in ("bool", "int") and not divides:
        return dtype
    floats = divides or category == "float"
    if dtype.category in ("int", "bool") and category != "complex":
        return DEFAULT if floats else INT64
    return derived(dtype, "float" if floats else "number", None)
