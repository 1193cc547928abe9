"""TCL335: a training step waits for its forward pass before it starts the backward pass."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.regexes import regex
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import end_of, names_in, nodes, start_of
from tclint.semantics.training import StepBody, is_returned

from ..lib.facts.copies import is_copy_to_host
from ..lib.facts.devices import may_be_on_gpu
from ..lib.facts.training_loops import (
    called,
    differentiated,
    differentiates,
    is_test,
    own_nodes,
    runs_every_time,
)
from ..lib.wording import lines

_NUMBERS: Final = frozenset({"float", "int", "bool"})
_READS: Final = frozenset({"item", "tolist", "numpy"})
_TESTS: Final = frozenset({"isfinite", "isnan", "isinf"})
# What of a tensor is known without asking the device.
_KNOWN: Final = frozenset(
    {"shape", "size", "dim", "ndim", "numel", "dtype", "device", "len", "item", "tolist", "numpy"}
)
# A call of these gives a batch, and no output of a model.
_BATCHES: Final = regex(
    r"batch|next|load|data|sample|^get|^to$|^cuda$|^long$|^float$|^view$|^reshape$|^zeros|^ones"
    r"|^rand|^arange|^tensor$|^from_numpy$|^stack$|^cat$|^send|^prepare|^collate|^list$|^map$|time|token|length|count"
)


# Whatever these give is computed by a model.
_MODELS: Final = regex(
    r"model|net$|net\.|agent|policy|actor|critic|student|teacher|generator|discriminator|encoder"
    r"|decoder|backbone|diffusion"
)
_NO_OUTPUTS: Final = regex(r"batch|data|load|param|state|optim|device|config|token|num|size")


class ReadBeforeBackward(Rule[TrainingCall]):
    """A training step reads its loss, or the model's output, before it calls `backward()`."""

    code = "TCL335"
    name = "read-before-backward"
    summary = "A read between the forward and the backward pass leaves the device idle"
    instead = "Read it after the optimizer's step"
    worth = Worth.LOW
    measured = "3% to 6% of a training step in 3 of 8 cases (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for the first read of each step, at its first `backward()`."""
        if not event.each_step or is_test(event.site, event.loop):
            return None
        reads = _reads_of_step(event) if is_returned(event.loop) else _reads_before_backward(event)
        if not reads:
            return None
        read, *others = reads
        related = (*_reads_of(event.site, read, _output_names(event)), *others)
        return Finding(
            f"`{_shown(event.site, read)}` makes the CPU wait: the device idles before `backward`"
            f"{lines(related)}",
            _repair(event, read),
            node=read,
            confidence=Confidence.MEDIUM,
            related=related,
        )


def _shown(site: Site, read: ast.expr) -> str:
    """What is read; of a call that reads what it is given, its name."""
    if isinstance(read, ast.Call) and _helper(site, read) is not None:
        return f"{site.text(read.func)}(...)"
    return site.text(read)


def _reads_before_backward(event: TrainingCall) -> list[ast.expr]:
    """The expressions before the first `backward` that make every step wait for the device.

    Asked of that `backward`; none for all other calls.
    """
    if differentiates(event.call) is None:
        return []
    runs = sorted(differentiated(event.loop), key=lambda run: start_of(run[0]))
    if not runs or runs[0][0] is not event.call:
        return []
    return _waiting(event, lambda node: _is_before(node, event.call))


def _reads_of_step(event: TrainingCall) -> list[ast.expr]:
    """The same where a framework runs `backward` behind the step; asked of its first call."""
    calls = [node for node in own_nodes(event.loop) if isinstance(node, ast.Call)]
    if min(calls, key=start_of) is not event.call:
        return []
    return _waiting(event, lambda node: True)


def _waiting(event: TrainingCall, is_before: Callable[[ast.expr], bool]) -> list[ast.expr]:
    site, losses, outputs = event.site, _losses(event), _output_names(event)
    parts = (node for node in own_nodes(event.loop) if isinstance(node, ast.expr))
    before = sorted((p for p in parts if is_before(p)), key=start_of)
    waiting = [node for node in before if _waits(site, node, losses, outputs)]
    reads: list[ast.expr] = []
    for node in waiting:
        apart = not reads or node not in nodes(reads[-1])
        if apart and runs_every_time(site, node, event.loop, waiting):
            reads.append(node)
    return reads if reads and may_be_on_gpu(site) else []


def _losses(event: TrainingCall) -> frozenset[str]:
    names = frozenset(name for _, given in differentiated(event.loop) for name in given)
    if is_returned(event.loop):
        names = frozenset(_returned(event.loop))
    return frozenset(n for n in names if n in _stored(event.loop)) or names


