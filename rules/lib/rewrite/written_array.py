"""Arrays that are written out, `np.array([1, 2, 4])`: their numbers as Python's own."""

from __future__ import annotations

import ast
import math
from functools import partial
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.ownership import is_local
from tclint.semantics.site import Site

from ..facts.integers import least
from ..facts.number_flow import End, Step, follow
from ..judge.python_numbers import verdict_of
from ..judge.range_bounds import judge_numpy_arange
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .proved import repair_as_proved

_MESSAGE: Final = "Write the numbers as a tuple"
_LARGEST: Final = 2**15
"""The product of such a number and one that is not large does not overflow."""
_WRAPS: Final = "products of several numbers no longer wrap around"


@record(frozen=True)
class Listed:
    """The numbers of an array, all integers or all floats; ``variable`` is what holds the array."""

    call: ast.Call
    numbers: tuple[int | float, ...]
    variable: str | None = None

    @property
    def kind(self) -> str:
        """What its elements are."""
        return "int" if isinstance(self.numbers[0], int) else "float"


def listed(site: Site, node: ast.expr) -> Listed | None:
    """The array that an expression is, where the function itself writes its numbers out."""
    if isinstance(node, ast.Name):
        stores = site.stores(node.id)
        binding = site.parent(stores[0]) if len(stores) == 1 and is_local(site, node.id) else None
        if not isinstance(binding, ast.Assign) or binding.targets != stores:
            return None
        found = listed(site, binding.value) if isinstance(binding.value, ast.Call) else None
        return Listed(found.call, found.numbers, node.id) if found is not None else None
    match node:
        case ast.Call(args=[ast.List(elts=elements) | ast.Tuple(elts=elements)], keywords=[]):
            if site.dotted(node.func) != "numpy.array":
                return None
            numbers = [number for number in map(_number, elements) if number is not None]
            alike = len({type(number) for number in numbers}) == 1
            return Listed(node, tuple(numbers)) if alike and len(numbers) == len(elements) else None
    return None


def _number(node: ast.expr) -> int | float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            fits = not isinstance(value, int) or value <= _LARGEST
            return value if fits else None
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as inner):
            found = _number(inner)
            return None if found is None else -found
    return None


def use_tuple(site: Site, array: Listed) -> Repair | Decline:
    """Write a tuple for an array, if nothing that gets the numbers can tell."""
    verdict = _judge(site, array)
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    texts = [site.text(element) for element in _elements(array)]
    text = f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    return repair_as_proved(verdict, _MESSAGE, (Replace(array.call, text),))


def write_list(site: Site, call: ast.Call, made: ast.expr) -> Repair | Decline | None:
    """Write Python's own list for ``made.tolist()``; None where nothing says what it holds."""
    if not isinstance(made, ast.Call):
        return None
    name = site.dotted(made.func)
    array = listed(site, made)
    if array is not None:
        texts = ", ".join(site.text(element) for element in _elements(array))
        return Repair("Write the list itself", (Replace(call, f"[{texts}]"),))
    if name == "numpy.arange":
        return _counted_list(site, call, made)
    return _spaced_list(site, call, made) if name == "numpy.linspace" else None


def _counted_list(site: Site, call: ast.Call, made: ast.Call) -> Repair | Decline:
    verdict = judge_numpy_arange(site, made)
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    parts: dict[str, ast.expr | ast.stmt] = {f"bound_{i}": b for i, b in enumerate(made.args)}
    text = f"list(range({', '.join(f'${name}' for name in parts)}))"
    return repair_as_proved(verdict, "Count with `range`", (Replace(call, text, parts),))


