"""Loops, whose bodies are walked until the variables hold what they held, and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.semantics.bounds import Bound
from tclint.semantics.events import ArrayRead, Loop, LoopedOver
from tclint.semantics.interpreter import operators
from tclint.semantics.interpreter.assignment import assign
from tclint.semantics.interpreter.block import walk_block, walks
from tclint.semantics.interpreter.evaluate import evaluate, handles
from tclint.semantics.interpreter.frame import Env, Frame, LoopExits, merge
from tclint.semantics.interpreter.iteration import element_of, loop_source
from tclint.semantics.interpreter.narrowing import refine
from tclint.semantics.interpreter.special import iterated
from tclint.semantics.interpreter.truth import truth
from tclint.semantics.lattice import join, options
from tclint.semantics.values import UNKNOWN, Iteration, Mapping, Sequence, Tensor, Union, Value

ROUNDS: Final = Bound(6, "rounds of a loop to see what its variables become", in_regions=True)
"""Few loops take more than three; of nested ones, all but the outermost get fewer."""


@walks(ast.For, ast.AsyncFor)
def _for(frame: Frame, node: ast.For) -> None:
    iterable = iterated(frame, node.iter, evaluate(frame, node.iter))
    element, over = element_of(iterable), loop_source(iterable)
    uses_before = len(frame.numpy_uses)

    def draw() -> bool | None:
        assign(frame, node.target, element)
        return None

    _loop(frame, node, draw)
    frame.statement = node
    _report_loop(frame, node.iter, over, node.target, frame.numpy_uses[uses_before:])
    _report_uses(frame, uses_before)


@walks(ast.While)
def _while(frame: Frame, node: ast.While) -> None:
    def test() -> bool | None:
        frame.statement = node
        verdict = truth(frame, node.test, "while")
        frame.env = refine(frame, frame.env, node.test, outcome=True)
        return verdict

    uses_before = len(frame.numpy_uses)
    _loop(frame, node, test)
    _report_uses(frame, uses_before)


def _loop(frame: Frame, node: ast.For | ast.While, begin: Callable[[], bool | None]) -> None:
    """Walk a loop's body until the variables stay as they are, or often enough.

    A loop is taken to run at least once: what matters is the code that runs.
    """
    before = frame.env
    exits = LoopExits()
    frame.loops.append(exits)
    frame.rounds += 1
    always = isinstance(node, ast.While)
    frame.env = dict(before)
    most = max(ROUNDS.most // len(frame.loops), 2)
    for number in range(1, most + 1):
        head = dict(frame.env)
        with frame.within(loop=node):
            verdict = begin()
            if verdict is not False:
                walk_block(frame, node.body)
        always = always and verdict is True
        ends = [*([frame.env] if frame.live else []), *exits.continues]
        frame.live = True
        frame.env = _widened(merge([before, *ends]), head)
        after = merge(ends) if ends else None
        if _settled(head, frame.env):
            break
        if number == most:
            frame.statement = node
            ROUNDS.cut()
    frame.loops.pop()
    frame.rounds -= 1
    leaving = [*([after] if after is not None and not always else []), *exits.breaks]
    frame.env = merge(leaving) if leaving else before
    frame.live = bool(leaving) or not always
    if frame.live:
        walk_block(frame, node.orelse)


def _widened(env: Env, head: Env) -> Env:
    """The variables with lists and tuples that a round made longer taken for any length."""
    for name, value in env.items():
        if type(value) is Union and value != head.get(name):
            env[name] = _any_length(value)
    return env


def _any_length(value: Union) -> Value:
    lists = [option for option in value.options if isinstance(option, Sequence)]
    if len(lists) < 2 or len({one.type for one in lists}) > 1:
        return value
    members = [operators.elements(one) for one in lists if one.items != ()]
    rest = [option for option in value.options if not isinstance(option, Sequence)]
    return join([*rest, Sequence(lists[0].type, join(members) if members else UNKNOWN)])


def _settled(head: Env, after: Env) -> bool:
    """True when another round would start with what this one started with.

    A variable that the round itself bound is bound again before the next one reads it.
    """
    return all(after.get(name) == value for name, value in head.items()) and not any(
        "." in name for name in after.keys() - head.keys()
    )


@walks(ast.Break)
def _break(frame: Frame, _node: ast.Break) -> None:
    if frame.loops:
        frame.loops[-1].breaks.append(frame.env)
    frame.live = False


@walks(ast.Continue)
def _continue(frame: Frame, _node: ast.Continue) -> None:
    if frame.loops:
        frame.loops[-1].continues.append(frame.env)
    frame.live = False


@handles(ast.ListComp)
def _list_comp(frame: Frame, node: ast.ListComp) -> Value:
    return Sequence("list", _comprehend(frame, node.generators, node.elt))


@handles(ast.SetComp)
def _set_comp(frame: Frame, node: ast.SetComp) -> Value:
    return Sequence("set", _comprehend(frame, node.generators, node.elt))


@handles(ast.GeneratorExp)
def _generator(frame: Frame, node: ast.GeneratorExp) -> Value:
    return Iteration(_comprehend(frame, node.generators, node.elt))


@handles(ast.DictComp)
def _dict_comp(frame: Frame, node: ast.DictComp) -> Value:
    return Mapping((), _comprehend(frame, node.generators, node.value, node.key))


def _comprehend(frame: Frame, generators: list[ast.comprehension], *nodes: ast.expr) -> Value:
    before = frame.env
    uses_before = len(frame.numpy_uses)
    frame.env = dict(before)
    loops: list[tuple[ast.comprehension, str]] = []
    frame.rounds += 1
    for generator in generators:
        iterable = iterated(frame, generator.iter, evaluate(frame, generator.iter))
        assign(frame, generator.target, element_of(iterable))
        loops.append((generator, loop_source(iterable)))
        for condition in generator.ifs:
            if truth(frame, condition, "if") is False:
                frame.restore(before)
                frame.rounds -= 1
                return UNKNOWN  # the collection stays empty, and nothing of it is evaluated
            frame.env = refine(frame, frame.env, condition, outcome=True)
    results = [evaluate(frame, node) for node in nodes]
    frame.rounds -= 1
    for generator, over in loops:
        _report_loop(frame, generator.iter, over, generator.target, frame.numpy_uses[uses_before:])
    _report_uses(frame, uses_before)
    frame.restore(before)
    return results[0]


_TOLD: Final[dict[str, LoopedOver]] = {
    "numpy": "numpy",
    "tensor": "tensor",
    "shape": "shape",
    "data": "data",
}


def _report_loop(
    frame: Frame, iterable: ast.expr, over: str, target: ast.expr, uses: list[ast.expr]
) -> None:
    """Report a loop whose elements come from numpy, a tensor, a shape or a host read."""
    if over == "tensor" and _guessed(frame.body.values.get(iterable, UNKNOWN)):
        return
    told = _TOLD.get(over)
    if told is not None:
        breaking = tuple(dict.fromkeys(uses)) if told == "numpy" else ()
        frame.numpy_told.update(breaking)
        frame.analysis.emit(
            frame, Loop, iterable, over=told, target=target, iterable=iterable,
            breaking_uses=breaking,
        )  # fmt: skip


def _report_uses(frame: Frame, start: int) -> None:
    """Behind the outermost loop, report the uses of a number of numpy that no loop told of."""
    if frame.rounds:
        return
    for use in dict.fromkeys(frame.numpy_uses[start:]):
        if use not in frame.numpy_told:
            frame.analysis.emit(frame, ArrayRead, use, via="number")
    del frame.numpy_uses[start:]


def _guessed(value: Value) -> bool:
    """True for a parameter taken for a tensor for lack of an annotation: it may be a list."""
    return any(isinstance(option, Tensor) and option.assumed for option in options(value))
