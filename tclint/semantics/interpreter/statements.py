"""Walk statements in order, following each branch with its own variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.collect import (
    DELETER,
    TRIES,
    decorator_name,
    dotted_name,
    is_present,
    local_imports,
    succeeds,
)
from tclint.semantics.events import (
    CompileCall,
    ContextEntered,
    GlobalsDeclared,
    NumberCounted,
    ObjectAssert,
    TensorAssert,
    TensorBranch,
)
from tclint.semantics.interpreter import operators
from tclint.semantics.interpreter.always_raises import always_raises
from tclint.semantics.interpreter.annotations import annotation_value, kept_promise
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.assignment import assign, report_environment_write
from tclint.semantics.interpreter.block import walk_block, walks
from tclint.semantics.interpreter.compiling import add_root, as_told, region_of, spread_by
from tclint.semantics.interpreter.containers import hold
from tclint.semantics.interpreter.correlation import remember
from tclint.semantics.interpreter.evaluate import evaluate, need_numpy
from tclint.semantics.interpreter.first_calls import is_called_in_loop, taken_once
from tclint.semantics.interpreter.frame import Frame, merge
from tclint.semantics.interpreter.functions import local_class, local_function
from tclint.semantics.interpreter.iteration import element_of
from tclint.semantics.interpreter.narrowing import matched, number_of, refine
from tclint.semantics.interpreter.off_by_default import is_off_by_default
from tclint.semantics.interpreter.sinks import LOG_METHODS
from tclint.semantics.interpreter.special import augment, entered, leave, special
from tclint.semantics.interpreter.traced import traced
from tclint.semantics.interpreter.truth import truth
from tclint.semantics.lattice import is_tensor, may_be_unknown, options
from tclint.semantics.site import BY_REQUEST, EACH_CALL, Reach
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.syntax import asked_of, last_name, path_of
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    BoundExternal,
    Class,
    External,
    Function,
    Mapping,
    NDArray,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
)
from tclint.torch_facts.compiling import COMPILE

# What rules about asserts tell themselves; anything else in a test is as it is elsewhere.
QUIET_IN_TESTS: Final = (
    *(f"HostRead.{via}" for via in ("item", "bool", "float", "int")),
    *(f"HostRead.{via}" for via in ("allclose", "equal", "is_nonzero")),
    *(f"TensorBranch.{kind}" for kind in ("assert", "compare")),
)
_TELLING: Final = LOG_METHODS | {"print", "print_exc"}
QUIET_IN_MESSAGES: Final = (
    "HostRead", "ArrayRead", "TensorBranch", "SideEffectCall", "Call", "NumpyCall",
)  # fmt: skip


@walks(ast.Expr)
def _expr(frame: Frame, node: ast.Expr) -> None:
    evaluate(frame, node.value)


@walks(ast.Assign)
def _assign(frame: Frame, node: ast.Assign) -> None:
    value = evaluate(frame, node.value)
    if frame.region is not None and isinstance(node.value, ast.BinOp):
        _report_counted(frame, node.targets[0], node.value.op, node.value.left, node.value.right)
    for target in node.targets:
        assign(frame, target, _as_many(frame, target, node.value) or value)


def _as_many(frame: Frame, target: ast.expr, given: ast.expr) -> Value | None:
    """What ``a, *b, c`` gives to targets without a star: ``b`` is as long as they ask for."""
    if not isinstance(target, ast.Tuple) or not isinstance(given, ast.Tuple):
        return None
    targets, parts = target.elts, given.elts
    stars = [part for part in parts if isinstance(part, ast.Starred)]
    if len(stars) != 1 or any(isinstance(one, ast.Starred) for one in targets):
        return None
    values = [frame.body.values.get(part, UNKNOWN) for part in parts]
    place, more = parts.index(stars[0]), len(targets) - len(parts) + 1
    values[place : place + 1] = [element_of(values[place])] * more
    return Sequence("tuple", items=tuple(values))


@walks(ast.AnnAssign)
def _ann_assign(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        value = evaluate(frame, node.value)
        if frame.body.function is not None:
            promised = annotation_value(frame.analysis, frame.body.function, node.annotation)
            # What a constructor is given is taken for configuration, unless somebody says better.
            unknown = UNKNOWN if value is STATIC and frame.region is None else value
            value = value if promised is UNKNOWN else kept_promise(unknown, promised)
        assign(frame, node.target, value)


@walks(ast.AugAssign)
def _aug_assign(frame: Frame, node: ast.AugAssign) -> None:
    right = evaluate(frame, node.value)
    left = _load(frame, node.target)
    _report_counted(frame, node.target, node.op, node.target, node.value)
    if isinstance(left, Tensor):
        value: Value = left  # in place: rank, dtype and device stay
    else:
        value = augment(frame, node.target, node.op, left, right)
    assign(frame, node.target, value, augmented=True)


def _report_counted(
    frame: Frame, target: ast.expr, op: ast.operator, before: ast.expr, step: ast.expr
) -> None:
    """Report ``d["n"] += 1``, and ``d["n"] = d["n"] + 1``."""
    if frame.region is None or not isinstance(target, (ast.Attribute, ast.Subscript)):
        return
    if isinstance(op, (ast.Add, ast.Sub)) and type(before) is type(target):
        value = frame.body.values.get(before, UNKNOWN)
        if target is before or ast.unparse(target) == ast.unparse(before):
            frame.analysis.emit(frame, NumberCounted, target, target=target, value=value, step=step)


def _load(frame: Frame, target: ast.Name | ast.Attribute | ast.Subscript) -> Value:
    """The value of an augmented assignment's target, with its reads reported."""
    if isinstance(target, ast.Name):
        return frame.lookup(target.id)
    return evaluate(frame, target)


