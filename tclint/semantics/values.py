"""The abstract values that the analysis computes with.

A value says what Dynamo would know about an expression when it traces it: is it a tensor, a
Python number that was read from one, a shape, a constant of the program, an object whose class
is known? ``Unknown`` is the honest answer everywhere else, and no finding rests on it.

Millions of values are made and compared in a run. They are classes spelt out, not dataclasses,
because mypyc makes those native: their fields are read, and they are compared, without Python.
"""

from __future__ import annotations

import ast
from enum import Enum, auto
from typing import Any, Final

from tclint.semantics.content import ByContent, Fields
from tclint.semantics.symbols import ClassInfo, FunctionInfo


class Value(ByContent):
    """Base of all abstract values; they are immutable and compare by content."""

    __slots__ = ()


class Unknown(Value):
    """Nothing is known."""

    __slots__ = ()

    def __hash__(self) -> int:
        """There is one of it."""
        return 1


UNKNOWN: Final = Unknown()


class DType(ByContent):
    """An element type: a concrete name, or a symbol shared by tensors that must have the same one.

    ``category`` is ``"bool"``, ``"int"``, ``"float"``, ``"complex"`` or None when not known.
    """

    __slots__ = ("category", "symbol")

    def __init__(self, symbol: str, category: str | None = None) -> None:
        self.symbol: Final = symbol
        self.category: Final = category

    def __hash__(self) -> int:
        """Hash what tells element types apart."""
        return hash(self.symbol)

    def __eq__(self, other: object) -> bool:
        """Compare type and content."""
        return self is other or (
            isinstance(other, DType)
            and self.symbol == other.symbol
            and self.category == other.category
        )

    @property
    def concrete(self) -> bool:
        """True when the symbol is a torch dtype's own name such as ``float32``."""
        return not self.symbol.startswith("~")


class Guess(Enum):
    """Whether a tensor is a parameter of unknown kind, and whether it is used as a tensor."""

    NONE = auto()
    UNFOUNDED = auto()
    USED_AS_ONE = auto()


class Tensor(Value):
    """A ``torch.Tensor``.

    ``rank`` is the number of dimensions. ``device`` is ``"cpu"`` for tensors certainly made on
    the host, ``"like:NAME"`` when placed by an expression, None when not known. ``role`` tells
    parameters and buffers from other tensors. ``assumed`` marks tensors believed for lack of
    better knowledge (an unannotated parameter of ``forward``); findings on them are less sure.
    ``random`` marks tensors drawn from torch's generator in this region, ``from_compiled`` the
    outputs of something that the project compiles. ``cls`` is its class where the project has one
    of its own for it. ``guess`` tells parameters that are taken for tensors because nothing says
    what they are, ``why`` in words where a tensor comes from: neither makes it another value.
    """

    __slots__ = (
        "assumed", "cls", "device", "dtype", "from_compiled", "guess", "random", "rank", "role",
        "why",
    )  # fmt: skip

    def __init__(
        self,
        rank: int | None = None,
        dtype: DType | None = None,
        device: str | None = None,
        role: str | None = None,
        assumed: bool = False,
        random: bool = False,
        from_compiled: bool = False,
        why: str = "",
        cls: ClassInfo | None = None,
        guess: Guess = Guess.NONE,
    ) -> None:
        self.rank: Final = rank
        self.dtype: Final = dtype
        self.device: Final = device
        self.role: Final = role
        self.assumed: Final = assumed
        self.random: Final = random
        self.from_compiled: Final = from_compiled
        self.why: Final = why
        self.cls: Final = cls
        self.guess: Final = guess

    def __hash__(self) -> int:
        """Hash what tells most tensors apart."""
        dtype = self.dtype
        return hash((self.rank, None if dtype is None else dtype.symbol, self.role, self.device))

    def __eq__(self, other: object) -> bool:
        """Compare type and content, what differs most often first."""
        return self is other or (
            isinstance(other, Tensor)
            and self.rank == other.rank
            and self.dtype == other.dtype
            and self.device == other.device
            and self.assumed == other.assumed
            and self.role == other.role
            and self.random == other.random
            and self.from_compiled == other.from_compiled
            and self.cls == other.cls
        )

    def changed(self, **fields: Any) -> Tensor:
        """The tensor with other values in some fields."""
        known = {name: getattr(self, name) for name in _FIELDS_OF_TENSOR}
        return Tensor(**{**known, **fields})


