"""Putting abstract values together: alternatives, what may be a tensor, what covers several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tclint.semantics.bounds import Bound
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    Class,
    Compiled,
    DType,
    External,
    Function,
    Iteration,
    Mapping,
    Object,
    Partial,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Union,
    Unknown,
    Value,
)

FEW: Final = Bound(6, "alternatives for a value", hides=False)
"""Of more, those that are data are one: no code hangs on which it is."""
ALTERNATIVES: Final = Bound(64, "alternatives for a value", in_values=True)
CLASSES: Final = Bound(8, "classes for an object", in_regions=True)
WEIGHT: Final = Bound(512, "parts in a value")
"""Larger containers are told by what any of their members may be."""


def spread(function: Callable[[Value], Value], value: Value) -> Value:
    """Apply a function to each alternative that an operation can work on, and join the results."""
    if type(value) is not Union:
        return function(value)
    return join([function(option) for option in value.options if option is not NONE])


def present(value: Value) -> list[Value]:
    """The alternatives that an operation can work on: None would raise, so it is left out."""
    if not isinstance(value, Union):
        return [value]
    return [option for option in value.options if option is not NONE]


def same(one: Value, other: Value) -> bool:
    """``==``, but dataclasses of two types are not asked one after the other."""
    return one is other or (type(one) is type(other) and one == other)


NUMBERS: Final = ("bool", "complex", "float", "int")
"""The types of Python's numbers."""


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: itself, or each option of a union."""
    return value.options if isinstance(value, Union) else (value,)


def join(values: Iterable[Value]) -> Value:
    """The least value that covers all of ``values``; Unknown when there are none."""
    given = values if isinstance(values, (list, tuple)) else [*values]
    count = len(given)
    if count == 1:
        return given[0]
    if count == 2:
        joined = _join_two(given[0], given[1])
        if joined is not None:
            return joined
    flat = _flattened(given)
    if len(flat) > 1:
        _merge_objects(flat)
    if len(flat) == 1:
        return next(iter(flat))
    if not flat:
        return UNKNOWN
    members, first = frozenset(flat), given[0]
    if type(first) is Union and len(flat) <= FEW.most and first.members == members:
        return first
    return _union([*flat], members)


def _union(flat: list[Value], members: frozenset[Value]) -> Value:
    """One of several values, of which code hangs on those that stay."""
    if len(flat) > FEW.most:
        few = _of_many(flat)
        members = members if few is flat else frozenset(few)
        flat = few
    return Union(tuple(flat), members) if len(flat) > 1 else flat[0]


def _join_two(left: Value, right: Value) -> Value | None:
    """What covers two values, where that is quickly said."""
    if same(left, right):
        return left
    if type(left) is Tensor and type(right) is Tensor:
        return _join_tensors([left, right])
    if type(left) is Static and type(right) is Static:
        return _join_constants(left, right)
    if type(left) is Object and type(right) is Object and _is_same_made(left, right):
        return _join_objects([left, right])
    if type(left) is Union:
        return _with_option(left, right)
    if type(right) is Union:
        if left in right.members:
            return right
        if len(right.options) < ALTERNATIVES.most and _is_joined_with_none(left):
            return Union((left, *right.options), right.members | {left})
        return None
    if type(left) is not type(right) or (
        _is_joined_with_none(left) and _is_joined_with_none(right)
    ):
        return Union((left, right), frozenset((left, right)))
    return None


def _join_constants(left: Static, right: Static) -> Value | None:
    """What covers two constants that differ."""
    if left is NONE or right is NONE:
        return Union((left, right), frozenset((left, right)))
    if "NoneType" in (left.type, right.type):
        return None
    return Static(left.type if left.type == right.type else None)


def _with_option(left: Union, right: Value) -> Value | None:
    """What covers a union and another value, where that is quickly said."""
    if type(right) is Union:
        if left.covers(right):
            return left
        fresh = right.members - left.members
        if not all(map(_is_joined_with_none, fresh)):
            return None
        added = [option for option in right.options if option in fresh]
        return _union([*left.options, *added], left.members | fresh)
    if right in left.members:
        return left
    if len(left.options) < ALTERNATIVES.most and _is_joined_with_none(right):
        return Union((*left.options, right), left.members | {right})
    return None


def _is_joined_with_none(value: Value) -> bool:
    """True for what stands in a union as it is, whatever else does."""
    if isinstance(value, Object):
        return value.fields is None
    if isinstance(value, Function):
        return _stays_apart(value)
    return type(value) not in _JOINED or value is NONE


_JOINED: Final = frozenset({Tensor, Static, Union})


def _flattened(given: Iterable[Value]) -> dict[Value, None]:
    """The alternatives of some values, with at most one tensor and one constant among them.

    What stands for several comes last. Only what may stay is hashed: tables have many constants.
    """
    flat: dict[Value, None] = {}
    tensors: list[Tensor] = []
    statics: list[Static] = []
    for value in given:
        for option in value.options if type(value) is Union else (value,):
            if type(option) is Tensor:
                if not tensors:
                    flat[option] = None
                if not tensors or not same(option, tensors[0]):
                    tensors.append(option)
            elif type(option) is Static and option.type != "NoneType":
                if not statics:
                    flat[option] = None
                if not statics or not same(option, statics[0]):
                    statics.append(option)
            else:
                flat[option] = None
    if len(tensors) > 1:
        del flat[tensors[0]]
        flat[_join_tensors(tensors)] = None
    if len(statics) > 1:
        del flat[statics[0]]
        types = {static.type for static in statics}
        flat[Static(types.pop() if len(types) == 1 else None)] = None
    return flat


def _merge_objects(flat: dict[Value, None]) -> None:
    """Put objects of a class together whose making was in view, and methods of such."""
    made: dict[tuple[ClassInfo | None, str], list[Object]] = {}
    for one in flat:
        if type(one) is Object and one.fields is not None:
            made.setdefault((one.cls, one.name), []).append(one)
    for alike in made.values():
        if len(alike) > 1:
            for other in alike:
                del flat[other]
            flat[_join_objects(alike)] = None
    methods = [one for one in flat if type(one) is Function and not _stays_apart(one)]
    for method in methods if len(methods) > 1 else ():
        bound = [one for one in methods if one in flat and _is_same_method(method, one)]
        if len(bound) > 1:
            for one_bound in bound:
                del flat[one_bound]
            flat[_join_methods(bound)] = None


def _of_many(flat: list[Value]) -> list[Value]:
    """The alternatives that code hangs on, as many as may be; what the others are is not known."""
    too_many = sum(map(_is_plain_object, flat)) > CLASSES.most
    if too_many:
        CLASSES.cut()
    kept = [
        value
        for value in flat
        if not (too_many and _is_plain_object(value))
        and (value is NONE or type(value) not in _DATA or not is_data(value))
    ]
    if len(kept) > ALTERNATIVES.most:
        ALTERNATIVES.cut()
        kept = kept[: ALTERNATIVES.most]
    return flat if len(kept) == len(flat) else [*kept, UNKNOWN]


def _is_plain_object(value: Value) -> bool:
    return type(value) is Object and not value.is_module


_DATA: Final = frozenset({Static, Unknown, Sequence, Mapping})


def _stays_apart(value: Value) -> bool:
    """True for a member of a table that is joined with no other one."""
    if type(value) is Function:
        return type(value.bound) is not Object or value.bound.fields is None
    return type(value) is Class


def _is_same_method(one: Function, other: Function) -> bool:
    """True for a method of two objects of a class whose making was in view."""
    made, also = one.bound, other.bound
    if one.info is not other.info or type(made) is not Object or type(also) is not Object:
        return False
    return _is_same_made(made, also)


def _join_methods(methods: list[Function]) -> Function:
    """One method for several that are bound to objects of a class."""
    owners = [one.bound for one in methods if type(one.bound) is Object]
    return Function(methods[0].info, _join_objects(owners))


def _is_same_made(one: Object, other: Object) -> bool:
    """True for two objects of a class whose making was in view."""
    made = one.fields is not None and other.fields is not None
    return made and one.cls is other.cls and one.name == other.name


def _join_objects(made: list[Object]) -> Object:
    """One object for several of a class; an attribute that one of them has keeps its value."""
    first = made[0]
    fields: dict[str, list[Value]] = {}
    for one in made:
        for name, value in one.fields or ():
            fields.setdefault(name, []).append(value)
    joined = tuple((name, join(values)) for name, values in fields.items())
    return Object(first.name, first.cls, fields=joined)


def bounded(value: Sequence | Mapping) -> Value:
    """The container, or what any member of one with very many parts may be.

    ``x = x + x`` would double a value with every line.
    """
    if isinstance(value, Sequence) and value.items is not None and _flat(value.items):
        return value
    if not _heavy(value, WEIGHT.most):
        return value
    if isinstance(value, Mapping):
        return Mapping((), _any_of((*(part for _, part in value.items), value.element)))
    return Sequence(value.type, _any_of(value.items or (value.element,)))


def is_data(value: Value) -> bool:
    """True for what is made of constants and things unknown: no code hangs on which it is."""
    if isinstance(value, Union):
        return all(map(is_data, value.options))
    if isinstance(value, Sequence):
        return is_data(value.element) and all(map(is_data, value.items or ()))
    if isinstance(value, Mapping):
        return is_data(value.element) and all(is_data(part) for _, part in value.items)
    return isinstance(value, (Static, Unknown))


def _any_of(members: tuple[Value, ...]) -> Value:
    """What any of them may be, unless that is too much itself."""
    element = join(members)
    if not _heavy(element, WEIGHT.most // 2):
        return element
    if not all(map(is_data, members)):
        WEIGHT.cut()
    return UNKNOWN


def _flat(items: tuple[Value, ...]) -> bool:
    return len(items) < WEIGHT.most and _CONTAINERS.isdisjoint(map(type, items))


_CONTAINERS: Final = frozenset({Sequence, Mapping, Iteration, Compiled, Partial, Union})


def _heavy(value: Value, limit: int) -> bool:
    pending = [value]
    count = 0
    while pending:
        count += 1
        if count + len(pending) > limit:
            return True
        part = pending.pop()
        if isinstance(part, Sequence):
            pending += part.items or (part.element,)
        elif isinstance(part, Mapping):
            pending += [part.element, *(inner for _, inner in part.items)]
        elif isinstance(part, Iteration):
            pending.append(part.element)
        elif isinstance(part, Compiled):
            pending.append(part.inner)
        elif isinstance(part, Partial):
            pending += [part.function, *part.positional, *(inner for _, inner in part.keywords)]
        elif isinstance(part, Union):
            pending += part.options
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
            first.cls if first.cls is other.cls else None,
            first.guess,
        )
    return first


def with_dtype(tensor: Tensor, dtype: DType | None) -> Tensor:
    """The tensor with another element type, or none known."""
    return Tensor(
        tensor.rank, dtype, tensor.device, tensor.role, tensor.assumed, tensor.random,
        tensor.from_compiled, tensor.why, tensor.cls, tensor.guess,
    )  # fmt: skip


def tensor_in(value: Value) -> Tensor | None:
    """The tensor that a value certainly is, ignoring a None alternative; else None."""
    if type(value) is not Union:
        return value if isinstance(value, Tensor) else None
    found: Tensor | None = None
    for option in value.options:
        if isinstance(option, Tensor):
            found = option
        elif option is not NONE:
            return None
    return found


def tensor_on_some_paths(value: Value) -> Tensor | None:
    """The tensor that a value is on some paths, and a number on all others; else None."""
    kinds = list(options(value))
    tensors = [kind for kind in kinds if isinstance(kind, Tensor)]
    if not tensors or len(tensors) == len(kinds):
        return None
    others = [kind for kind in kinds if not isinstance(kind, Tensor)]
    return tensors[0] if all(is_number(kind, "int", "float", "bool") for kind in others) else None


def all_are(value: Value, *kinds: type[Value]) -> bool:
    """True when each alternative is of one of some kinds."""
    return all(isinstance(option, kinds) for option in options(value))


def is_number(value: Value, *types: str) -> bool:
    """True for a number of some types, or of any, that Dynamo knows while tracing."""
    wanted = types or NUMBERS
    return all(
        option.type in wanted
        if isinstance(option, Static)
        else isinstance(option, SymInt) and "int" in wanted
        for option in options(value)
    )


def likely_tensor(value: Value) -> Tensor | None:
    """The tensor that a value is, assumed where it is not known what else it may be."""
    if type(value) is not Union or UNKNOWN not in value.members:
        return tensor_in(value)
    known = [option for option in value.options if option is not UNKNOWN]
    tensor = tensor_in(join(known))
    return None if tensor is None else as_assumed(tensor)


def as_assumed(tensor: Tensor) -> Tensor:
    """The tensor, believed for lack of better knowledge."""
    return Tensor(
        tensor.rank, tensor.dtype, tensor.device, tensor.role, True, tensor.random,
        tensor.from_compiled, tensor.why, tensor.cls, tensor.guess,
    )  # fmt: skip


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


def is_vague(value: Value) -> bool:
    """True when nothing is known of the value, or of what it holds."""
    if type(value) is Union:
        return any(map(is_vague, value.options))
    if isinstance(value, Sequence):
        return any(map(is_vague, value.items or (value.element,)))
    return isinstance(value, (Unknown, Mapping))


def is_static(value: Value) -> bool:
    """True when Dynamo certainly knows the value while tracing (constants, shapes, modules)."""
    return all(isinstance(v, (Static, SymInt, Class, External, Function)) for v in options(value))