@walks(ast.Return)
def _return(frame: Frame, node: ast.Return) -> None:
    frame.returns.append(evaluate(frame, node.value) if node.value else NONE)
    frame.live = False


@walks(ast.Raise)
def _raise(frame: Frame, node: ast.Raise) -> None:
    with frame.silencing(*QUIET_IN_MESSAGES):
        for part in (node.exc, node.cause):
            if part is not None:
                evaluate(frame, part)
    frame.live = False


@walks(ast.Assert)
def _assert(frame: Frame, node: ast.Assert) -> None:
    before = frame.quieted
    with frame.silencing(*QUIET_IN_TESTS):
        verdict = truth(frame, node.test, "assert")
    for part in _asked_outside(node.test):
        need_numpy(frame, part, frame.body.values.get(part, UNKNOWN), "truth")
    reads_tensor = frame.quieted > before or is_tensor(frame.body.values.get(node.test, UNKNOWN))
    if reads_tensor and verdict is None:
        frame.analysis.emit(frame, TensorAssert, node, statement=node)
    _report_object_assert(frame, node)
    if node.msg is not None:
        with frame.silencing(*QUIET_IN_MESSAGES):
            evaluate(frame, node.msg)
    frame.env = refine(frame, frame.env, node.test, outcome=True)


def _report_object_assert(frame: Frame, node: ast.Assert) -> None:
    """Dynamo makes an operator of an assert that ends so, which takes no objects.

    It does not where the message is computed: then it asks for the truth as an ``if`` does. The
    truth of an array is asked in the graph, like a tensor's.
    """
    last = node.test
    while isinstance(last, ast.BoolOp):
        last = last.values[-1]
    literal = node.msg is None or isinstance(node.msg, ast.Constant)
    value = frame.body.values.get(last, UNKNOWN)
    in_graph = any(isinstance(option, (Tensor, NDArray)) for option in options(value))
    if literal and not in_graph and not may_be_unknown(value):
        holds = traced(frame, value)
        if holds is not None:
            frame.analysis.emit(frame, ObjectAssert, last, statement=node, holds=holds)