_FIELDS_OF_TENSOR: Final = (
    "rank", "dtype", "device", "role", "assumed", "random", "from_compiled", "why",
    "cls", "guess",
)  # fmt: skip


class DataScalar(Value):
    """A Python number, or a structure of them, read from a tensor's storage.

    ``type`` is ``"int"``, ``"float"``, ``"bool"``, ``"list"`` or None. Dynamo sees an unbacked
    symbol or, without scalar capture, a graph break. ``dtype`` is that of the tensor.
    """

    __slots__ = ("dtype", "type")

    def __init__(self, type: str | None = None, dtype: DType | None = None) -> None:
        self.type: Final = type
        self.dtype: Final = dtype

    def _content(self) -> Fields:
        return (self.type, self.dtype)


class SymInt(Value):
    """An integer computed from tensor shapes: symbolic under dynamic shapes, guarded on."""

    __slots__ = ()


class Static(Value):
    """A Python constant of the program: literals, configuration, flags. Dynamo specialises on it.

    ``type`` is the Python type's name or None; ``value`` is the constant where it is known.
    ``default`` is what a flag is unless somebody sets it (``debug=False``); None where that is not
    known, and for other constants.
    """

    __slots__ = ("default", "known", "type", "value")

    def __init__(
        self,
        type: str | None = None,
        value: Any = None,
        known: bool = False,
        default: bool | None = None,
    ) -> None:
        self.type: Final = type
        self.value: Final = value
        self.known: Final = known
        self.default: Final = default

    @property
    def default_off(self) -> bool:
        """True for a flag that is off unless somebody turns it on."""
        return self.default is False

    def __hash__(self) -> int:
        """Hash what tells most constants apart."""
        return hash(self.value) if self.known else hash(self.type)

    def __eq__(self, other: object) -> bool:
        """Compare type and content, what differs most often first; a constant may be no number."""
        return self is other or (
            isinstance(other, Static)
            and self.type == other.type
            and self.known == other.known
            and self.default is other.default
            and (self.value is other.value or bool(self.value == other.value))
        )


def set_by_default(value: object) -> Static:
    """A constant that is ``value`` unless somebody sets another one of its type."""
    return Static(type(value).__name__, default=value if isinstance(value, bool) else None)


# There is one of it: ask with ``is``, as for UNKNOWN.
NONE: Final = Static("NoneType", None, known=True)
TRUE: Final = Static("bool", True, known=True)
FALSE: Final = Static("bool", False, known=True)
STATIC: Final = Static()
SYMINT: Final = SymInt()


class NDArray(Value):
    """A numpy array. ``traced`` is true when Dynamo traces it as a tensor (made in the region)."""

    __slots__ = ("from_tensor", "traced")

    def __init__(self, traced: bool = True, from_tensor: bool = False) -> None:
        self.traced: Final = traced
        self.from_tensor: Final = from_tensor

    def _content(self) -> Fields:
        return (self.traced, self.from_tensor)


class NumpyScalar(Value):
    """An element of a numpy array, the result of a numpy function on numbers, or one drawn.

    Inside a compiled region Dynamo represents it as a 0-d tensor, so using it where Python needs
    a number (an index, ``if``, ``int()``) breaks the graph. ``origin`` says how much Dynamo knows:
    ``"constant"`` (computed from single numbers: torch may take it for a size), ``"computed"``
    (from several), ``"array"`` (an element of an array, or computed from one), ``"drawn"`` (by a
    function of ``random`` that Dynamo traces), ``"outside"`` (made before compiled code runs) or
    None. ``made`` are the calls of numpy or ``random`` in the region that made it.
    """

    __slots__ = ("from_loop", "made", "origin", "type")

    def __init__(
        self,
        type: str | None = None,
        from_loop: bool = False,
        origin: str | None = None,
        made: tuple[ast.Call, ...] = (),
    ) -> None:
        self.type: Final = type
        self.from_loop: Final = from_loop
        self.origin: Final = origin
        self.made: Final = made

    def _content(self) -> Fields:
        return (self.type, self.from_loop, self.origin, self.made)

    @property
    def of_array(self) -> bool:
        """True for an element of an array, or a number computed from one."""
        return self.origin == "array"

    @property
    def is_drawn(self) -> bool:
        """True for a number that Python's ``random`` draws in the region."""
        return self.origin == "drawn"


