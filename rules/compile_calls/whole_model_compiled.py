"""TCL410: a deep model compiled whole."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.options import Option
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.bounds import Bound
from tclint.semantics.collect import dotted_name
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import UNKNOWN, Function, Object, Value

from .arguments import as_written

_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})
_DICT = "torch.nn.ModuleDict"
_ENCODERS = frozenset({"torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder"})
MODELS = Bound(3, "modules that make each other to find a stack of blocks", hides=False)


class WholeModelCompiled(Rule[CompileCall]):
    """A deep model of identical blocks is compiled as a whole."""

    code = "TCL410"
    name = "whole-model-compiled"
    summary = "Compiling a deep model as a whole compiles each of its identical blocks again"
    instead = "Compile the repeated block: `for block in model.blocks: block.compile()`"
    worth = Worth.LOW
    measured = "7.7 s of the first call of 64 layers (H200)"
    on = CompileCall
    effects = (Effect.COLD_START,)
    outside_regions = True
    options = (Option("minimum-blocks", 16, "How many equal blocks make a model deep."),)

    def check(self, event: CompileCall) -> Finding | None:
        """Look for a long stack in what is compiled."""
        model = _model(event.target)
        if model is None:
            return None
        deepest = max(_stacks(model), key=lambda s: s.count, default=None)
        if deepest is None or deepest.count < self.option(event, "minimum-blocks"):
            return None
        return Finding(
            f"`{model.name.rpartition('.')[2]}` is compiled whole: each of its "
            f"{deepest.count} `{deepest.block}`s is compiled again",
            fix=_repair(event, deepest),
            confidence=Confidence.MEDIUM,
        )


def _model(target: Value) -> Object | None:
    """The module that is compiled: itself, or its `forward`."""
    if isinstance(target, Function) and target.info.name == "forward":
        target = target.bound or UNKNOWN
    return target if isinstance(target, Object) and target.is_module else None


@record(frozen=True)
class _Stack:
    """``self.ATTRIBUTE`` holds COUNT modules of the class BLOCK, all made the same way."""

    attribute: str
    block: str
    count: int


@record(frozen=True)
class _Made:
    """A class whose object is made by a call in another one's ``__init__``, or in the program."""

    cls: ClassInfo
    parameters: ast.arguments
    call: ast.Call | None
    outer: _Made | None = None


def _stacks(model: Object) -> Iterator[_Stack]:
    """The stacks whose length is known for this very object."""
    if model.cls is not None:
        call = model.site if isinstance(model.site, ast.Call) else None
        yield from _stacks_of(model.cls, call, None)


def _stacks_of(
    cls: ClassInfo, call: ast.Call | None, outer: _Made | None, depth: int = 0
) -> Iterator[_Stack]:
    init = cls.methods.get("__init__")
    if init is None or isinstance(init.node, ast.Lambda):
        return
    if depth > MODELS.most:
        MODELS.cut()
        return
    made = _Made(cls, init.node.args, call, outer)
    found = _Blocks(made)
    found.walk(init.node.body, 1)
    yield from found.stacks()
    for attribute, inner in found.inner:
        known = cls.module.classes.get(inner.func.id) if isinstance(inner.func, ast.Name) else None
        if known is not None:
            for stack in _stacks_of(known, inner, made, depth + 1):
                yield _Stack(f"{attribute}.{stack.attribute}", stack.block, stack.count)


_Counts = dict[str, dict[str, int]]
"""How many objects that one call makes a list holds, by the list: ``blocks``, ``self.blocks``."""


