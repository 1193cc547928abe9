"""The abstract values that the analysis computes with.

A value says what Dynamo would know about an expression when it traces it: is it a tensor, a
Python number that was read from one, a shape, a constant of the program, an object whose class
is known? ``Unknown`` is the honest answer everywhere else, and no finding rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from tclint.semantics.immutable import value_class

if TYPE_CHECKING:
    import ast

    from tclint.semantics.symbols import ClassInfo, FunctionInfo


class Value:
    """Base of all abstract values; they are immutable and compare by content."""

    __slots__ = ()


@value_class(frozen=True, slots=True)
class Unknown(Value):
    """Nothing is known."""


UNKNOWN: Final = Unknown()


@value_class(frozen=True, slots=True)
class DType:
    """An element type: a concrete name, or a symbol shared by tensors that must have the same one.

    ``category`` is ``"bool"``, ``"int"``, ``"float"``, ``"complex"`` or None when not known.
    """

    symbol: str
    category: str | None = None

    @property
    def concrete(self) -> bool:
        """True when the symbol is a torch dtype's own name such as ``float32``."""
        return not self.symbol.startswith("~")


@value_class(frozen=True, slots=True)
class Tensor(Value):
    """A ``torch.Tensor``.

    ``rank`` is the number of dimensions. ``device`` is ``"cpu"`` for tensors certainly made on
    the host, ``"like:NAME"`` when placed by an expression, None when not known. ``role`` tells
    parameters and buffers from other tensors. ``assumed`` marks tensors believed for lack of
    better knowledge (an unannotated parameter of ``forward``); findings on them are less sure.
    ``random`` marks tensors drawn from torch's generator in this region, ``from_compiled`` the
    outputs of something that the project compiles.
    """

    rank: int | None = None
    dtype: DType | None = None
    device: str | None = None
    role: str | None = None
    assumed: bool = False
    random: bool = False
    from_compiled: bool = False
    why: str = field(default="", compare=False)


@value_class(frozen=True, slots=True)
class DataScalar(Value):
    """A Python number, or a structure of them, read from a tensor's storage.

    ``type`` is ``"int"``, ``"float"``, ``"bool"``, ``"list"`` or None. Dynamo sees an unbacked
    symbol or, without scalar capture, a graph break. ``dtype`` is that of the tensor.
    """

    type: str | None = None
    dtype: DType | None = None


@value_class(frozen=True, slots=True)
class SymInt(Value):
    """An integer computed from tensor shapes: symbolic under dynamic shapes, guarded on."""


@value_class(frozen=True, slots=True)
class Static(Value):
    """A Python constant of the program: literals, configuration, flags. Dynamo specialises on it.

    ``type`` is the Python type's name or None; ``value`` is the constant where it is known.
    ``default_off`` marks flags whose default is false (``debug=False``).
    """

    type: str | None = None
    value: Any = None
    known: bool = False
    default_off: bool = False


NONE: Final = Static("NoneType", None, known=True)
TRUE: Final = Static("bool", True, known=True)
FALSE: Final = Static("bool", False, known=True)
STATIC: Final = Static()
SYMINT: Final = SymInt()


@value_class(frozen=True, slots=True)
class NDArray(Value):
    """A numpy array. ``traced`` is true when Dynamo traces it as a tensor (made in the region)."""

    traced: bool = True
    from_tensor: bool = False


@value_class(frozen=True, slots=True)
class NumpyScalar(Value):
    """An element of a numpy array or the result of a numpy function on numbers.

    Inside a compiled region Dynamo represents it as a 0-d tensor, so using it where Python needs
    a number (an index, ``if``, ``int()``) breaks the graph.
    """

    type: str | None = None
    from_loop: bool = False


@value_class(frozen=True, slots=True)
class Object(Value):
    """An instance of a class: of the project (``cls``) or of a library (``name``, dotted).

    ``site`` is the expression that made it, so that an optimizer or a logger keeps its identity.
    """

    name: str
    cls: ClassInfo | None = None
    site: ast.AST | None = None
    is_module: bool = False
    is_optimizer: bool = False