ANY_FIELD: Final = "*"
"""Stands for an attribute whose name is computed."""


class Object(Value):
    """An instance of a class: of the project (``cls``) or of a library (``name``, dotted).

    ``site`` is the expression that made it, so that an optimizer or a logger keeps its identity.
    ``fields`` are the attributes of a plain object whose making was in view, else None.
    """

    __slots__ = ("cls", "fields", "is_module", "is_optimizer", "name", "site")

    def __init__(
        self,
        name: str,
        cls: ClassInfo | None = None,
        site: ast.AST | None = None,
        is_module: bool = False,
        is_optimizer: bool = False,
        fields: tuple[tuple[str, Value], ...] | None = None,
    ) -> None:
        self.name: Final = name
        self.cls: Final = cls
        self.fields: Final = fields
        self.site: Final = site
        self.is_module: Final = is_module
        self.is_optimizer: Final = is_optimizer

    def __hash__(self) -> int:
        """Hash what tells most objects apart; the fields may hold many others.

        One line makes objects of many classes: ``self.act = act_layer()``.
        """
        return hash((self.name, self.site))

    def __eq__(self, other: object) -> bool:
        """Compare type and content, what differs most often first."""
        return self is other or (
            isinstance(other, Object)
            and self.cls is other.cls
            and self.name == other.name
            and self.site is other.site
            and self.is_module == other.is_module
            and self.is_optimizer == other.is_optimizer
            and self.fields == other.fields
        )

    def field(self, name: str) -> Value | None:
        """What an attribute holds that was seen to be set; None for all others."""
        fields = dict(self.fields or ())
        return fields.get(name) or fields.get(ANY_FIELD)

    def with_field(self, name: str, value: Value) -> Object:
        """The object after an attribute was set."""
        fields = dict(self.fields or ())
        fields[name] = value
        return Object(
            self.name, self.cls, self.site, self.is_module, self.is_optimizer,
            tuple(fields.items()),
        )  # fmt: skip


class Compiled(Value):
    """What ``torch.compile`` returns: behaves like ``inner``, its outputs are marked."""

    __slots__ = ("inner",)

    def __init__(self, inner: Value) -> None:
        self.inner: Final = inner

    def _content(self) -> Fields:
        return (self.inner,)


class Function(Value):
    """A function or method of the project; ``bound`` is ``self`` for methods."""

    __slots__ = ("bound", "info")

    def __init__(self, info: FunctionInfo, bound: Value | None = None) -> None:
        self.info: Final = info
        self.bound: Final = bound

    def _content(self) -> Fields:
        return (self.info, self.bound)

    def __hash__(self) -> int:
        """Hash what tells most functions apart: a base class's method is one of many objects."""
        return hash((self.info, self.bound)) if type(self.bound) is Object else hash(self.info)


class Class(Value):
    """A class of the project."""

    __slots__ = ("info",)

    def __init__(self, info: ClassInfo) -> None:
        self.info: Final = info

    def _content(self) -> Fields:
        return (self.info,)

    def __hash__(self) -> int:
        """Hash the class."""
        return hash(self.info)


