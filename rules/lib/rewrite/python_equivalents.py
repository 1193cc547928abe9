"""What Python offers in the place of numpy's functions of numbers."""

from __future__ import annotations

import ast
from functools import partial

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import, Repair, Replace, Rewrite
from tclint.records import record
from tclint.semantics.events import NumpyCall
from tclint.semantics.lattice import is_number, options
from tclint.semantics.site import Site
from tclint.semantics.values import Sequence, Static, SymInt, Value

from ..facts.fallbacks import KEPT, is_asked_for
from ..facts.integers import least
from ..facts.number_flow import End, Step
from ..judge.python_numbers import INT_BITS, bits, verdict_of
from ..judge.verdict import PROVED, Changes, Verdict, combine
from .proved import repair_as_proved

_ULP = (
    "numpy and `math` may differ in the last digit, and `math` raises ValueError for invalid input"
)
_WIDE = "numpy takes arrays, too, and its integers overflow: `math` takes numbers of any size"
_INT = "the result is an int instead of a float"


@record(frozen=True)
class PythonEquivalent:
    """``kind`` is what numpy's function gives; ``differs`` is a difference that always remains.

    ``takes`` is the number of arguments.
    """

    name: str
    kind: str
    reduces: bool = False
    differs: str = ""
    takes: int = 1


PYTHON_EQUIVALENTS = {
    "numpy.amax": PythonEquivalent("max", "int", reduces=True),
    "numpy.amin": PythonEquivalent("min", "int", reduces=True),
    "numpy.ceil": PythonEquivalent("math.ceil", "float", differs=_INT),
    "numpy.exp": PythonEquivalent("math.exp", "float", differs=_ULP),
    "numpy.floor": PythonEquivalent("math.floor", "float", differs=_INT),
    "numpy.gcd": PythonEquivalent("math.gcd", "int", differs=_WIDE, takes=2),
    "numpy.lcm": PythonEquivalent("math.lcm", "int", differs=_WIDE, takes=2),
    "numpy.log": PythonEquivalent("math.log", "float", differs=_ULP),
    "numpy.log10": PythonEquivalent("math.log10", "float", differs=_ULP),
    "numpy.log2": PythonEquivalent("math.log2", "float", differs=_ULP),
    "numpy.max": PythonEquivalent("max", "int", reduces=True),
    "numpy.min": PythonEquivalent("min", "int", reduces=True),
    "numpy.prod": PythonEquivalent("math.prod", "int", reduces=True),
    "numpy.sqrt": PythonEquivalent("math.sqrt", "float"),
    "numpy.sum": PythonEquivalent("sum", "int", reduces=True),
}


def is_constant_number(value: Value) -> bool:
    """True for numbers, shapes and sequences of them that Dynamo knows while tracing."""
    return all(_is_constant(option) for option in options(value))


def _is_constant(value: Value) -> bool:
    if isinstance(value, Sequence):
        members = value.items if value.items is not None else (value.element,)
        return all(is_constant_number(member) for member in members)
    if isinstance(value, Static):
        return value.type in (None, "int", "float", "tuple", "list", "torch.Size")
    return isinstance(value, SymInt)


def is_definite(value: Value) -> bool:
    """False for settings of which only the existence is known, and shapes of any length.

    The product of a shape with one size is a number that Dynamo knows.
    """
    return not any(
        (isinstance(v, Static) and v.type is None) or (isinstance(v, Sequence) and v.items is None)
        for v in options(value)
    )


def use_equivalent(
    event: NumpyCall, equivalent: PythonEquivalent, way: list[Step | End]
) -> Repair | Decline:
    """Replace the numpy function by its equivalent, as far as the uses of the number allow it."""
    site, call = event.site, event.call
    if call.keywords or len(call.args) != equivalent.takes:
        number = "one argument" if equivalent.takes == 1 else f"{equivalent.takes} arguments"
        return Decline(f"`{equivalent.name}` takes {number}")
    if is_asked_for(site, equivalent.name):
        return Decline(KEPT.format(equivalent.name))
    name, imports = _library(site, equivalent.name)
    verdicts = [_argument(site, call, equivalent), verdict_of(site, way, partial(least, site))]
    verdict = combine(verdicts)
    rewrites: tuple[Rewrite, ...] = (*imports, Replace(call.func, name))
    return repair_as_proved(verdict, f"Use `{name}`", rewrites)


def _argument(site: Site, call: ast.Call, equivalent: PythonEquivalent) -> Verdict:
    if equivalent.reduces:
        return _members(site, call, equivalent)
    if equivalent.differs:
        return Changes(equivalent.differs)
    bound = least(site, call.args[0])
    if bound is not None and bound >= 0:
        return PROVED
    return Changes(f"`{equivalent.name}` raises ValueError for a negative number")


def _members(site: Site, call: ast.Call, equivalent: PythonEquivalent) -> Verdict:
    """The members must be integers; for none at all numpy gives 1.0 or 0.0, not an int."""
    for value in options(site.value(call.args[0])):
        whole = isinstance(value, Sequence) and _whole(value)
        if not whole and not _known_integers(value):
            return Changes(f"`{site.text(call.args[0])}` may hold values other than integers")
        empty = isinstance(value, Sequence) and not value.items
        if empty and not (equivalent.name in ("math.prod", "sum") and _is_converted(site, call)):
            return Changes("for an empty shape numpy gives a float, or raises a different error")
    if bits(site, call.args[0]) >= INT_BITS:
        return Changes(f"`{site.text(call)}` no longer wraps around")
    return PROVED


def _whole(value: Sequence) -> bool:
    members = value.items if value.items is not None else (value.element,)
    return all(is_number(member, "int") for member in members)


def _known_integers(value: Value) -> bool:
    if not isinstance(value, Static) or not value.known or not value.value:
        return False
    return isinstance(value.value, (tuple, list)) and all(type(v) is int for v in value.value)


def _is_converted(site: Site, call: ast.Call) -> bool:
    outer = site.parent(call)
    return isinstance(outer, ast.Call) and site.dotted(outer.func) == "int"


def _library(site: Site, dotted: str) -> tuple[str, tuple[Import, ...]]:
    """How to write a builtin, or a name of another module with the import that it needs."""
    spelled = site.spell(dotted)
    module, _, inside = dotted.partition(".")
    imports = (Import(module),) if inside and spelled is None else ()
    return spelled or dotted, imports
