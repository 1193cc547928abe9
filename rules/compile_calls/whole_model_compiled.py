"""TCL410: a deep model compiled whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.options import Option
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import names_in
from tclint.semantics.values import UNKNOWN, Function, Object, Value

_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})
_INSTEAD = "Compile the repeated block: `for block in model.{}: block.compile()`"


class WholeModelCompiled(Rule[CompileCall]):
    """A deep model of identical blocks is compiled as a whole."""

    code = "TCL410"
    name = "whole-model-compiled"
    summary = "Compiling a deep model as a whole compiles each of its identical blocks again"
    instead = _INSTEAD.format("blocks")
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
            confidence=Confidence.MEDIUM,
            instead=_INSTEAD.format(deepest.attribute),
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


def _stacks(model: Object) -> Iterator[_Stack]:
    """The stacks that the model's ``__init__`` makes, of a length that is known for this object."""
    init = model.cls.methods.get("__init__") if model.cls else None
    body = init.node.body if init is not None and not isinstance(init.node, ast.Lambda) else []
    assigns = [one for one in body if isinstance(one, ast.Assign)]
    bound = [to.attr for one in assigns for to in one.targets if isinstance(to, ast.Attribute)]
    for statement in body:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr=name)],
                value=ast.Call(func=function, args=[ast.Starred(value=items) | items]),
            ) if isinstance(items, (ast.ListComp, ast.GeneratorExp)) and bound.count(name) == 1:
                lists = dotted_name(model.cls.module, function) in _LISTS if model.cls else False
                if lists and len(items.generators) == 1 and not items.generators[0].ifs:
                    loop = items.generators[0]
                    yield from _stack(model, name, items.elt, loop.target, loop.iter)
            case ast.For(
                target=target,
                iter=over,
                body=[
                    ast.Expr(
                        value=ast.Call(
                            func=ast.Attribute(value=ast.Attribute(attr=name), attr="append"),
                            args=[made],
                        )
                    )
                ],
            ):
                yield from _stack(model, name, made, target, over)


def _stack(
    model: Object, attribute: str, made: ast.expr, target: ast.expr, over: ast.expr
) -> Iterator[_Stack]:
    """One block for each number of a range; a block that gets the number may differ from others."""
    match made, over:
        case (
            ast.Call(func=(ast.Name() | ast.Attribute()) as block),
            ast.Call(func=ast.Name(id="range"), args=[length], keywords=[]),
        ):
            count = _number(length, model)
            if count is not None and names_in(target).isdisjoint(names_in(made)):
                yield _Stack(attribute, ast.unparse(block).rpartition(".")[2], count)


def _number(node: ast.expr | None, model: Object) -> int | None:
    """An integer that is written down: in place, as an argument, a default or a constant."""
    if isinstance(node, ast.Name):
        node = _written(node.id, model)
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _written(name: str, model: Object) -> ast.expr | None:
    """What a name of the model's ``__init__`` stands for."""
    assert model.cls is not None
    defaults = {one.arg: given for one, given in parameters_of(model.cls.methods["__init__"].node)}
    if name not in defaults:
        return model.cls.module.assigned.get(name)
    if not isinstance(model.site, ast.Call) or any(
        isinstance(one, ast.Starred) or (isinstance(one, ast.keyword) and one.arg is None)
        for one in (*model.site.args, *model.site.keywords)
    ):
        return None
    given = {one.arg: one.value for one in model.site.keywords}
    given |= dict(zip([*defaults][1:], model.site.args, strict=False))
    return given.get(name) or defaults[name]