class External(Value):
    """A name that lives outside the project, e.g. ``torch.nn.functional.relu`` or ``numpy``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def _content(self) -> Fields:
        return (self.name,)

    def __hash__(self) -> int:
        """Hash the name."""
        return hash(self.name)


class BoundExternal(Value):
    """A method of a library object: ``name`` is e.g. ``torch.Tensor.item``."""

    __slots__ = ("name", "owner")

    def __init__(self, name: str, owner: Value) -> None:
        self.name: Final = name
        self.owner: Final = owner

    def __hash__(self) -> int:
        """Hash what tells most methods apart."""
        owner = self.owner
        return hash((self.name, owner)) if type(owner) is Object else hash(self.name)

    def __eq__(self, other: object) -> bool:
        """Compare type and content, what differs most often first."""
        return self is other or (
            isinstance(other, BoundExternal)
            and self.name == other.name
            and self.owner == other.owner
        )


class Partial(Value):
    """A function with some of its arguments: ``functools.partial``, ``operator.itemgetter``."""

    __slots__ = ("function", "keywords", "positional")

    def __init__(
        self,
        function: Value,
        positional: tuple[Value, ...] = (),
        keywords: tuple[tuple[str, Value], ...] = (),
    ) -> None:
        self.function: Final = function
        self.positional: Final = positional
        self.keywords: Final = keywords

    def _content(self) -> Fields:
        return (self.function, self.positional, self.keywords)


class Sequence(Value):
    """A tuple or list. ``items`` is known for fixed lengths, else ``element`` joins all members."""

    __slots__ = ("_hash", "element", "items", "type")

    def __init__(
        self,
        type: str,
        element: Value = UNKNOWN,
        items: tuple[Value, ...] | None = None,
    ) -> None:
        self.type: Final = type
        self.element: Final = element
        self.items: Final = items
        self._hash = 0

    def __hash__(self) -> int:
        """Hash the content, once: what it holds may hold as much."""
        if not self._hash:
            self._hash = hash((self.type, self.element, self.items))
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare type and content, what differs most often first."""
        return self is other or (
            isinstance(other, Sequence)
            and self.type == other.type
            and self.items == other.items
            and self.element == other.element
        )


class Mapping(Value):
    """A dict with the values of its constant keys and the join of all others."""

    __slots__ = ("_hash", "element", "items")

    def __init__(self, items: tuple[tuple[Any, Value], ...] = (), element: Value = UNKNOWN) -> None:
        self.items: Final = items
        self.element: Final = element
        self._hash = 0

    def __hash__(self) -> int:
        """Hash the content, once: what it holds may hold as much."""
        if not self._hash:
            self._hash = hash((self.items, self.element))
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare type and content, what differs most often first."""
        return self is other or (
            isinstance(other, Mapping)
            and self.element == other.element
            and self.items == other.items
        )

    def get(self, key: object) -> Value:
        """The value stored under a constant key, or what stands under keys that are not known.

        Where tensors and other things stand under those, nobody knows what is under this one.
        """
        for name, value in self.items:
            if type(name) is type(key) and name == key:
                return value
        return UNKNOWN if _is_mixed(self.element) else self.element


def _is_mixed(value: Value) -> bool:
    """True for what is a tensor or something else, and not just None or unknown."""
    if not isinstance(value, Union):
        return False
    known = [one for one in value.members if one is not UNKNOWN and one != NONE]
    tensors = sum(isinstance(one, Tensor) for one in known)
    return 0 < tensors < len(known)


class Iteration(Value):
    """A ``range``, ``enumerate`` or other iterable whose elements are ``element``.

    ``source`` is ``"range"``, ``"keys"``, ``"numpy"``, ``"tensor"`` or ``"other"``.
    """

    __slots__ = ("element", "source")

    def __init__(self, element: Value, source: str = "other") -> None:
        self.element: Final = element
        self.source: Final = source

    def _content(self) -> Fields:
        return (self.element, self.source)


class Union(Value):
    """One of several values, from branches that join.

    ``options`` keeps the order in which they were met, so that runs agree with each other; two
    unions are equal when they have the same ``members``.
    """

    __slots__ = ("_covered", "members", "options")

    def __init__(self, options: tuple[Value, ...], members: frozenset[Value]) -> None:
        self.options: Final = options
        self.members: Final = members
        self._covered: Union | None = None

    def covers(self, other: Union) -> bool:
        """Whether it is each of another's options, too; the last such one is remembered."""
        if other is not self._covered and other.members <= self.members:
            self._covered = other
        return other is self._covered

    def __hash__(self) -> int:
        """Hash the members; a set remembers that."""
        return hash(self.members)

    def __eq__(self, other: object) -> bool:
        """Compare the members."""
        return self is other or (isinstance(other, Union) and self.members == other.members)


def constant(value: object) -> Static:
    """A constant of the program."""
    return NONE if value is None else Static(type(value).__name__, value, known=True)
