"""What a parameter holds when no call says: from its annotation, its default, its name."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from tclint.semantics.interpreter.annotations import annotation_value
from tclint.semantics.interpreter.operators import BOOL
from tclint.semantics.interpreter.told import use_of
from tclint.semantics.interpreter.uses import Sign, uses_of
from tclint.semantics.interpreter.weighing import is_named_like_tensor, members_by_use, value_by_use
from tclint.semantics.interpreter.wrappers import is_wrapped
from tclint.semantics.lattice import join, options, present, tensor_in
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    DType,
    Guess,
    Mapping,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
    set_by_default,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis


def assumed_value(
    analysis: Analysis, info: FunctionInfo, argument: ast.arg, default: ast.expr | None
) -> Value:
    """The value of a region root's parameter.

    Annotations are believed. An unannotated parameter without default is taken for a tensor (and
    marked ``assumed``), one with a constant default for a constant, one with ``None`` for a tensor
    where its name says so.
    """
    dtype = DType(f"~{argument.arg}:{info.qualname}:{argument.lineno}")
    annotated = annotation_value(analysis, info, argument.annotation, dtype)
    if annotated is not UNKNOWN:
        if isinstance(annotated, Mapping):
            annotated = members_by_use(use_of(analysis, info, argument.arg), annotated)
        known = _with_default(annotated, default)
        return _as_given(analysis, info, argument.arg, _unasked(analysis, info, known))
    if argument.annotation is not None:
        return UNKNOWN
    why = f"parameter `{argument.arg}` of `{info.qualname}`"
    tensor = Tensor(
        dtype=BOOL if is_mask(analysis, info, argument.arg) else dtype, assumed=True, why=why,
        guess=Guess.UNFOUNDED,
    )  # fmt: skip
    match default:
        case None:
            if is_given_numbers(analysis, info, argument.arg):
                return STATIC
            return value_by_use(use_of(analysis, info, argument.arg), tensor, argument.arg)
        case ast.Constant(value=None):
            if not is_named_like_tensor(argument.arg):
                return UNKNOWN
            return join(
                (value_by_use(use_of(analysis, info, argument.arg), tensor, argument.arg), NONE)
            )
        case ast.Constant(value=constant):
            known = set_by_default(constant)
            return _as_given(analysis, info, argument.arg, known)
    return UNKNOWN


def _as_given(analysis: Analysis, info: FunctionInfo, name: str, promised: Value) -> Value:
    """What calls pass for what was meant: a tensor for a number, an object of a class below it."""
    passed = analysis.given.get(info, {}).get(name, UNKNOWN)
    if isinstance(promised, Object):
        below = [kind for kind in options(passed) if _is_below(analysis, kind, promised)]
        return join([*below, promised]) if below else promised
    given = tensor_in(passed)
    numbers = all(isinstance(o, Static) and o.type in _NUMBERS for o in present(promised))
    if given is None or given.assumed or not numbers:
        return promised
    return join((given, promised))


def _is_below(analysis: Analysis, value: Value, promised: Object) -> bool:
    if not isinstance(value, Object) or value.cls is None or promised.cls is None:
        return False
    return value.cls is not promised.cls and promised.cls in analysis.project.ancestry(value.cls)


_NUMBERS: Final = frozenset({"int", "float", "bool"})


def is_mask(analysis: Analysis, info: FunctionInfo, name: str) -> bool:
    """True for a parameter that is used as only a mask is, or given one by the calls to be seen."""
    if name in uses_of(analysis, info.node).masks:
        return True
    given = analysis.given.get(info, {}).get(name)
    return given is not None and all(
        isinstance(kind, Tensor) and kind.dtype is not None and kind.dtype.category == "bool"
        for kind in present(given)
    )


def is_given_numbers(analysis: Analysis, info: FunctionInfo, name: str) -> bool:
    """True for a parameter that the calls to be seen give numbers, sizes or text.

    Some may give what is not known, unless the function uses it as a tensor.
    """
    given = [*options(analysis.given.get(info, {}).get(name, UNKNOWN))]
    known = [kind for kind in given if kind is not UNKNOWN]
    if not known or not all(map(_is_plain, known)):
        return False
    return known == given or Sign.TENSOR not in use_of(analysis, info, name).signs


def _is_plain(value: Value) -> bool:
    if isinstance(value, Sequence):
        members = value.items if value.items is not None else (value.element,)
        return all(_is_plain(kind) for member in members for kind in options(member))
    plain = isinstance(value, Static) and value.type in ("int", "float", "bool", "str")
    return plain or isinstance(value, SymInt)


def keywords_value(analysis: Analysis, info: FunctionInfo, argument: ast.arg) -> Value:
    """What a region root's ``**kwargs`` hold: tensors under the keys that are named like one."""
    promised = annotation_value(analysis, info, argument.annotation)
    if promised is not UNKNOWN:
        return Mapping((), promised)
    if not _looks_into(info, argument):
        return Mapping(())
    items = []
    for key, use in sorted(use_of(analysis, info, argument.arg).keys.items()):
        if is_named_like_tensor(key):
            why = f"argument `{key}` of `{info.qualname}`"
            items.append((key, value_by_use(use, Tensor(assumed=True, why=why), key)))
    return Mapping(tuple(items))


def _looks_into(info: FunctionInfo, argument: ast.arg) -> bool:
    """True for a function whose text names its keywords, but for handing them on by ``**``.

    Following what it does with each key would find none otherwise, and costs far more.
    """
    name = argument.arg
    written = "".join(info.module.file.lines[argument.lineno - 1 : info.node.end_lineno])
    if not written.isascii():
        return True  # a name may be spelt in several ways
    return re.search(rf"{name}\b(?<!\w{name})(?<!\*\*{name})", written) is not None


def _with_default(value: Value, default: ast.expr | None) -> Value:
    match default:
        case ast.Constant(value=None):
            return join((value, NONE))
        case ast.Constant(value=bool() as flag) if isinstance(value, Static):
            return Static(value.type, default=flag)
    return value


def _unasked(analysis: Analysis, info: FunctionInfo, value: Value) -> Value:
    """A flag that is None unless somebody passes it; a decorator may fill it in."""
    kinds = [option for option in options(value) if option is not NONE]
    if kinds == [value] or not all(isinstance(k, Static) and k.type == "bool" for k in kinds):
        return value
    if info.decorators and is_wrapped(analysis, info):
        return value
    return join((Static("bool", default=False), NONE))
