"""What earlier walks of a function answered, so that each is walked for few kinds of arguments."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import partial
from typing import Final

from tclint.diagnostics import ChainLink
from tclint.semantics.bounds import Bound
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.block import walk_block
from tclint.semantics.interpreter.callables import call_value
from tclint.semantics.interpreter.contexts import (
    WALKS,
    Asks,
    Behaviour,
    Contexts,
    Filled,
    Given,
    Likewise,
)
from tclint.semantics.interpreter.evaluate import evaluate
from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.lattice import is_data, join, options, with_dtype
from tclint.semantics.records import record
from tclint.semantics.site import EACH_CALL, Facts, Reach, Region
from tclint.semantics.symbols import ClassInfo, FunctionInfo, FunctionNode
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    Function,
    Iteration,
    Mapping,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
)

CONSTRUCTORS: Final = frozenset({"__init__", "__post_init__"})
"""Methods whose walk gives the object that they make, instead of None."""
ALIKE: Final = Bound(3, "values of an argument that make no difference", hides=False)
"""Then it is taken to make none, in code that sets modules up: what comes about are attributes."""
CALLS: Final = Bound(24, "calls deep")
"""Python's own stack ends soon after; deeper calls of compiled code are walked by themselves."""
NESTING: Final = Bound(100, "levels of syntax deep", instead="Split it into several statements")
"""What people write never has so many; Python's stack ends at several hundred."""


def walk_once(
    analysis: Analysis,
    info: FunctionInfo,
    env: Env,
    region: Region | None,
    chain: tuple[ChainLink, ...] = (),
    reach: Reach = EACH_CALL,
) -> Value:
    """Walk a function unless it was walked with such arguments, or often enough, before."""
    if region is None and info.cls is not None and not _makes(info, env):
        return _set_up(analysis, info, env, chain, reach)
    behaviour = region.behaviour if region else None
    memory = _contexts(analysis, info, behaviour)
    exact = Given((*env.items(), *_surroundings(analysis, info)))
    known, rough = memory.get(exact), exact
    if known is None:
        rough = _rough(exact)
        known = memory.get(rough)
    if known is None and reach is not EACH_CALL and behaviour is not None:
        # What it found there is less than what it finds where each call gets.
        memory = _contexts(analysis, info, (*behaviour, reach))
        known = memory.get(exact) or memory.get(rough)
    begins = not chain and not analysis.answers  # a region, and no wrapper around its root
    if known is None and not begins:
        known = _without_walk(analysis, info, memory, rough, region, chain)
    if known is not None:
        analysis.filled = memory.filled(exact) or memory.filled(rough)
        if region is not None and memory.has_asked:
            _ask(analysis, memory.asks(rough))
        return known
    if is_too_deep(analysis) or (info in analysis.apart and analysis.stack):
        later = partial(walk_once, analysis, info, env, region, chain, reach)
        return _put_off(analysis, info, later)
    again = None
    if not begins:
        later = partial(walk_once, analysis, info, dict(env), region, chain, reach)
        outer = analysis.closures.get(info.node)
        again = partial(_again, analysis, info, later, analysis.answers, outer)
    before, analysis.asked = analysis.asked, {}
    result = walk(analysis, info, env, region, chain, reach)
    asked, analysis.asked = analysis.asked, before
    filled = analysis.filled
    memory.note(exact, result, asked, filled, again)
    if region is not None:
        _ask(analysis, asked.items())
    if rough is not exact:
        memory.also(rough, _without_dtype(result), filled)
    return result


def _again(
    analysis: Analysis,
    info: FunctionInfo,
    walked: Callable[[], Value],
    answers: dict[FunctionInfo, Value],
    outer: Frame | None,
) -> Value | None:
    """Walk a function as it was walked before; None for one inside another that calls it."""
    if outer is not None:
        if info not in answers:
            return None
        analysis.closures[info.node] = outer  # it is a wrapper, and all around it is settled
    before, analysis.answers = analysis.answers, answers
    try:
        return walked()
    finally:
        analysis.answers = before


def is_too_deep(analysis: Analysis) -> bool:
    """Whether another call would be deeper than calls are followed."""
    return len(analysis.stack) >= CALLS.most


def _put_off(analysis: Analysis, info: FunctionInfo, later: Callable[[], Value]) -> Value:
    """Leave a walk for when those that run have ended; then they are done again."""
    if info not in analysis.apart:
        give_up(analysis)
    elif info not in analysis.waiting:  # or it calls itself
        analysis.unfinished |= set(analysis.stack)
        analysis.deferred.append((info, later))
    return UNKNOWN