@value_class(frozen=True, slots=True)
class Compiled(Value):
    """What ``torch.compile`` returns: behaves like ``inner``, its outputs are marked."""

    inner: Value


@value_class(frozen=True, slots=True)
class Function(Value):
    """A function or method of the project; ``bound`` is ``self`` for methods."""

    info: FunctionInfo
    bound: Value | None = None


@value_class(frozen=True, slots=True)
class Class(Value):
    """A class of the project."""

    info: ClassInfo


@value_class(frozen=True, slots=True)
class External(Value):
    """A name that lives outside the project, e.g. ``torch.nn.functional.relu`` or ``numpy``."""

    name: str


@value_class(frozen=True, slots=True)
class BoundExternal(Value):
    """A method of a library object: ``name`` is e.g. ``torch.Tensor.item``."""

    name: str
    owner: Value


@value_class(frozen=True, slots=True)
class Sequence(Value):
    """A tuple or list. ``items`` is known for fixed lengths, else ``element`` joins all members."""

    type: str
    element: Value = UNKNOWN
    items: tuple[Value, ...] | None = None


@value_class(frozen=True, slots=True)
class Mapping(Value):
    """A dict with the values of its constant keys and the join of all others."""

    items: tuple[tuple[Any, Value], ...] = ()
    element: Value = UNKNOWN

    def get(self, key: object) -> Value:
        """The value stored under a constant key, or the join of the others."""
        for name, value in self.items:
            if type(name) is type(key) and name == key:
                return value
        return self.element


@value_class(frozen=True, slots=True)
class Iteration(Value):
    """A ``range``, ``enumerate`` or other iterable whose elements are ``element``.

    ``source`` is ``"range"``, ``"numpy"``, ``"tensor"`` or ``"other"``.
    """

    element: Value
    source: str = "other"


@value_class(frozen=True, slots=True)
class Union(Value):
    """One of several values, from branches that join.

    ``options`` keeps the order in which they were met, so that runs agree with each other; two
    unions are equal when they have the same ``members``.
    """

    options: tuple[Value, ...] = field(compare=False)
    members: frozenset[Value] = field(repr=False)


MAX_OPTIONS: Final = 6
MAX_REGISTRY: Final = 48
MAX_WEIGHT: Final = 512


def spread(function: Callable[[Value], Value], value: Value) -> Value:
    """Apply a function to each alternative that an operation can work on, and join the results."""
    if type(value) is not Union:
        return function(value)
    return join([function(option) for option in value.options if option != NONE])


def present(value: Value) -> list[Value]:
    """The alternatives that an operation can work on: None would raise, so it is left out."""
    if not isinstance(value, Union):
        return [value]
    return [option for option in value.options if option != NONE]


def options(value: Value) -> Iterator[Value]:
    """The alternatives of a value: itself, or each option of a union."""
    if isinstance(value, Union):
        yield from value.options
    else:
        yield value


def join(values: Iterable[Value]) -> Value:
    """The least value that covers all of ``values``; Unknown when there are none."""
    given = values if isinstance(values, (list, tuple)) else [*values]
    count = len(given)
    if count == 1:
        return given[0]
    if count == 2:
        left, right = given
        if left is right or left == right:
            return left
        if type(left) is Tensor and type(right) is Tensor:
            return _join_tensors([left, right])
        if type(left) is Union and right in left.members:
            return left
        if type(right) is Union and left in right.members:
            return right
    flat: dict[Value, None] = {}
    for value in given:
        if type(value) is Union:
            flat.update(dict.fromkeys(value.options))
        else:
            flat[value] = None
    _merge_alike(flat)
    if len(flat) == 1:
        return next(iter(flat))
    if not flat or (len(flat) > MAX_OPTIONS and not _is_registry(flat)):
        return UNKNOWN
    return Union(tuple(flat), frozenset(flat))


