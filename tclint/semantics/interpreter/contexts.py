"""The kinds of arguments that a function is walked for, and what the walks answered."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import join, options
from tclint.semantics.records import record
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.values import (
    BoundExternal,
    Class,
    Compiled,
    Function,
    Iteration,
    Mapping,
    Object,
    Partial,
    Sequence,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tclint.semantics.body import Body
    from tclint.semantics.interpreter.analysis import Analysis
    from tclint.semantics.interpreter.arguments import Arguments
    from tclint.semantics.site import Facts

Behaviour = tuple[Hashable, ...] | None
Kinds = tuple[Hashable, ...]

# So many walks of a function are told apart by all that is known of the arguments. Later ones have
# to come to something new: code that no walk came to yet, or an argument of a kind it never had.
# So the cost of a run grows with the code and not with the number of calls.
EXACT: Final = Bound(6, "walks of a function that are told apart by all arguments", hides=False)
WALKS: Final = Bound(1024, "ways to call a function")
DEEP: Final = Bound(3, "levels of containers", hides=False)
"""Below, all content is one kind: a function that is called often is not walked for each."""
_PLAIN: Final = (Tensor, Static, Unknown)
"""What holds nothing, and is of no class of the project."""


class Given:
    """The arguments of a walk by their names; they are hashed once, for all that is looked up."""

    __slots__ = ("_hash", "pairs")

    def __init__(self, pairs: tuple[tuple[str, Value], ...]) -> None:
        self.pairs: Final = pairs
        self._hash: Final = hash(pairs)

    def __hash__(self) -> int:
        """Hash the content."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare the content."""
        return self is other or (isinstance(other, Given) and self.pairs == other.pairs)


@record(eq=False)
class MethodCall:
    """How a walk calls a method of an object that the function is given."""

    body: Body
    statement: ast.stmt
    facts: Facts
    arguments: Arguments
    node: ast.Call


Asked = dict[ClassInfo, dict[str, MethodCall | None]]
"""The attributes that a walk asks objects of classes for, with the call where it is a method's."""


def ask(asked: Asked, cls: ClassInfo, attribute: str) -> None:
    """Note that an object of a class is asked for an attribute."""
    known = asked.get(cls)
    if known is None:
        asked[cls] = {attribute: None}
    else:
        known.setdefault(attribute, None)


Asks = tuple[ClassInfo, dict[str, MethodCall | None]]
_UNASKED: Final[dict[str, MethodCall | None]] = {}
Filled = dict[str, Value]
"""The lists and dicts among the arguments that a walk put something into, as they are then."""
_NOTHING: Final[Filled] = {}
Again = Callable[[], Value | None]
Likewise = list[tuple[Function, MethodCall]]
"""Methods to call as others of their names were called before."""


