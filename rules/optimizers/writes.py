"""``group["lr"] = rate``: fill the tensor that is the rate, wherever the file writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Replace
from tclint.semantics.events import LrChange, OptimizerInit

WRITTEN: Final = "the rate that is written has to be a number, and whoever reads it gets a tensor"
_FILL: Final = "$rate.fill_($value)"
_EITHER: Final = """\
if isinstance($rate, {tensor}):
    $rate.fill_($value)
else:
    $rate = $value"""
_SHARED: Final = "groups without a rate of their own share one tensor: each write would be for all"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Parents = dict[ast.AST, ast.AST]


def filled(event: OptimizerInit) -> list[Replace] | Decline:
    """The writes of this optimizer's rate, each filling the tensor; functions may share them."""
    changes = [change for change in event.lr_changes if change.kind == "write"]
    if not changes:
        return []
    tree = event.site.module.tree
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    obstacle = _obstacle(event, tree, parents)
    if obstacle:
        return Decline(obstacle)
    found: list[Replace] = []
    for change in changes:
        rewrite = _filled(event, change, parents)
        if isinstance(rewrite, Decline):
            return rewrite
        found += [rewrite] if rewrite is not None else []
    return found


def _obstacle(event: OptimizerInit, tree: ast.Module, parents: _Parents) -> str:
    given = event.call.args[0] if event.call.args else event.keywords.get("params")
    match given:
        case ast.Call(func=ast.Attribute(attr="parameters"), args=[]):
            pass
        case _:
            return _SHARED
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="add_param_group"):
                return _SHARED
            case ast.Subscript(slice=ast.Constant(value="lr"), ctx=ast.Load()):
                if not _is_computed_with(node, parents):
                    return f"`{event.site.text(node)}` is read, too, and would be a tensor"
    return ""


def _is_computed_with(read: ast.expr, parents: _Parents) -> bool:
    """True for ``group["lr"] * 0.9`` that is the rate again, and for what only asks or fills."""
    match parents.get(read):
        case ast.Call(func=ast.Name(id="isinstance")) | ast.Attribute(attr="fill_"):
            return True
    node: ast.AST = read
    while isinstance(outer := parents.get(node), (ast.BinOp, ast.UnaryOp)):
        node = outer
    outer = parents.get(node)
    if node is read or not isinstance(outer, ast.Assign):
        return False
    return [ast.unparse(target) for target in outer.targets] == [ast.unparse(read)]


def _filled(event: OptimizerInit, change: LrChange, parents: _Parents) -> Replace | Decline | None:
    statement = parents.get(change.node)
    if isinstance(statement, ast.AugAssign):
        return None  # `*=` changes the tensor itself
    if statement is not None and _is_for_floats(statement, parents):
        return None
    plain = isinstance(statement, ast.Assign) and statement.targets == [change.node]
    if not plain or not isinstance(statement, ast.Assign):
        return Decline("the write to `param_groups` is in another file, or in an unusual place")
    rate = statement.targets[0]
    parts: dict[str, ast.expr | ast.stmt] = {"rate": rate, "value": statement.value}
    if _is_of_this(event, rate, parents):
        return Replace(statement, _FILL, parts)
    tensor = event.site.spell("torch.Tensor")
    names = {"isinstance", (tensor or "").partition(".")[0]}
    if tensor is None or any(
        _stores(scope, name) for scope in _scopes(statement, parents) for name in names
    ):
        return Decline("`torch` or `isinstance` means something else where the rate is written")
    return Replace(statement, _EITHER.format(tensor=tensor), parts)


def _is_for_floats(statement: ast.AST, parents: _Parents) -> bool:
    """True below the `else` of ``if isinstance(group["lr"], torch.Tensor):``."""
    match parents.get(statement):
        case ast.If(test=ast.Call(func=ast.Name(id="isinstance"), args=[rate, _]), orelse=other):
            asked = isinstance(rate, ast.Subscript) and ast.unparse(rate.slice) == "'lr'"
            return asked and statement in other
    return False


def _is_of_this(event: OptimizerInit, rate: ast.expr, parents: _Parents) -> bool:
    """True where the groups are certainly those of this optimizer, and of no other."""
    name = _root(rate)
    loop = next((one for one in _around(rate, parents) if isinstance(one, ast.For)), None)
    if loop is not None and _root(loop.target) == name:
        if len(_stores(loop, name)) > 1:
            return False
        name = _root(loop.iter)
    for scope in _scopes(rate, parents):
        stores = _stores(scope, name)
        if stores:
            break
    else:
        found = _stores(event.site.module.tree, name)
        stores = [node for node in found if not any(_scopes(node, parents))]
    binding = parents.get(stores[0]) if len(stores) == 1 else None
    return isinstance(binding, ast.Assign) and binding.value is event.call


def _stores(scope: ast.AST, name: str) -> list[ast.AST]:
    """What binds a variable: assignments and the like, and parameters."""
    return [
        node
        for node in ast.walk(scope)
        if (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
    ]


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _around(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    outer = parents.get(node)
    while outer is not None:
        yield outer
        outer = parents.get(outer)


def _scopes(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    """The functions around a node, innermost first."""
    return (outer for outer in _around(node, parents) if isinstance(outer, _FUNCTIONS))