def _asked_outside(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions that decide before an assert does.

    The last of them is the assert's own question, and that of a number is asked in the graph.
    """
    while isinstance(test, ast.BoolOp):
        for value in test.values[:-1]:
            yield from asked_of(value)
        test = test.values[-1]
    if isinstance(test, ast.UnaryOp) or (isinstance(test, ast.Compare) and len(test.ops) > 1):
        yield from asked_of(test)


@walks(ast.If)
def _if(frame: Frame, node: ast.If) -> None:
    verdict = truth(frame, node.test, "if")
    before, ends, stays = frame.env, [], False
    for block, outcome in ((node.body, True), (node.orelse, False)):
        if verdict is (not outcome):
            continue
        reach = _reach(frame, node.test, block, outcome, verdict) if block else EACH_CALL
        frame.env, frame.live = refine(frame, before, node.test, outcome=outcome), True
        if reach is EACH_CALL:
            walk_block(frame, block)
        else:
            with frame.within(reach=reach):
                walk_block(frame, block)
        if frame.live:
            ends.append(frame.env)
            stays = outcome
    frame.live = bool(ends)
    frame.env = merge(ends) if ends else before
    if verdict is None:
        remember(frame, node.test, ends)
    if len(ends) == 1 and frame.region is not None and verdict is None:
        frame.behind = lambda rest: _once(frame, node.test, rest, stays)


def _reach(
    frame: Frame, test: ast.expr, block: list[ast.stmt], outcome: bool, verdict: bool | None
) -> Reach:
    """How often calls enter a block."""
    if verdict is None and (
        is_off_by_default(frame, test, outcome=outcome) or always_raises(frame, block)
    ):
        return BY_REQUEST
    return _once(frame, test, block, outcome)


def _once(frame: Frame, test: ast.expr, block: list[ast.stmt], outcome: bool) -> Reach:
    if frame.region is None or frame.facts.reach.once or not block:
        return EACH_CALL
    once = taken_once(frame, test, block, outcome)
    if not once:
        return EACH_CALL
    return Reach(once=once, drops=True if is_called_in_loop(frame.body, set()) else None)


def _to_exception(frame: Frame, block: list[ast.stmt]) -> Reach:
    return BY_REQUEST if always_raises(frame, block) else EACH_CALL


@walks(ast.With, ast.AsyncWith)
def _with(frame: Frame, node: ast.With) -> None:
    managers: list[tuple[ast.expr, Value]] = []
    for item in node.items:
        manager = evaluate(frame, item.context_expr)
        managers.append((item.context_expr, manager))
        _report_context(frame, node, item.context_expr)
        value = entered(frame, item.context_expr, manager)
        if item.optional_vars is not None:
            assign(frame, item.optional_vars, value)
    suppresses = any(_suppresses(frame, manager) for manager, _ in managers)
    before = dict(frame.env) if suppresses else frame.env
    with frame.within(context=node):
        walk_block(frame, node.body)
    for expression, manager in reversed(managers):
        leave(frame, expression, manager)
    if suppresses:  # the block may have ended anywhere
        frame.env, frame.live = merge([before, frame.env]), True


def _suppresses(frame: Frame, manager: ast.expr) -> bool:
    called = manager.func if isinstance(manager, ast.Call) else manager
    return frame.body.values.get(called) == External("contextlib.suppress")


def _report_context(frame: Frame, node: ast.With, manager: ast.expr) -> None:
    called = manager.func if isinstance(manager, ast.Call) else manager
    value = frame.body.values.get(called)
    name = value.name if isinstance(value, (External, Object, BoundExternal)) else None
    if name is not None:
        frame.analysis.emit(frame, ContextEntered, manager, manager=name, statement=node)


@walks(*TRIES)
def _try(frame: Frame, node: ast.Try) -> None:
    before = dict(frame.env)
    with frame.within(attempt=node):
        walk_block(frame, node.body)
        ends = []
        if frame.live:
            walk_block(frame, node.orelse)
        middle = frame.env
        if frame.live:
            ends.append(frame.env)
        handlers = [] if succeeds(node.body) or _cannot_fail(frame, node.body) else node.handlers
        for handler in handlers:
            frame.env, frame.live = merge([before, middle]), True
            if handler.name:
                frame.env[handler.name] = UNKNOWN
            with frame.within(reach=_to_handler(frame, handler)):
                walk_block(frame, handler.body)
            if frame.live:
                ends.append(frame.env)
    falls_through = bool(ends)
    frame.env, frame.live = (merge(ends) if ends else merge([before, middle])), True
    walk_block(frame, node.finalbody)
    frame.live = frame.live and falls_through


def _to_handler(frame: Frame, handler: ast.ExceptHandler) -> Reach:
    """One that tells of the exception is for what went wrong; others may be an ordinary way."""
    told = (one.value for one in handler.body if isinstance(one, ast.Expr))
    names = {last_name(one.func) for one in told if isinstance(one, ast.Call)}
    return _to_exception(frame, handler.body) if _TELLING.isdisjoint(names) else BY_REQUEST


def _cannot_fail(frame: Frame, body: list[ast.stmt]) -> bool:
    """True for a question asked of torch with a known answer, ``is_compiling()`` for example."""
    *imports, last = body
    if imports and not succeeds(imports):
        return False
    match last:
        case ast.Return():
            answer = frame.returns[-1]
        case ast.Assign(value=ast.Call() as asked):
            answer = frame.body.values.get(asked, UNKNOWN)
        case _:
            return False
    return isinstance(answer, Static) and answer.known


@walks(ast.Match)
def _match(frame: Frame, node: ast.Match) -> None:
    subject = evaluate(frame, node.subject)
    before, ends, open_end = frame.env, [], True
    numbers = [number for case in node.cases if (number := number_of(case.pattern)) is not None]
    if numbers and is_tensor(frame.body.values.get(node.subject, UNKNOWN)):
        frame.analysis.emit(frame, TensorBranch, numbers[0], kind="match", test=node.subject)
    for case in node.cases:
        matches = matched(subject, case.pattern)
        if matches is False:
            continue
        frame.env, frame.live = dict(before), True
        _capture(frame, case.pattern, subject)
        verdict = truth(frame, case.guard, "if") if case.guard is not None else True
        with frame.within(reach=_to_exception(frame, case.body)):
            walk_block(frame, case.body)
        if frame.live:
            ends.append(frame.env)
        if matches and verdict:
            open_end = False
            break
    if open_end:
        ends.append(before)
    frame.env, frame.live = merge(ends) if ends else before, bool(ends)


def _capture(frame: Frame, pattern: ast.pattern, subject: Value) -> None:
    """Bind what a pattern names; parts of what is not a tuple of that length are not known."""
    match pattern:
        case ast.MatchAs(name=str() as name, pattern=inner):
            frame.env[name] = subject
            if inner is not None:
                _capture(frame, inner, subject)
        case ast.MatchSequence(patterns=patterns):
            items = subject.items if isinstance(subject, Sequence) else None
            exact = items is not None and len(items) == len(patterns)
            for place, inner in enumerate(patterns):
                starred = isinstance(inner, ast.MatchStar)
                known = exact and not starred and items is not None
                _capture(frame, inner, items[place] if known and items else UNKNOWN)
        case ast.MatchMapping(keys=keys, patterns=patterns):
            for key, inner in zip(keys, patterns, strict=True):
                value = key.value if isinstance(key, ast.Constant) else None
                known = isinstance(subject, Mapping) and isinstance(value, (str, int))
                found = subject.get(value) if known and isinstance(subject, Mapping) else UNKNOWN
                _capture(frame, inner, found)
        case _:
            for part in ast.walk(pattern):
                if isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
                    frame.env[part.name] = UNKNOWN


@walks(ast.Global)
def _global(frame: Frame, node: ast.Global) -> None:
    frame.analysis.emit(frame, GlobalsDeclared, node, names=tuple(node.names))


@walks(ast.Delete)
def _delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        path = path_of(target)
        if isinstance(target, ast.Attribute):
            special(frame, target, evaluate(frame, target.value), f"{target.attr}{DELETER}")
        if path is not None:
            frame.env.pop(path, None)
        elif isinstance(target, ast.Subscript):
            container = evaluate(frame, target.value)
            evaluate(frame, target.slice)
            report_environment_write(frame, target, container)
            if isinstance(container, Sequence) and container.items:  # which is left is not said
                hold(frame, target.value, Sequence(container.type, operators.elements(container)))


@walks(ast.Import, ast.ImportFrom)
def _import(frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    module = frame.body.module
    for local, dotted in local_imports(module, node):
        # Those of the top level are looked up when they are needed, which loads their modules; but
        # what stands in for one of them where it is not installed must not hide it.
        late = local not in module.imported and is_present(dotted)
        if frame.body.function is not None or late or local in module.assigned:
            frame.env[local] = frame.analysis.external(dotted, module)


@walks(ast.FunctionDef, ast.AsyncFunctionDef)
def _function(frame: Frame, node: ast.FunctionDef) -> None:
    if frame.body.function is None:
        way = frame.body.module.ways.get(node.name, {}).get(node)
        if isinstance(way, FunctionInfo):
            frame.env[node.name] = Function(way)
        return
    value = Function(local_function(frame, node))
    frame.env[node.name] = value
    for decorator in node.decorator_list:
        if decorator_name(frame.body.module, decorator) in COMPILE:
            report_decorator(frame, decorator, value)


def report_decorator(frame: Frame, decorator: ast.expr, target: Value) -> None:
    """``@torch.compile`` and ``@torch.compile(...)``."""
    call = decorator if isinstance(decorator, ast.Call) else None
    keywords = {k.arg: k.value for k in call.keywords if k.arg} if call else {}
    given = _arguments(frame, call) if call else Arguments()
    spread = spread_by(frame, call, given.keywords) if call else {}
    frame.analysis.emit(
        frame, CompileCall, decorator, call=decorator, keywords=keywords, target=target,
        spread=spread,
    )  # fmt: skip
    name = (dotted_name(frame.body.module, call.func) if call else None) or ""
    settings = as_told(name, given).keywords if call else {}
    add_root(frame, target, region_of(frame, target, settings), decorator)


def _arguments(frame: Frame, call: ast.Call) -> Arguments:
    """What a decorator is told about compiling."""
    name = dotted_name(frame.body.module, call.func) or ""
    is_partial = name not in COMPILE  # `functools.partial(torch.compile, ...)`
    positional = [evaluate(frame, argument) for argument in call.args[is_partial:]]
    keywords: dict[str, Value] = {}
    for keyword in call.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping):
            keywords |= {key: held for key, held in value.items if isinstance(key, str)}
    return Arguments(tuple(positional), keywords)


@walks(ast.ClassDef)
def _class(frame: Frame, node: ast.ClassDef) -> None:
    if frame.body.function is not None:
        frame.env[node.name] = Class(local_class(frame, node))
        return
    way = frame.body.module.ways.get(node.name, {}).get(node)
    if isinstance(way, ClassInfo):
        frame.env[node.name] = Class(way)