def _returned(step: StepBody) -> Iterator[str]:
    """The loss that a framework's step returns: alone, first, or by its name."""
    for node in own_nodes(step):
        match node:
            case ast.Return(value=ast.Name() | ast.Tuple() as value):
                yield from _first_name(value)
            case ast.Return(value=ast.IfExp(body=one, orelse=other)):
                yield from _first_name(one)
                yield from _first_name(other)
            case ast.Return(value=ast.Dict(keys=keys, values=values)):
                for key, part in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "loss":
                        yield from _first_name(part)


def _first_name(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_]):
            yield name


def _output_names(event: TrainingCall) -> frozenset[str]:
    return _outputs(event.loop, _losses(event))


def _is_before(node: ast.expr, backward: ast.Call) -> bool:
    return end_of(node) <= start_of(backward)


def _stored(loop: StepBody) -> set[str]:
    inside = (n for part in loop.body for n in nodes(part))
    return {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _outputs(loop: StepBody, losses: frozenset[str]) -> frozenset[str]:
    """What the losses are computed from that a call gave, or a model, and what follows."""
    made = [s for s in own_nodes(loop) if isinstance(s, ast.Assign)]
    made.sort(key=start_of)
    from_calls = {n for s in made if _is_output(s.value) for n in names_in(*s.targets)}
    used = {n for s in made if losses & names_in(*s.targets) for n in names_in(s.value)}
    of_models = {n for s in made if _is_of_model(s.value) for n in names_in(*s.targets)}
    known = set(losses) | (used & from_calls) | (_made_of(made, losses) & of_models)
    for statement in made:
        if known & names_in(statement.value) and not _is_known_without(statement.value):
            known |= names_in(*statement.targets)
    return frozenset(known)


def _is_output(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and not _BATCHES.search(called(value))


def _is_of_model(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or _NO_OUTPUTS.search(called(value)):
        return False
    return _MODELS.search(ast.unparse(value.func)) is not None


def _made_of(made: Sequence[ast.Assign], losses: frozenset[str]) -> set[str]:
    """All variables that losses are computed from, however far back."""
    known: set[str] = set(losses)
    for statement in reversed(made):
        if known & names_in(*statement.targets):
            known |= names_in(statement.value)
    return known


def _is_known_without(node: ast.expr) -> bool:
    """True for what the host knows without asking the device: sizes, and what is read already."""
    for part in nodes(node):
        match part:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _KNOWN:
                return True
    return False


def _waits(site: Site, node: ast.expr, losses: frozenset[str], outputs: frozenset[str]) -> bool:
    if any(_is_loss(shown, losses) for shown in _shown_by(node)):
        return True
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]) if (
            name in _READS
        ):
            return bool(outputs & names_in(owner)) and not _is_known_without(owner)
        case ast.Call(func=ast.Attribute(value=owner)) if is_copy_to_host(site, node):
            return bool(outputs & names_in(owner)) and not _is_known_without(owner)
        case ast.Call(func=ast.Name(id=name), args=[number], keywords=[]) if name in _NUMBERS:
            return bool(losses & names_in(number)) and not _is_known_without(number)
        case ast.Call(args=[tested, *_]) if called(node) in _TESTS:
            asked = outputs & names_in(tested) and not _is_known_without(tested)
            return bool(asked) and _decides(site, node)
        case ast.Call() if _helper(site, node) is not None:
            return bool(_reads_of(site, node, outputs))
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[_]):
            asked = not isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
            return asked and name in losses and _decides(site, node)
    return False


def _shown_by(node: ast.expr) -> Sequence[ast.expr]:
    """What an expression makes text of, or keeps as a number for a diagram."""
    match node:
        case ast.JoinedStr(values=parts):
            return [part.value for part in parts if isinstance(part, ast.FormattedValue)]
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=shown):
            return [shown]
        case ast.Call(func=ast.Name(id="print" | "str"), args=args):
            return args
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format")):
            return [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Call(func=ast.Attribute(attr="add_scalar" | "set_postfix")):
            return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


def _is_loss(node: ast.expr, losses: frozenset[str]) -> bool:
    """True for a loss, also within arithmetic, a list or a dict."""
    match node:
        case ast.Name(id=name):
            return name in losses
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[]):
            return _is_loss(inner, losses)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return _is_loss(left, losses) or _is_loss(right, losses)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return any(_is_loss(part, losses) for part in parts)
    return False


def _taken(helper: ast.FunctionDef, call: ast.Call, outputs: frozenset[str]) -> set[str]:
    """The parameters of a function that a call gives something of the outputs."""
    names = [a.arg for a in (*helper.args.posonlyargs, *helper.args.args)]
    names = names[1:] if names[:1] == ["self"] else names
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return {name for name, value in given if name is not None and outputs & names_in(value)}


