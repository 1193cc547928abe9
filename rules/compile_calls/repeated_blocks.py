"""Which lists of equal blocks a module's ``__init__`` builds, and how long they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Object

LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})


@record(frozen=True)
class Stack:
    """``self.ATTRIBUTE`` holds COUNT modules of the class BLOCK, all made the same way."""

    attribute: str
    block: str
    count: int


def stacks(model: Object) -> Iterator[Stack]:
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
            ) if dotted_name(model.cls.module, call.func) in LISTS:
                found = _comprehension(items.value if isinstance(items, ast.Starred) else items)
                if found is None:
                    continue
                block, length = found
                count = _number(length, model.cls, init.node.args, made_by)
                if count is not None:
                    yield Stack(attribute, block, count)


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