class Contexts:
    """The walks of one function in one kind of region, and what they answered.

    ``_asked`` are the attributes that the walks asked each parameter's objects for, with the calls
    of methods by the kinds of arguments that the walk had: they hold for others of these kinds.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour: Final = behaviour
        self._begins_anew: Final = behaviour is not None and behaviour[0] is not True
        self._known: Final[dict[Given, Value]] = {}
        self._filled: Final[dict[Given, Filled]] = {}
        self.walked: Final[list[tuple[Given, Again | None]]] = []
        self._answer: Value | None = None
        self._had: Final[set[Hashable]] = set()
        self._asked: Final[dict[str, dict[str, dict[int, MethodCall]]]] = {}
        self._numbers: Final[dict[Kinds, int]] = {}
        self._asks: Final[dict[Given, list[Asks]]] = {}
        self._looked: Final[dict[tuple[str, ClassInfo], int]] = {}

    @property
    def is_full(self) -> bool:
        """True when the function was walked as often as the cost allows."""
        return len(self.walked) >= WALKS.most

    @property
    def has_asked(self) -> bool:
        """True when some walk asked an object that it was given for something."""
        return bool(self._asked)

    def get(self, given: Given) -> Value | None:
        """What a walk for these arguments answered."""
        return self._known.get(given)

    def filled(self, given: Given) -> Filled:
        """What a walk for these arguments put something into."""
        return self._filled.get(given, _NOTHING) if self._filled else _NOTHING

    def note(
        self, given: Given, answer: Value, asked: Asked, filled: Filled, again: Again | None = None
    ) -> None:
        """Remember a walk, and what repeats it where that can be done by itself."""
        self.walked.append((given, again))
        self._known[given] = answer
        if filled:
            self._filled[given] = filled
        self._answer = None
        if not asked:
            return
        classes = _classes(given)
        if not classes:
            return
        kinds = self._numbers.setdefault(_kinds_of(given), len(self._numbers))
        self._asks.clear()
        for name, _, cls in classes:
            for attribute, call in asked.get(cls, _UNASKED).items():
                calls = self._asked.setdefault(name, {}).setdefault(attribute, {})
                if call is not None:
                    calls.setdefault(kinds, call)

    def also(self, given: Given, answer: Value, filled: Filled) -> None:
        """Remember what is as true of arguments of which less is known."""
        self._known.setdefault(given, answer)
        if filled:
            self._filled.setdefault(given, filled)
        self._answer = None

    def answer(self) -> Value:
        """What may come of a call that is not walked."""
        if self._answer is None:
            self._answer = join([*self._known.values()])
        return self._answer

    def asks(self, given: Given) -> list[Asks]:
        """What a walk for these arguments would ask their objects for."""
        known = self._asks.get(given)
        if known is None:
            classes = _classes(given, self._asked)
            kinds = self._number(given) if classes else 0
            known = self._asks[given] = [
                (cls, {name: calls.get(kinds) for name, calls in self._asked[place].items()})
                for place, _, cls in classes
            ]
        return known

    def is_new(self, analysis: Analysis, given: Given, likewise: Likewise) -> bool:
        """Whether a walk for these arguments may come to something new.

        Where that is only methods of other classes, called as others were, they go to
        ``likewise``, and no walk is needed.
        """
        if len(self.walked) < EXACT.most:
            return True
        EXACT.cut()
        if not self._had:
            for walked, _ in self.walked:
                self._had.update(self._kinds(analysis, walked))
        fresh = {kind for kind in self._kinds(analysis, given) if kind not in self._had}
        methods = [*self._unwalked_methods(analysis, given)]
        self._had.update(fresh)
        self._had.update(method.info for method, _ in methods)
        calls = [(method, call) for method, call in methods if call is not None]
        if fresh or len(calls) < len(methods):
            return True
        likewise += calls
        return False

    def _kinds(self, analysis: Analysis, given: Given) -> Iterator[Hashable]:
        """What is told apart once a function was walked often; objects are, by their methods."""
        for place, part in _placed(given.pairs):
            if self._behaviour is None:
                yield from _compilable(part)
            elif isinstance(part, Function):
                if self._is_unwalked(analysis, part.info):
                    yield part.info
            elif not isinstance(part, (Object, Class)):
                yield place, _kind(part)

    def _unwalked_methods(
        self, analysis: Analysis, given: Given
    ) -> Iterator[tuple[Function, MethodCall | None]]:
        """Methods of the arguments that a walk would ask for, and no walk came to yet."""
        classes = _classes(given, self._asked) if self._asked else []
        kinds = self._number(given) if classes else 0
        for name, part, cls in classes:
            asked = self._asked.get(name, {})
            if self._looked.get((name, cls)) == len(asked):
                continue
            self._looked[name, cls] = len(asked)
            for attribute, calls in asked.items():
                method = analysis.project.method(cls, attribute)
                if method is None or method in self._had:
                    continue
                if self._is_unwalked(analysis, method):
                    call = calls.get(kinds) if isinstance(part, Object) else None
                    yield Function(method, part), call

    def _number(self, given: Given) -> int:
        return self._numbers.get(_kinds_of(given), -1)

    def _is_unwalked(self, analysis: Analysis, info: FunctionInfo) -> bool:
        """True where no walk came to a function yet, and none begins there."""
        begins = self._begins_anew and info.name == "forward"
        return not begins and self._behaviour not in analysis.memory.get(info, ())


def _compilable(value: Value) -> Iterator[Hashable]:
    """What eager code may compile: all else that it is given makes no difference to regions."""
    if isinstance(value, (Function, Class)):
        yield value.info
    elif isinstance(value, Object) and value.is_module:
        yield value.cls


def _classes(
    given: Given, places: Container[str] | None = None
) -> list[tuple[str, Value, ClassInfo]]:
    """The classes of the project that arguments are of, or are, or hold, in some places or all."""
    found: list[tuple[str, Value, ClassInfo]] = []
    rich = [pair for pair in given.pairs if not isinstance(pair[1], _PLAIN)]
    for place, part in _placed(rich, places):
        if isinstance(part, Object):
            if part.cls is not None:
                found.append((place, part, part.cls))
        elif isinstance(part, Class):
            found.append((place, part, part.info))
    return found


def _placed(
    given: Iterable[tuple[str, Value]], places: Container[str] | None = None
) -> Iterator[tuple[str, Value]]:
    """The arguments and what they hold, each with the place where it stands."""
    for name, value in given:
        inside = f"{name}[]"
        is_wanted, is_inside_wanted = True, True
        if places is not None:
            is_wanted, is_inside_wanted = name in places, inside in places
        for option in options(value) if is_wanted or is_inside_wanted else ():
            if is_wanted:
                yield name, option
            for held in _held(option) if is_inside_wanted else ():
                for part in _parts(held, DEEP.most - 1):
                    yield inside, part


def _kinds_of(given: Given) -> Kinds:
    return tuple([(name, _kind(value)) for name, value in given.pairs])


def _kind(value: Value) -> Hashable:
    """A constant that a branch may ask for, or what kind of thing it is otherwise."""
    if isinstance(value, Static):
        return value.type if value.type in ("int", "float") else value
    if isinstance(value, Union):
        return frozenset(_kind(option) for option in value.options)
    return value.name if isinstance(value, BoundExternal) else type(value).__name__


def _parts(value: Value, deep: int) -> Iterator[Value]:
    """The value, its alternatives and what it holds."""
    if isinstance(value, Union):
        for option in value.options:
            yield from _parts(option, deep)
        return
    yield value
    for part in _held(value) if deep and type(value) in _HOLDING else ():
        yield from _parts(part, deep - 1)


_HOLDING: Final = frozenset({Sequence, Mapping, Iteration, Compiled, Partial, Function, Object})


def _held(value: Value) -> Iterable[Value]:
    if type(value) not in _HOLDING:
        return ()
    if isinstance(value, Sequence):
        return value.items or (value.element,)
    if isinstance(value, Mapping):
        return [*[part for _, part in value.items], value.element]
    if isinstance(value, Iteration):
        return (value.element,)
    if isinstance(value, Compiled):
        return (value.inner,)
    if isinstance(value, Partial):
        return (value.function, *value.positional)
    if isinstance(value, Function):
        return () if value.bound is None else (value.bound,)
    if isinstance(value, Object):
        return [part for _, part in value.fields or ()]
    return ()