def give_up(analysis: Analysis) -> None:
    """Stop at a call that is too deep: next time what is halfway there is walked by itself."""
    analysis.unfinished |= set(analysis.stack)
    analysis.apart.add(analysis.stack[CALLS.most // 2])
    place = analysis.cuts.place
    if place is not None and place.region is None and analysis.cuts.too_deep is None:
        analysis.cuts.too_deep = analysis.cuts.here()


def _ask(analysis: Analysis, asked: Iterable[Asks]) -> None:
    """Note for the walk that runs what a function which it calls asks objects for."""
    for cls, calls in asked:
        known = analysis.asked.get(cls)
        if known is None:
            analysis.asked[cls] = dict(calls)
            continue
        for name, call in calls.items():
            if known.get(name) is None:
                known[name] = call


def _without_walk(
    analysis: Analysis,
    info: FunctionInfo,
    memory: Contexts,
    given: Given,
    region: Region | None,
    chain: tuple[ChainLink, ...],
) -> Value | None:
    """What comes of a call that brings nothing new, or only methods of other classes."""
    likewise: Likewise = []
    if memory.is_full:
        WALKS.cut()
    elif memory.is_new(analysis, given, likewise):
        return None
    if likewise and region is not None:
        analysis.active.add(info)
        for method, call in likewise:
            frame = Frame(analysis, call.body, region, chain, {}, call.statement, facts=call.facts)
            call_value(frame, call.node, method, call.arguments)
        analysis.active.discard(info)
    return _without_dtype(memory.answer())


def _contexts(analysis: Analysis, info: FunctionInfo, behaviour: Behaviour | ClassInfo) -> Contexts:
    contexts = analysis.memory.setdefault(info, {})
    known = contexts.get(behaviour)
    if known is None:
        known = contexts[behaviour] = Contexts(behaviour if isinstance(behaviour, tuple) else None)
    return known


def _makes(info: FunctionInfo, env: Env) -> bool:
    """True for a constructor of an object whose making is in view."""
    receiver = next(iter(env.values()), UNKNOWN) if info.name in CONSTRUCTORS else UNKNOWN
    return isinstance(receiver, Object) and receiver.fields is not None


def _rough(given: Given) -> Given:
    changed, rough = False, list[tuple[str, Value]]()
    for pair in given.pairs:
        value = pair[1]
        vague = _without_dtype(value)
        changed = changed or vague is not value
        rough.append(pair if vague is value else (pair[0], vague))
    return Given(tuple(rough)) if changed else given


_OF_DTYPES: Final = frozenset({Tensor, Sequence, Object, Union})


def _surroundings(analysis: Analysis, info: FunctionInfo) -> Iterator[tuple[str, Value]]:
    """The variables of the functions around that a nested function or lambda may read."""
    outer = analysis.closures.get(info.node)
    if outer is None:
        return
    for name in analysis.names_in(info.node):
        value = outer.enclosed(name)
        if isinstance(value, Function):  # what a wrapper is around: its answer is what counts
            value = analysis.answers.get(value.info, value)
        if value is not None:
            yield name, value


def _without_dtype(value: Value) -> Value:
    """The value without symbols that hold for one call's arguments only."""
    if type(value) not in _OF_DTYPES:
        return value
    if isinstance(value, Tensor):
        keep = value.dtype is None or value.dtype.concrete
        return value if keep else with_dtype(value, None)
    if isinstance(value, Sequence):
        element = _without_dtype(value.element)
        if value.items is None:
            return value if element is value.element else Sequence(value.type, element)
        items = [_without_dtype(item) for item in value.items]
        if element is value.element and all(map(operator.is_, items, value.items)):
            return value
        return Sequence(value.type, element, tuple(items))
    if isinstance(value, Object):
        if value.fields is None:
            return value
        fields = tuple([(name, _without_dtype(held)) for name, held in value.fields])
        return Object(value.name, value.cls, fields=fields)
    if isinstance(value, Union):
        rough = [_without_dtype(option) for option in value.options]
        return value if all(map(operator.is_, rough, value.options)) else join(rough)
    return value


@record()
class SetUp:
    """What a method that builds objects does, by the walks so far.

    ``writes`` are the attributes of ``self`` that it sets. An argument that is stored or handed
    back stands there as its name. ``seen`` are the values that each argument had. ``varies`` is
    true when the walks did not agree: then it is walked for every class anew.
    """

    writes: dict[str, Value | str]
    result: Value | str
    seen: dict[str, set[Value]] = field(default_factory=dict)
    varies: bool = False

    def holds_for(self, env: Env) -> bool:
        """True when each argument was seen, or had many values already that never mattered."""
        if self.varies:
            return False
        for name, value in env.items():
            had = self.seen[name]
            if value not in had:
                if len(had) < ALIKE.most:
                    return False
                ALIKE.cut()
        return True

    def note(self, env: Env) -> None:
        """Remember the arguments of a walk."""
        for name, value in env.items():
            self.seen.setdefault(name, set()).add(value)

    def agree(self, other: SetUp, env: Env) -> None:
        """Take in what another walk did, with the arguments that it had."""
        names = self.writes.keys() | other.writes.keys()
        for name in names:
            one, two = self.writes.get(name), other.writes.get(name)
            self.writes[name] = self._either(one, two, env)
        self.result = self._either(self.result, other.result, env)

    def _either(self, one: Value | str | None, two: Value | str | None, env: Env) -> Value | str:
        if one == two and one is not None:
            return one
        # A constant could have come from anywhere, but the argument explains it, too.
        if isinstance(one, str) and env.get(one) is two:
            return one
        if isinstance(two, str) and isinstance(one, Value):
            had = self.seen.get(two, set())
            if all(option in had for option in options(one)):
                return two
        if isinstance(one, Value) and isinstance(two, Value) and is_data(one) and is_data(two):
            return join((one, two))
        self.varies = True
        return UNKNOWN


def _set_up(
    analysis: Analysis,
    info: FunctionInfo,
    env: Env,
    chain: tuple[ChainLink, ...],
    reach: Reach,
) -> Value:
    """Call a method that builds objects, as a base's ``__init__`` is for each of its subclasses."""
    receiver = next(iter(env.values()), UNKNOWN)
    cls = receiver.cls if isinstance(receiver, Object) else None
    known = analysis.set_ups.get(info)
    if known is not None and known.holds_for(env):
        for name, written in known.writes.items():
            if cls is not None:
                value = _resolved(written, env)
                analysis.record_attribute(cls, name, value, initial=info.name == "__init__")
        return _resolved(known.result, env)
    memory = _contexts(analysis, info, cls)
    exact = Given(tuple(env.items()))
    before = memory.get(exact)
    if before is not None:
        return before
    if is_too_deep(analysis):
        give_up(analysis)
        return UNKNOWN
    mark = len(analysis.written)
    result = walk(analysis, info, dict(env), None, chain, reach)
    memory.note(exact, result, {}, {})
    if known is not None and known.varies:
        return result
    done = SetUp(_writes(analysis, cls, mark, env), _named(result, env))
    if known is None:
        known = analysis.set_ups[info] = done
    else:
        known.agree(done, env)
    known.note(env)
    return result


def _writes(
    analysis: Analysis, cls: ClassInfo | None, mark: int, env: Env
) -> dict[str, Value | str]:
    written: Env = {}
    for owner, name, value in analysis.written[mark:]:
        if owner is cls:
            written[name] = join((written[name], value)) if name in written else value
    return {name: _named(value, env) for name, value in written.items()}


def _named(value: Value, env: Env) -> Value | str:
    """The argument's name where the value is an argument."""
    if isinstance(value, (Static, Unknown)):
        return value
    return next((name for name, given in env.items() if given is value), value)


def _resolved(written: Value | str, env: Env) -> Value:
    return env[written] if isinstance(written, str) else written


def walk(
    analysis: Analysis,
    info: FunctionInfo,
    env: Env,
    region: Region | None,
    chain: tuple[ChainLink, ...] = (),
    reach: Reach = EACH_CALL,
) -> Value:
    """Walk a function's body with its parameters bound."""
    node = info.node
    makes = _makes(info, env)
    body = analysis.body(info.module, info, compiled=region is not None)
    facts = Facts(reach=reach)
    outer = analysis.closures.get(node)
    frame = Frame(analysis, body, region, chain, env, first_statement(node), outer, facts)
    containers = _containers(env) if region is not None else {}
    if region is not None:
        analysis.visited.add(info)
    if analysis.trace is not None:
        analysis.trace.walked(info, region, chain, reach.off)
    analysis.active.add(info)
    analysis.stack.append(info)
    before, analysis.cuts.place = analysis.cuts.place, frame
    try:
        if isinstance(node, ast.Lambda):
            return evaluate(frame, node.body)
        walk_block(frame, node.body)
    except RecursionError:  # an expression of thousands of terms: the rest is left out
        NESTING.cut()
        return UNKNOWN
    finally:
        analysis.cuts.place = before
        analysis.stack.pop()
        analysis.active.discard(info)
        analysis.filled = _filled(frame, containers) if containers else {}
    if makes:
        return frame.env.get(next(iter(env)), UNKNOWN)
    if frame.yields:
        return Iteration(join(frame.yields))
    if frame.live:
        frame.returns.append(NONE)
    return join(frame.returns)


def _containers(env: Env) -> Filled:
    """The arguments that a function may put something into."""
    return {
        name: value
        for name, value in env.items()
        if isinstance(value, Mapping) or (isinstance(value, Sequence) and value.type != "tuple")
    }


def _filled(frame: Frame, given: Filled) -> Filled:
    """Those of the arguments that hold something else now than when they were ``given``."""
    found: Filled = {}
    for name, value in given.items():
        now = frame.env.get(name)
        if now is None or now is value or now == value:
            continue
        if not frame.body.assigns(name):
            found[name] = now
    return found


def first_statement(node: FunctionNode) -> ast.stmt:
    """Where walking a function begins."""
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Expr(node.body), node.body)
    return node.body[0]
