"""A loop that skips a step at random: compiled code does every step, and chooses its result.

Compiled code never takes the way that skips, and chooses afterwards with ``torch.where``. Eager
code stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Insert, Repair, Rewrite
from tclint.records import record
from tclint.semantics.lattice import is_tensor
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes

from ..facts.branch_tests import is_asked
from ..facts.known import certain_tensor, is_parameter
from ..facts.purity import is_pure

_IS_COMPILING: Final = "torch.compiler.is_compiling"
_MESSAGE: Final = (
    "In compiled code, compute the layer anyway and choose its result with `torch.where`; eager "
    "code stays as it is"
)
_CHANGES: Final = (
    "compiled code also computes the dropped layers: it draws their random numbers, gives their "
    "parameters gradients of zero instead of None, and keeps what they return or change besides "
    "`{name}`"
)
_COMPUTES: Final = (
    ast.Assign, ast.AugAssign, ast.If, ast.Pass, ast.Continue, ast.expr, ast.expr_context,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword, ast.comprehension,
)  # fmt: skip
_LEAVES: Final = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)


@record(frozen=True)
class Drawn:
    """A comparison of a random number; ``skips`` where its truth skips the step.

    ``guard`` is a condition without which the comparison skips nothing, as a template of ``$rate``.
    """

    node: ast.Compare
    number: ast.Name
    rate: ast.expr
    skips: bool
    guard: str = ""


@record(frozen=True)
class _Loop:
    """What a loop does from the random decision on, and the variable that it updates."""

    steps: Sequence[ast.stmt]
    name: str
    first: ast.stmt
    last: ast.stmt


def select_update(site: Site, drawn: Drawn, never: Rewrite) -> Repair | None:
    """Choose what the loop goes on with; ``never`` lets compiled code never skip."""
    spelled, where = site.spell(_IS_COMPILING), site.spell("torch.where")
    if spelled is None or where is None or certain_tensor(site, drawn.number) is None:
        return None
    loop, way = _loop(site, drawn), _Way(site, drawn)
    if loop is None or not way.leads_past(loop.steps, loop.name):
        return None
    if not all(is_asked(site, load) for flag in way.flags for load in site.loads(flag)):
        return None
    needed = _needed(site, drawn, loop, way)
    if needed is None:
        return None
    templates, parts = needed
    name, kept = loop.name, _fresh(site, f"{loop.name}_before")
    arms = f"{kept}, {name}" if drawn.skips else f"{name}, {kept}"
    tests = " and ".join([f"{spelled}()", *templates])
    chosen = f"if {tests}:\n    {name} = {where}($drawn, {arms})"
    rewrites = (
        never,
        Insert(loop.first, f"{kept} = {name}"),
        Insert(loop.last, chosen, {**parts, "drawn": drawn.node}, after=True),
    )
    return Repair(_MESSAGE, rewrites, Change.BEHAVIOUR, _CHANGES.format(name=name))


def _loop(site: Site, drawn: Drawn) -> _Loop | None:
    """The innermost loop around the decision, if it updates one tensor and only computes."""
    found = _around(site, drawn.node)
    if found is None:
        return None
    loop, steps = found
    updated = [*_updated(site, loop, steps)]
    if len(updated) != 1 or any(map(_does_more, steps)):
        return None
    [name] = updated
    if _is_changed_in_place(site, loop, name) or not _starts_as_tensor(site, loop, name):
        return None
    storing = [step for step in steps if name in _stored_in([step])]
    return _Loop(steps, name, storing[0], storing[-1])


def _around(site: Site, node: ast.AST) -> tuple[ast.For, Sequence[ast.stmt]] | None:
    """The loop around a comparison, and its steps from there on."""
    inner, outer = node, site.parent(node)
    while outer is not None and _hands_on(outer, inner):
        inner, outer = outer, site.parent(outer)
    if isinstance(outer, ast.For) and isinstance(inner, ast.stmt) and inner in outer.body:
        return outer, outer.body[outer.body.index(inner) :]
    return None


def _hands_on(outer: ast.AST, inner: ast.AST) -> bool:
    """True for what decides as the comparison in it does, other conditions aside."""
    match outer:
        case ast.If() | ast.Assign() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.IfExp(test=test, body=ast.Constant(), orelse=ast.Constant()):
            return test is inner
    return False


def _does_more(step: ast.stmt) -> bool:
    """True for a step that does more than computing values for variables."""
    for part in ast.walk(step):
        if isinstance(part, _LEAVES) or not isinstance(part, _COMPUTES):
            return True
        targets = part.targets if isinstance(part, ast.Assign) else []
        targets = [part.target] if isinstance(part, ast.AugAssign) else targets
        if not all(map(_are_names, targets)):
            return True
    return False


def _are_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(_are_names(one) for one in target.elts)
    return isinstance(target, ast.Name)


def _updated(site: Site, loop: ast.For, steps: Sequence[ast.stmt]) -> Iterator[str]:
    """Variables that had a value before the loop and get another one in the steps.

    What begins as None or as an empty tuple collects what the steps return.
    """
    for name in sorted(_stored_in(steps)):
        before = _before(site, loop, name)
        if is_parameter(site, name) or not all(_is_nothing(value) for value in before):
            yield name


def _before(site: Site, loop: ast.For, name: str) -> Iterator[ast.expr | None]:
    """What a variable is bound to outside the loop; None for what is no plain assignment."""
    for store in site.stores(name):
        if loop not in site.ancestors(store):
            binding = site.parent(store)
            yield binding.value if isinstance(binding, ast.Assign) else None


def _is_nothing(value: ast.expr | None) -> bool:
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            return _is_nothing(body) and _is_nothing(orelse)
        case ast.Constant(value=None) | ast.Tuple(elts=[]) | ast.List(elts=[]):
            return True
    return False


def _is_changed_in_place(site: Site, loop: ast.For, name: str) -> bool:
    """True for ``name += ...``, ``name.add_(...)`` and a variable that others can see, too."""
    if site.body.is_declared(name) or site.body.defines(name):
        return True
    for one in site.body.names(name):
        parent = site.parent(one)
        if is_nested(site, one) or (isinstance(parent, ast.AugAssign) and parent.target is one):
            return True
        in_place = isinstance(parent, ast.Attribute) and parent.attr.endswith("_")
        if in_place and loop in site.ancestors(one):
            return True
    return False


def _starts_as_tensor(site: Site, loop: ast.For, name: str) -> bool:
    """True where the value that the loop starts with is a tensor for certain."""
    before = [store for store in site.stores(name) if loop not in site.ancestors(store)]
    before = [store for store in before if store.lineno < loop.lineno]
    if before:
        binding = site.parent(before[-1])
        value = binding.value if isinstance(binding, ast.Assign) else None
        return value is not None and certain_tensor(site, value) is not None
    first = min((load for load in site.loads(name)), key=lambda load: load.lineno, default=None)
    return first is not None and is_tensor(site.value(first))


def _needed(
    site: Site, drawn: Drawn, loop: _Loop, way: _Way
) -> tuple[list[str], dict[str, ast.expr | ast.stmt]] | None:
    """The conditions under which the number skips the step, as templates with their parts."""
    templates: list[str] = []
    parts: dict[str, ast.expr | ast.stmt] = {"rate": drawn.rate}
    seen: set[str] = set()
    for test, wanted in starmap(_without_not, (*way.around, *way.assumed)):
        if not is_pure(site, test) or is_tensor(site.value(test)):
            return None
        if ast.dump(test) not in seen:
            seen.add(ast.dump(test))
            name = f"test_{len(parts)}"
            parts[name] = test
            templates.append(f"${name}" if wanted else f"not ${name}")
    if drawn.guard and not any(_asks_rate(test, drawn.rate) for test, _ in way.around):
        templates.append(drawn.guard)
    read = {
        name.id for part in parts.values() for name in nodes(part) if isinstance(name, ast.Name)
    }
    if _stored_in(loop.steps) & read or not is_pure(site, drawn.rate):
        return None
    return (templates, parts) if _is_drawn_before(site, drawn, loop) else None


def _without_not(test: ast.expr, wanted: bool) -> tuple[ast.expr, bool]:
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, wanted = test.operand, not wanted
    return test, wanted


def _asks_rate(test: ast.expr, rate: ast.expr) -> bool:
    """True for what asks for a rate already: ``rate != 0.0``, or ``rate > 0``."""
    return isinstance(test, ast.Compare) and ast.dump(test.left) == ast.dump(rate)


def _asked_first(site: Site, node: ast.expr) -> list[tuple[ast.expr, bool]]:
    """The conditions around a comparison, and what they are where it decides."""
    found: list[tuple[ast.expr, bool]] = []
    inner: ast.AST = node
    for outer in site.ancestors(node):
        if isinstance(outer, ast.For):
            break
        if isinstance(outer, ast.BoolOp):
            wanted = isinstance(outer.op, ast.And)
            found = [(value, wanted) for value in outer.values if value is not inner] + found
        elif isinstance(outer, ast.If) and inner is not outer.test:
            found = [(outer.test, inner in outer.body), *found]
        inner = outer
    return found


def _stored_in(steps: Sequence[ast.stmt]) -> set[str]:
    parts = (part for step in steps for part in ast.walk(step))
    return {p.id for p in parts if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Load)}


def _is_drawn_before(site: Site, drawn: Drawn, loop: _Loop) -> bool:
    """True where nothing draws the number again between its decision and the choice."""
    names = (name for step in loop.steps for name in nodes(step) if isinstance(name, ast.Name))
    stores = (n for n in names if n.id == drawn.number.id and not isinstance(n.ctx, ast.Load))
    return all(store.lineno < drawn.node.lineno for store in stores)


def _fresh(site: Site, wanted: str) -> str:
    name = wanted
    while site.body.names(name) or is_parameter(site, name):
        name += "_"
    return name


class _Way:
    """The way through the steps where the number says to skip."""

    def __init__(self, site: Site, drawn: Drawn) -> None:
        """``around`` are the conditions around the number, ``assumed`` those that come after it.

        ``flags`` are variables that hold what was decided.
        """
        self._drawn = drawn
        self._known: dict[str, bool] = {}
        self.flags: set[str] = set()
        self.around = _asked_first(site, drawn.node)
        self._given = {ast.dump(test): wanted for test, wanted in self.around}
        self.assumed: list[tuple[ast.expr, bool]] = []
        self._ended = False

    def leads_past(self, steps: Sequence[ast.stmt], name: str) -> bool:
        """True where no step on the way assigns the variable."""
        for step in steps:
            if self._ended:
                return True
            match step:
                case ast.If(test=test, body=body, orelse=orelse):
                    truth = self._truth(test)
                    arms = [body] if truth else [orelse] if truth is False else [body, orelse]
                    if truth is None and any(isinstance(p, ast.Continue) for p in ast.walk(step)):
                        return False
                    if not all(self.leads_past(arm, name) for arm in arms):
                        return False
                case ast.Continue():
                    self._ended = True
                case ast.Assign(targets=[ast.Name(id=flag)], value=value) if flag != name:
                    self._learn(flag, value)
                case _ if name in _stored_in([step]):
                    return False
        return True

    def _learn(self, flag: str, value: ast.expr) -> None:
        truth = self._truth(value) if self._decides(value) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            truth = value.value
        self._known.pop(flag, None)
        if truth is not None:
            self._known[flag] = truth
            self.flags.add(flag)

    def _decides(self, test: ast.expr) -> bool:
        """True for a test that the random number has a part in."""
        return any(
            part is self._drawn.node or (isinstance(part, ast.Name) and part.id in self._known)
            for part in ast.walk(test)
        )

    def _truth(self, test: ast.expr) -> bool | None:
        """What a test is on the way; other conditions beside the number are as the way needs."""
        if test is self._drawn.node:
            return self._drawn.skips
        if ast.dump(test) in self._given:
            return self._given[ast.dump(test)]
        match test:
            case ast.Constant(value=bool() as value):
                return value
            case ast.Name(id=name) if name in self._known:
                return self._known[name]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand)
                return None if truth is None else not truth
            case ast.IfExp(test=asked, body=body, orelse=orelse):
                truth = self._truth(asked)
                return None if truth is None else self._truth(body if truth else orelse)
            case ast.BoolOp(op=op, values=values):
                return self._joined(values, isinstance(op, ast.And))
        return None

    def _joined(self, values: Sequence[ast.expr], both: bool) -> bool | None:
        truths = [self._truth(value) for value in values]
        if (not both) in truths:
            return not both
        if not any(self._decides(value) for value in values):
            return None if None in truths else both
        self.assumed += [(v, both) for v, t in zip(values, truths, strict=True) if t is None]
        return both