def _helper(site: Site, node: ast.AST) -> ast.FunctionDef | None:
    """The function of the file that a call calls by its name, or that of its class."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            info = site.module.functions.get(name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            cls = site.function.cls if site.function is not None else None
            info = cls.methods.get(name) if cls is not None else None
        case _:
            return None
    return info.node if info is not None and isinstance(info.node, ast.FunctionDef) else None


def _reads_of(site: Site, node: ast.expr, outputs: frozenset[str]) -> tuple[ast.expr, ...]:
    """Where the function that is called reads what it is given, whatever happens."""
    helper = _helper(site, node)
    if helper is None or not isinstance(node, ast.Call) or _ends_early(helper):
        return ()
    known = _taken(helper, node, outputs)
    reads: list[ast.expr] = []
    for part in _always(helper.body):
        match part:
            case ast.Assign(targets=targets, value=value) if known & names_in(value):
                known |= set() if _is_known_without(value) else names_in(*targets)
            case ast.For(target=target, iter=over) if known & names_in(over):
                known |= names_in(target)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]):
                if name in _READS | {"cpu"} and known & names_in(owner):
                    reads += [] if _is_known_without(owner) else [part]
    return tuple(reads)


def _ends_early(helper: ast.FunctionDef) -> bool:
    """True for a function that may return before it comes to its end."""
    returns = [node for node in nodes(helper) if isinstance(node, ast.Return)]
    return any(node is not helper.body[-1] for node in returns)


def _always(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """What statements evaluate whatever happens, loops taken to run, in the order of the text."""
    for statement in body:
        match statement:
            case ast.If() | ast.FunctionDef() | ast.ClassDef() | ast.Try() | ast.While():
                continue
            case ast.For(iter=over, body=inner):
                yield statement
                yield from nodes(over)
                yield from _always(inner)
            case ast.With(items=items, body=inner):
                yield from (node for item in items for node in nodes(item))
                yield from _always(inner)
            case _:
                yield statement
                yield from nodes(statement)


def _decides(site: Site, node: ast.AST) -> bool:
    """True where Python asks for the truth of an expression, perhaps of all its elements."""
    inner, outer = node, site.parent(node)
    while outer is not None and _hands_on_truth(outer):
        inner, outer = outer, site.parent(outer)
    tests = (ast.If, ast.While, ast.IfExp, ast.Assert)
    return isinstance(outer, tests) and outer.test is inner


def _hands_on_truth(outer: ast.AST) -> bool:
    match outer:
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Attribute(attr="all" | "any"):
            return True
        case ast.Call(func=ast.Attribute(attr="all" | "any"), args=[]):
            return True
    return False


def _repair(event: TrainingCall, read: ast.expr) -> Repair | Decline:
    """Move the statement behind the one that steps the optimizer."""
    if is_returned(event.loop):
        return Advice("keep it as a tensor: the framework reads logged values when it needs them")
    body, statement = event.loop.body, _statement(event.site, read)
    changed = _changed(statement)
    if statement is None or statement not in body or changed is None:
        return Advice(
            "read it after the optimizer's step; keep what decides whether to step as a tensor, "
            "and read that every few steps"
        )
    start = body.index(statement)
    end = max((k for k, one in enumerate(body) if _steps(one)), default=start)
    between = body[start + 1 : end + 1]
    kept = names_in(statement)
    if end == start or _needs(between, changed, kept):
        return Decline("the value is used or changed before the optimizer's step")
    return Repair(
        "Read it after the step",
        (
            Replace(statement, ""),
            Insert(body[end], "$statement", {"statement": statement}, after=True),
        ),
        Change.BEHAVIOUR,
        changes="it is not read if an exception ends the step first",
    )


def _statement(site: Site, read: ast.expr) -> ast.stmt | None:
    """The statement that does nothing but read, or hand on what it reads."""
    outer = site.parent(read)
    if isinstance(outer, (ast.Assign, ast.AugAssign, ast.Expr)):
        return outer
    around = next(one for one in site.ancestors(read) if isinstance(one, ast.stmt))
    return around if isinstance(around, ast.Expr) else None


def _changed(statement: ast.stmt | None) -> str | None:
    """The variable that a statement binds, or whose method it calls; empty for `print`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return ""
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name
    return None


def _steps(statement: ast.stmt) -> bool:
    return any(called(node) in ("backward", "step", "update") for node in nodes(statement))


def _needs(between: Sequence[ast.stmt], target: str, read: set[str]) -> bool:
    """True where statements use what is read, bind or change what it is read from, or leave."""
    for node in (n for statement in between for n in nodes(statement)):
        match node:
            case ast.Name(id=name) if name == target:
                return True
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in read:
                return True
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in read:
                if attribute.endswith("_"):
                    return True
            case ast.Break() | ast.Continue() | ast.Return():
                return True
    return False