def _merge_alike(flat: dict[Value, None]) -> None:
    """Leave at most one tensor and one constant among some alternatives."""
    tensors = [v for v in flat if type(v) is Tensor]
    if len(tensors) > 1:
        for tensor in tensors:
            del flat[tensor]
        flat[_join_tensors(tensors)] = None
    statics = [v for v in flat if type(v) is Static and v.type != "NoneType"]
    if len(statics) > 1:
        for static in statics:
            del flat[static]
        types = {s.type for s in statics}
        flat[Static(types.pop() if len(types) == 1 else None)] = None


def _is_registry(flat: dict[Value, None]) -> bool:
    """True for the members of a table of functions or classes, looked up by configuration."""
    kinds = (Function, Class, Unknown)
    return len(flat) <= MAX_REGISTRY and all(isinstance(v, kinds) or v == NONE for v in flat)


def bounded(value: Sequence | Mapping) -> Value:
    """The container, or a summary of one with very many parts.

    Nothing is learned from large tables, and ``x = x + x`` would double a value with every line.
    """
    if isinstance(value, Sequence) and value.items is not None and _flat(value.items):
        return value
    if not _heavy(value, MAX_WEIGHT):
        return value
    if isinstance(value, Mapping):
        return Mapping()
    element = join(value.items) if value.items else value.element
    return Sequence(value.type, UNKNOWN if _heavy(element, MAX_WEIGHT // 2) else element)


def _flat(items: tuple[Value, ...]) -> bool:
    return len(items) < MAX_WEIGHT and _CONTAINERS.isdisjoint(map(type, items))


_CONTAINERS: Final = frozenset({Sequence, Mapping, Iteration, Compiled, Union})


def _heavy(value: Value, limit: int) -> bool:
    pending = [value]
    count = 0
    while pending:
        count += 1
        if count + len(pending) > limit:
            return True
        match pending.pop():
            case Sequence(element=element, items=items):
                pending += items or (element,)
            case Mapping(items=pairs, element=element):
                pending += [element, *(part for _, part in pairs)]
            case Iteration(element=inner) | Compiled(inner=inner):
                pending.append(inner)
            case Union(options=kinds):
                pending += kinds
    return False


def _join_tensors(tensors: Iterable[Tensor]) -> Tensor:
    first, *others = tensors
    for other in others:
        first = Tensor(
            first.rank if first.rank == other.rank else None,
            first.dtype if first.dtype == other.dtype else None,
            first.device if first.device == other.device else None,
            first.role if first.role == other.role else None,
            first.assumed or other.assumed,
            first.random or other.random,
            first.from_compiled or other.from_compiled,
            first.why,
        )
    return first


def with_dtype(tensor: Tensor, dtype: DType | None) -> Tensor:
    """The tensor with another element type, or none known."""
    return Tensor(
        tensor.rank, dtype, tensor.device, tensor.role, tensor.assumed, tensor.random,
        tensor.from_compiled, tensor.why,
    )  # fmt: skip


def tensor_in(value: Value) -> Tensor | None:
    """The tensor that a value certainly is, ignoring a None alternative; else None."""
    if type(value) is not Union:
        return value if isinstance(value, Tensor) else None
    found: Tensor | None = None
    for option in value.options:
        if isinstance(option, Tensor):
            found = option
        elif option != NONE:
            return None
    return found


def is_tensor(value: Value) -> bool:
    """True when the value certainly is a tensor (or None)."""
    return tensor_in(value) is not None


def may_be_tensor(value: Value) -> bool:
    """True when some alternative is a tensor."""
    if type(value) is not Union:
        return isinstance(value, Tensor)
    return any(isinstance(option, Tensor) for option in value.options)


def may_be_unknown(value: Value) -> bool:
    """True when nothing is known of the value, at least on some path."""
    return value is UNKNOWN or (type(value) is Union and UNKNOWN in value.members)


def is_static(value: Value) -> bool:
    """True when Dynamo certainly knows the value while tracing (constants, shapes, modules)."""
    return all(isinstance(v, (Static, SymInt, Class, External, Function)) for v in options(value))
