"""TCL410: a deep model compiled whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.options import Option
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Object

_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})


class WholeModelCompiled(Rule[CompileCall]):
    """A deep model of identical blocks is compiled as a whole."""

    code = "TCL410"
    name = "whole-model-compiled"
    summary = "Compiling a deep model whole compiles each of its identical blocks again"
    on = CompileCall
    effects = (Effect.COLD_START,)
    outside_regions = True
    options = (Option("minimum-blocks", 16, "How many equal blocks make a model deep."),)

    def check(self, event: CompileCall) -> Finding | None:
        """Look for a long stack in what is compiled."""
        if not isinstance(event.target, Object) or not event.target.is_module:
            return None
        deepest = max(_stacks(event.target), key=lambda s: s.count, default=None)
        if deepest is None or deepest.count < self.option(event, "minimum-blocks"):
            return None
        return Finding(
            f"`{event.target.name.rpartition('.')[2]}` is compiled whole: each of its "
            f"{deepest.count} `{deepest.block}`s adds to the first call; compiling the block does "
            "it once (64 small layers on an H200: first call 8.06 s to 0.38 s, but each step "
            "3.2 ms to 7.3 ms)",
            fix=_repair(event, deepest),
            confidence=Confidence.MEDIUM,
        )


@record(frozen=True)
class _Stack:
    """``self.ATTRIBUTE`` holds COUNT modules of the class BLOCK, all made the same way."""

    attribute: str
    block: str
    count: int


def _stacks(model: Object) -> Iterator[_Stack]:
    """The stacks whose length is known for this very object."""
    init = model.cls.methods.get("__init__") if model.cls else None
    if model.cls is None or init is None or isinstance(init.node, ast.Lambda):
        return
    made_by = model.site if isinstance(model.site, ast.Call) else None
    for statement in init.node.body:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)],
                value=ast.Call(args=[items]) as call,
            ) if dotted_name(model.cls.module, call.func) in _LISTS:
                found = _comprehension(items.value if isinstance(items, ast.Starred) else items)
                if found is None:
                    continue
                block, length = found
                count = _number(length, model.cls, init.node.args, made_by)
                if count is not None:
                    yield _Stack(attribute, block, count)


def _comprehension(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The class and the length of ``[Block(...) for _ in range(length)]``.

    A block that gets the loop variable may differ from its neighbours, and then compiles apart.
    """
    match node:
        case (
            ast.ListComp(elt=elt, generators=[loop]) | ast.GeneratorExp(elt=elt, generators=[loop])
        ):
            pass
        case _:
            return None
    match elt, loop:
        case (
            ast.Call(func=ast.Name(id=block) | ast.Attribute(attr=block)),
            ast.comprehension(
                target=ast.Name(id=index),
                iter=ast.Call(func=ast.Name(id="range"), args=[length]),
                ifs=[],
            ),
        ):
            used = any(isinstance(n, ast.Name) and n.id == index for n in ast.walk(elt))
            return None if used else (block, length)
    return None


def _number(
    node: ast.expr, cls: ClassInfo, parameters: ast.arguments, made_by: ast.Call | None
) -> int | None:
    """An integer that is written down: in place, as an argument, a default, or a constant."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.Name):
        return None
    names = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    everything = [*names, *(a.arg for a in parameters.kwonlyargs)]
    if node.id not in everything:
        written = cls.module.assigned.get(node.id)
    else:
        if made_by is None:
            return None
        written = _argument(node.id, names, made_by) or _default(node.id, names, parameters)
    return (
        written.value if isinstance(written, ast.Constant) and type(written.value) is int else None
    )


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
    statement, whole = site.statement, getattr(site.statement, "value", None)
    match event.keywords.get("model"), call:
        case (
            [ast.Name() as model, _]
            | [None, ast.Call(func=ast.Attribute(ast.Name() as model, "compile"), args=[])]
            | [None, ast.Call(args=[ast.Name() as model])]
        ):
            pass
        case _:
            return Decline("the model has no name here: give it one, then compile its blocks")
    if whole is not call or site.body.names("block"):
        return Decline("the call is part of a larger expression, or the name `block` is taken")
    arguments = ", ".join(f"{key}=${key}" for key in event.keywords if key != "model")
    loop = f"for block in {model.id}.{stack.attribute}:\n    block.compile({arguments})"
    parts = dict(event.keywords)
    match statement:
        case ast.Expr() | ast.Assign(targets=[ast.Name(id=model.id)]):
            rewrites: tuple[Rewrite, ...] = (Replace(statement, loop, parts),)
        case _:
            kept = Replace(call, "$model", {"model": model})
            rewrites = (Insert(statement, loop, parts), kept)
    return Repair(
        "Compile the block instead of the model",
        rewrites,
        Applicability.DISPLAY,
        changes="the first call gets faster, each later one may get slower",
    )
