"""The abstract values that the analysis computes with.

A value says what Dynamo would know about an expression when it traces it: is it a tensor, a
Python number that was read from one, a shape, a constant of the program, an object whose class
is known? ``Unknown`` is the honest answer everywhere else, and no finding rests on it.
"""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Any, Final

from tclint.semantics.records import record
from tclint.semantics.symbols import ClassInfo, FunctionInfo


@record(frozen=True)
class Value:
    """Base of all abstract values; they are immutable and compare by content."""


@record(frozen=True)
class Unknown(Value):
    """Nothing is known."""


UNKNOWN: Final = Unknown()


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
class DataScalar(Value):
    """A Python number, or a structure of them, read from a tensor's storage.

    ``type`` is ``"int"``, ``"float"``, ``"bool"``, ``"list"`` or None. Dynamo sees an unbacked
    symbol or, without scalar capture, a graph break. ``dtype`` is that of the tensor.
    """

    type: str | None = None
    dtype: DType | None = None


@record(frozen=True)
class SymInt(Value):
    """An integer computed from tensor shapes: symbolic under dynamic shapes, guarded on."""


@record(frozen=True)
class Static(Value):
    """A Python constant of the program: literals, configuration, flags. Dynamo specialises on it.

    ``type`` is the Python type's name or None; ``value`` is the constant where it is known.
    ``default_off`` marks flags whose default is false (``debug=False``).
    """

    type: str | None = None
    value: Any = None
    known: bool = False
    default_off: bool = False


# There is one of it: ask with ``is``, as for UNKNOWN.
NONE: Final = Static("NoneType", None, known=True)
TRUE: Final = Static("bool", True, known=True)
FALSE: Final = Static("bool", False, known=True)
STATIC: Final = Static()
SYMINT: Final = SymInt()


@record(frozen=True)
class NDArray(Value):
    """A numpy array. ``traced`` is true when Dynamo traces it as a tensor (made in the region)."""

    traced: bool = True
    from_tensor: bool = False


@record(frozen=True)
class NumpyScalar(Value):
    """An element of a numpy array or the result of a numpy function on numbers.

    Inside a compiled region Dynamo represents it as a 0-d tensor, so using it where Python needs
    a number (an index, ``if``, ``int()``) breaks the graph.
    """

    type: str | None = None
    from_loop: bool = False


@record(frozen=True)
class Object(Value):
    """An instance of a class: of the project (``cls``) or of a library (``name``, dotted).

    ``site`` is the expression that made it, so that an optimizer or a logger keeps its identity.
    """

    name: str
    cls: ClassInfo | None = None
    site: ast.AST | None = None
    is_module: bool = False
    is_optimizer: bool = False


@record(frozen=True)
class Compiled(Value):
    """What ``torch.compile`` returns: behaves like ``inner``, its outputs are marked."""

    inner: Value


@record(frozen=True)
class Function(Value):
    """A function or method of the project; ``bound`` is ``self`` for methods."""

    info: FunctionInfo
    bound: Value | None = None


@record(frozen=True)
class Class(Value):
    """A class of the project."""

    info: ClassInfo


@record(frozen=True)
class External(Value):
    """A name that lives outside the project, e.g. ``torch.nn.functional.relu`` or ``numpy``."""

    name: str


@record(frozen=True)
class BoundExternal(Value):
    """A method of a library object: ``name`` is e.g. ``torch.Tensor.item``."""

    name: str
    owner: Value


@record(frozen=True)
class Sequence(Value):
    """A tuple or list. ``items`` is known for fixed lengths, else ``element`` joins all members."""

    type: str
    element: Value = UNKNOWN
    items: tuple[Value, ...] | None = None


@record(frozen=True)
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


@record(frozen=True)
class Iteration(Value):
    """A ``range``, ``enumerate`` or other iterable whose elements are ``element``.

    ``source`` is ``"range"``, ``"numpy"``, ``"tensor"`` or ``"other"``.
    """

    element: Value
    source: str = "other"


@record(frozen=True)
class Union(Value):
    """One of several values, from branches that join.

    ``options`` keeps the order in which they were met, so that runs agree with each other; two
    unions are equal when they have the same ``members``.
    """

    options: tuple[Value, ...] = field(compare=False)
    members: frozenset[Value] = field(repr=False)


def constant(value: object) -> Static:
    """A constant of the program."""
    return NONE if value is None else Static(type(value).__name__, value, known=True)