def _spaced_list(site: Site, call: ast.Call, made: ast.Call) -> Repair | Decline:
    """``start + i * step``, and the end itself: what numpy computes, in the same order."""
    given = [*made.args, *(k.value for k in made.keywords if k.arg == "num")]
    match [_number(place) for place in given]:
        case [int() | float() as start, int() | float() as end, int() as count] if len(
            given
        ) == len(made.args) + len(made.keywords) and _is_spaced(start, end, count):
            last = count - 1
        case _:
            return Decline(
                "numpy rounds in its own way: a list is known to hold the same numbers only if "
                "they are written out, and at least two"
            )
    first, end_text = site.text(given[0]), site.text(given[1])
    step = f"({end_text} - {first})" if start else end_text
    before = "" if start == 0 < end else f"{first} + "  # 0 * -1.0 is -0.0
    text = f"[{before}i * ({step} / {last}) for i in range({last})] + [{float(end)}]"
    return Repair("Compute the list in Python", (Replace(call, text),))


def _is_spaced(start: float, end: float, count: int) -> bool:
    """True where numpy computes ``start + i * step``, and not otherwise for a step too small."""
    if count < 2 or not all(map(math.isfinite, (start, end))):
        return False
    return start == end or (end - start) / (count - 1) != 0


def _elements(array: Listed) -> list[ast.expr]:
    given = array.call.args[0]
    assert isinstance(given, (ast.List, ast.Tuple))
    return given.elts


def _judge(site: Site, array: Listed) -> Verdict:
    numbers: list[ast.expr] = []
    own: list[str] = []
    for use in _uses(site, array):
        read = _read(site, use, len(array.numbers))
        if read is None:
            shown = site.text(array.call) if array.variable is None else array.variable
            return Refused(f"`{shown}` is also used as an array")
        if isinstance(read, ast.Name):
            elsewhere = _is_bound_elsewhere(site, read, array)
            if elsewhere:
                return Refused(elsewhere)
            own.append(read.id)
            numbers += site.loads(read.id)
        else:
            numbers.append(read)
    if array.variable is not None:
        own.append(array.variable)
    way = [*follow(site, numbers, array.kind)]
    bound = partial(_least, site, frozenset(own), math.floor(min(array.numbers)))
    wraps = Changes(_WRAPS) if array.kind == "int" and _products(way) > 1 else PROVED
    return combine([verdict_of(site, way, bound, own), wraps])


def _uses(site: Site, array: Listed) -> list[ast.expr]:
    return [array.call] if array.variable is None else [*site.loads(array.variable)]


def _read(site: Site, use: ast.expr, length: int) -> ast.expr | None:
    """The variable, or the element, that gets numbers of the array; None for other uses."""
    match site.parent(use):
        case (
            ast.For(iter=array, target=ast.Name() as target)
            | ast.comprehension(iter=array, target=ast.Name() as target, is_async=0)
        ) if array is use:
            return target
        case ast.Subscript(value=array, slice=place, ctx=ast.Load()) as element if array is use:
            number = _number(place)
            inside = isinstance(number, int) and -length <= number < length
            return element if inside else None
    return None


def _is_bound_elsewhere(site: Site, target: ast.Name, array: Listed) -> str:
    if not is_local(site, target.id):
        return f"`{target.id}` is used outside of the loop's function"
    for store in site.stores(target.id):
        loop = site.parent(store)
        if not isinstance(loop, (ast.For, ast.comprehension)) or loop.target is not store:
            return f"`{target.id}` is also assigned elsewhere"
        over = listed(site, loop.iter)
        if over is None or over.call is not array.call:
            return f"`{target.id}` is also the variable of another loop"
    return ""


def _products(way: list[Step | End]) -> int:
    return sum(
        isinstance(item, Step)
        and isinstance(item.node, ast.BinOp)
        and isinstance(item.node.op, ast.Mult)
        for item in way
    )


def _least(site: Site, own: frozenset[str], smallest: int, node: ast.expr) -> int | None:
    """A lower bound of an expression in which no number of the array is below ``smallest``."""
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)) if name in own:
            return smallest
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            halves = [_least(site, own, smallest, half) for half in (left, right)]
            known = [half for half in halves if half is not None]
            return sum(known) if len(known) == 2 else None
    return least(site, node)