class _Blocks:
    """What the statements of an ``__init__`` put into lists and dicts of modules."""

    def __init__(self, made: _Made) -> None:
        self.made = made
        self.counts: _Counts = {}
        self.inner: list[tuple[str, ast.Call]] = []
        self._layers: dict[str, str] = {}

    def stacks(self) -> Iterator[_Stack]:
        """Those that an attribute holds."""
        for place, blocks in self.counts.items():
            if place.startswith("self."):
                for call, count in blocks.items():
                    block = call.partition("(")[0].rpartition(".")[2]
                    yield _Stack(place.removeprefix("self."), block, count)

    def walk(self, body: Iterable[ast.stmt], times: int | None) -> None:
        """Go through statements that run so many times; None where nobody knows how often."""
        for statement in body:
            match statement:
                case ast.If(body=first, orelse=second):
                    self._either(first, second, times)
                case ast.For(target=target, iter=over, body=inner):
                    rounds = _range(self.made, over)
                    repeated = None if rounds is None or times is None else rounds * times
                    self._loop(target, inner, repeated)
                case ast.With(body=inner):
                    self.walk(inner, times)
                case (
                    ast.Assign(targets=[target], value=value)
                    | ast.AnnAssign(target=target, value=ast.expr() as value)
                ):
                    self._assign(target, value, times)
                case ast.Expr(value=ast.Call(func=ast.Attribute() as func, args=[*args])):
                    self._add(func, args, times)

    def _either(self, first: list[ast.stmt], second: list[ast.stmt], times: int | None) -> None:
        """What both branches put in: the smaller number of the two."""
        before, ends = _copied(self.counts), []
        for branch in (first, second):
            self.counts = _copied(before)
            self.walk(branch, times)
            ends.append(self.counts)
        one, other = ends
        self.counts = {
            place: {
                block: min(count, other[place][block])
                for block, count in blocks.items()
                if block in other[place]
            }
            for place, blocks in one.items()
            if place in other
        }

    def _loop(self, target: ast.expr, body: list[ast.stmt], times: int | None) -> None:
        bound = [node for part in (target, *body) for node in ast.walk(part)]
        names = {n.id for n in bound if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        # A block that gets what the loop changes may differ from its neighbours.
        alike = [statement for statement in body if not _hands_on(statement, names)]
        self.walk(alike, times)

    def _assign(self, target: ast.expr, value: ast.expr, times: int | None) -> None:
        if isinstance(target, ast.Subscript):
            self._count(_place(target.value), value, times, ".values()")
            return
        place = _place(target)
        if place is None:
            return
        self.counts.pop(place, None)
        name = dotted_name(self.made.cls.module, value.func) if isinstance(value, ast.Call) else ""
        match value:
            case ast.Call(args=[items]) if name in _LISTS:
                self._fill(place, items.value if isinstance(items, ast.Starred) else items)
            case ast.Call(args=[ast.DictComp() as items]) if name == _DICT:
                self._fill(f"{place}.values()", items)
            case ast.Call(args=[layer, *rest], keywords=keywords) if name in _ENCODERS:
                self._encode(place, layer, [*rest, *(k.value for k in keywords if k.arg)])
            case ast.List() | ast.ListComp():
                self._fill(place, value)
            case ast.Call():
                self._layers[place] = ast.unparse(value)
                if place.startswith("self."):
                    self.inner.append((place.removeprefix("self."), value))

    def _encode(self, place: str, layer: ast.expr, given: list[ast.expr]) -> None:
        block = _block(layer) or self._layers.get(_place(layer) or "")
        count = _number(given[0], self.made) if given else None
        if block is not None and count is not None:
            self.counts[f"{place}.layers"] = {block: count}

    def _fill(self, place: str, items: ast.expr) -> None:
        """Put what a list, a comprehension or a variable holds into a place."""
        known = self.counts.get(_place(items) or "")
        if known is not None:
            self.counts[place] = dict(known)
            return
        blocks = self.counts.setdefault(place, {})
        if isinstance(items, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
            block, count = _comprehension(self.made, items)
            if block is not None and count is not None:
                blocks[block] = blocks.get(block, 0) + count

    def _add(self, func: ast.Attribute, args: list[ast.expr], times: int | None) -> None:
        place = _place(func.value)
        if func.attr == "extend" and len(args) == 1 and place is not None and times == 1:
            before = self.counts.pop(place, {})
            self._fill(place, args[0])
            for block, count in before.items():
                self.counts[place][block] = self.counts[place].get(block, 0) + count
        elif func.attr in ("append", "add_module") and args:
            self._count(place, args[-1], times)

    def _count(
        self, place: str | None, value: ast.expr, times: int | None, suffix: str = ""
    ) -> None:
        block = _block(value)
        if place is not None and block is not None and times is not None:
            blocks = self.counts.setdefault(f"{place}{suffix}", {})
            blocks[block] = blocks.get(block, 0) + times


def _copied(counts: _Counts) -> _Counts:
    return {place: dict(blocks) for place, blocks in counts.items()}


def _place(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"self.{name}"
    return None


def _block(node: ast.expr) -> str | None:
    """What makes a block, as it is written: other arguments make another block."""
    made = isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute))
    return ast.unparse(node) if made else None


def _hands_on(statement: ast.stmt, names: set[str]) -> bool:
    """True where a call that makes something is given the loop's variable."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr="append" | "extend"), args=args):
                parts = [part for made in args for part in ast.walk(made)]
            case ast.Assign(value=made):
                parts = [*ast.walk(made)]
            case _:
                continue
        if any(isinstance(part, ast.Name) and part.id in names for part in parts):
            return True
    return False


def _comprehension(
    made: _Made, node: ast.ListComp | ast.GeneratorExp | ast.DictComp
) -> tuple[str | None, int | None]:
    """The class and the length of ``[Block(...) for _ in range(length)]``.

    A block that gets the loop variable may differ from its neighbours, and then compiles apart.
    """
    value = node.value if isinstance(node, ast.DictComp) else node.elt
    block = _block(value)
    if block is None or len(node.generators) != 1 or node.generators[0].ifs:
        return None, None
    loop = node.generators[0]
    names = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    if any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(value)):
        return None, None
    return block, _range(made, loop.iter)


def _range(made: _Made, node: ast.expr) -> int | None:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[length], keywords=[]):
            return _number(length, made)
    return None


def _number(node: ast.expr, made: _Made) -> int | None:
    """An integer that is written down: in place, as an argument, a default, or a setting."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    match node:
        case ast.Name(id=name):
            written, where = _written(name, made)
            return None if written is None or where is None else _number(written, where)
        case ast.Attribute(value=ast.Name(id=name), attr=setting) if name != "self":
            config, where = _written(name, made)
            return None if where is None else _setting(config, setting, where)
    return None


def _written(name: str, made: _Made) -> tuple[ast.expr | None, _Made | None]:
    """What a name stands for in an ``__init__``, and where that is written."""
    spec = made.parameters
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    if name not in (*names, *(a.arg for a in spec.kwonlyargs)):
        return made.cls.module.assigned.get(name), made
    if made.call is None:
        return None, None
    given = _argument(name, names, made.call)
    if given is None:
        return _default(name, names, spec), made
    if made.outer is None and not isinstance(given, (ast.Constant, ast.Call)):
        return None, None  # what a variable of the program holds, perhaps of another file
    return given, made.outer or made


def _setting(config: ast.expr | None, name: str, made: _Made) -> int | None:
    """``Config(name=3)``, or the default of a class whose object it is."""
    if isinstance(config, ast.Name):
        config, where = _written(config.id, made)
        made = where or made
    if not isinstance(config, ast.Call) or not isinstance(config.func, ast.Name):
        return None
    given = next((k.value for k in config.keywords if k.arg == name), None)
    if given is not None:
        return _number(given, made) if isinstance(given, ast.Constant) else None
    cls = made.cls.module.classes.get(config.func.id)
    if cls is None or config.args or any(k.arg is None for k in config.keywords):
        return None
    for item in cls.node.body:
        match item:
            case (
                ast.AnnAssign(target=ast.Name(id=known), value=ast.expr() as value)
                | ast.Assign(targets=[ast.Name(id=known)], value=value)
            ) if known == name:
                return _number(value, made)
    return None


def _argument(name: str, names: list[str], call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    position = names.index(name) - 1 if name in names else -1
    return call.args[position] if 0 <= position < len(call.args) else None


def _default(name: str, names: list[str], parameters: ast.arguments) -> ast.expr | None:
    positional = dict(zip(reversed(names), reversed(parameters.defaults), strict=False))
    keyword_only = dict(
        zip((a.arg for a in parameters.kwonlyargs), parameters.kw_defaults, strict=True)
    )
    return positional.get(name) or keyword_only.get(name)


def _repair(event: CompileCall, stack: _Stack) -> Repair | Decline:
    """Compile the blocks, and let the model itself stand where it was compiled."""
    site, call = event.site, event.call
    if isinstance(event.target, Function):
        return Advice("the `forward` is compiled: compile the blocks of the model instead")
    statement, whole = site.statement, getattr(site.statement, "value", None)
    match event.keywords.get("model"), call:
        case (
            [ast.Name() as model, _]
            | [None, ast.Call(func=ast.Attribute(ast.Name() as model, "compile"), args=[])]
            | [None, ast.Call(args=[ast.Name() as model])]
        ):
            pass
        case _:
            return Advice("the model has no name here: give it one, then compile its blocks")
    if whole is not call or site.body.names("block"):
        return Decline("the call is part of a larger expression, or the name `block` is taken")
    assert isinstance(call, ast.Call)
    arguments, parts = as_written(call)
    loop = f"for block in {model.id}.{stack.attribute}:\n    block.compile({arguments})"
    match statement:
        case ast.Expr() | ast.Assign(targets=[ast.Name(id=model.id)]):
            rewrites: tuple[Rewrite, ...] = (Replace(statement, loop, parts),)
        case _:
            kept = Replace(call, "$model", {"model": model})
            rewrites = (Insert(statement, loop, parts), kept)
    return Repair(
        "Compile the block instead of the model",
        rewrites,
        Change.BEHAVIOUR,
        "the first call gets faster, each later one may get slower",
        only_shown=True,
    )
