"""What speaks for a parameter to be a tensor, and what against it, in words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.records import record
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.annotations import annotation_value
from tclint.semantics.interpreter.told import use_of
from tclint.semantics.interpreter.uses import NEITHER, Sign, signs_of
from tclint.semantics.interpreter.weighing import is_named_like_tensor
from tclint.semantics.lattice import is_tensor, may_be_tensor
from tclint.semantics.readable import readable
from tclint.semantics.symbols import FunctionInfo, parameters_of
from tclint.semantics.values import UNKNOWN, Value

_RECEIVERS: Final = frozenset({"self", "cls"})


@record(frozen=True)
class Evidence:
    """One piece: what it is, where, and whether it speaks for a tensor; None where for neither."""

    text: str
    for_tensor: bool | None = None
    row: int | None = None

    def __str__(self) -> str:
        """The piece, behind what it speaks for."""
        where = f" in line {self.row}" if self.row is not None else ""
        side = {True: "for a tensor: ", False: "against a tensor: ", None: ""}[self.for_tensor]
        return f"{side}{self.text}{where}"


def evidence_of(analysis: Analysis, info: FunctionInfo, name: str) -> Iterator[Evidence]:
    """All that is known of a parameter; nothing for ``self``, and for names of others."""
    for argument, default in parameters_of(info.node):
        if argument.arg == name and name not in _RECEIVERS:
            yield from _declared(analysis, info, argument, default)
            yield from _used(analysis, info, name)
            yield from _passed(analysis, info, name)


def _declared(
    analysis: Analysis, info: FunctionInfo, argument: ast.arg, default: ast.expr | None
) -> Iterator[Evidence]:
    if argument.annotation is not None:
        value = annotation_value(analysis, info, argument.annotation)
        yield Evidence(f"annotated `{ast.unparse(argument.annotation)}`", _side(value))
    match default:
        case None if info.name == "__init__":
            yield Evidence("a parameter of `__init__`, which is given settings", False)
        case None:
            if argument.annotation is None:
                yield Evidence("a parameter with no annotation and no default", True)
        case ast.Constant(value=None):
            named = is_named_like_tensor(argument.arg)
            name = "named like a tensor" if named else "not named like a tensor"
            yield Evidence(f"`None` by default, and {name}", named)
        case _:
            yield Evidence(f"`{ast.unparse(default)}` by default", False)


def _used(analysis: Analysis, info: FunctionInfo, name: str) -> Iterator[Evidence]:
    told: set[tuple[str, int]] = set()
    for kind, speaks_for, place in signs_of(info.node, name):
        row: int | None = getattr(place, "lineno", None)
        if row is not None and (kind, row) not in told:
            told.add((kind, row))
            yield Evidence(f"used as {kind}", speaks_for, row)
    own = {kind for kind, _ in told}
    for sign in sorted(use_of(analysis, info, name).signs, key=lambda one: one.value):
        if sign.value not in own:
            speaks_for = None if sign in NEITHER else sign is Sign.TENSOR
            text = f"{sign.value}, by the docstring or by what it is passed to"
            yield Evidence(text, speaks_for)


def _passed(analysis: Analysis, info: FunctionInfo, name: str) -> Iterator[Evidence]:
    compiled = analysis.observed.get(info, {}).get(name, UNKNOWN)
    if compiled is not UNKNOWN:
        yield Evidence(f"calls pass {readable(compiled)}", _side(compiled))
    eager = analysis.given.get(info, {}).get(name, UNKNOWN)
    if eager is not UNKNOWN:
        yield Evidence(f"calls in eager code pass {readable(eager)}", _side(eager))


def _side(value: Value) -> bool | None:
    if value is UNKNOWN:
        return None
    return True if is_tensor(value) else None if may_be_tensor(value) else False
