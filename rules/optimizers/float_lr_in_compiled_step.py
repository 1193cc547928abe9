"""TCL501: a float learning rate that changes under a compiled step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule, SpentIn
from tclint.semantics.events import LrChange, OptimizerInit
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import UNKNOWN, Static
from tclint.torch_facts import lr_schedulers, optimizers

_CHANGES = (
    "parameters come out close, not bit-identical, and eager steps get slower unless `fused=True`"
)
NEEDS_CAPTURABLE = frozenset({"torch.optim.Adam", "torch.optim.AdamW"})
_WRITTEN: Final = "a new rate has to be a number, and code that reads it gets a tensor"
_FILL: Final = "$rate.fill_($value)"
_EITHER: Final = """\
if isinstance($rate, {tensor}):
    $rate.fill_($value)
else:
    $rate = $value"""
_SHARED: Final = "groups without their own rate share one tensor: a write to one would change all"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Parents = dict[ast.AST, ast.AST]


class FloatLrInCompiledStep(Rule[OptimizerInit]):
    """A float learning rate that changes between calls of a compiled step."""

    code = "TCL501"
    name = "float-lr-in-compiled-step"
    summary = "A float learning rate that changes recompiles a compiled step"
    instead = "Make the learning rate a tensor: `lr=torch.tensor(1e-3)`"
    worth = Worth.HIGH
    measured = "0.4 ms of an optimizer step of 0.5 ms, and 8 compiles (H200)"
    on = OptimizerInit
    spent_in = SpentIn.OPTIMIZER
    effects = (Effect.RECOMPILE,)
    outside_regions = True

    def check(self, event: OptimizerInit) -> Finding | None:
        """Report compiled steps whose float learning rate something changes."""
        if not event.compiled_step or not event.lr_changes or _is(event, "fused"):
            return None
        sure = event.lr is None or _is_number(event)
        if not sure and not _may_be_number(event):
            return None
        change = event.lr_changes[0].name.rpartition(".")[2]
        return Finding(
            f"`{change}` changes the float learning rate of a compiled step: it recompiles",
            fix=_repair(event),
            confidence=None if sure else Confidence.MEDIUM,
        )


def _is(event: OptimizerInit, keyword: str) -> bool:
    node = event.keywords.get(keyword)
    return isinstance(node, ast.Constant) and node.value is True


def _is_number(event: OptimizerInit) -> bool:
    return all(
        isinstance(v, Static) and v.type in ("float", "int") for v in options(event.lr_value)
    )


def _may_be_number(event: OptimizerInit) -> bool:
    """True for a setting of the program that is not known: ``args.lr``, ``config["lr"]``."""
    kinds = options(event.lr_value)
    known = all(kind is UNKNOWN or isinstance(kind, Static) for kind in kinds)
    return known and isinstance(event.lr, (ast.Attribute, ast.Subscript, ast.Name))


def _repair(event: OptimizerInit) -> Repair | Decline:
    facts = optimizers().get(event.optimizer)
    if facts is None or not facts.tensor_lr:
        return Decline(f"`{event.optimizer}` is not known to take a tensor as learning rate")
    if event.lr is None:
        return Decline("the learning rate is the default; write it out first")
    raises = _is(event, "foreach") and not _is(event, "capturable")
    if raises and event.optimizer in NEEDS_CAPTURABLE:
        return Decline(
            "with `foreach=True` a tensor learning rate raises without `capturable=True`"
        )
    if not _is_number(event):
        return Decline(f"`{event.site.text(event.lr)}` is not known to be a float")
    obstacle = next(filter(None, map(_puts_floats_back, event.lr_changes)), None)
    if obstacle:
        return Decline(obstacle)
    tensor = event.site.spell("torch.tensor")
    if tensor is None:
        return Decline("the file does not import torch")
    groups = _group_rates(event)
    if isinstance(groups, Decline):
        return groups
    rewrites: list[Replace] = []
    for rate in (event.lr, *groups):
        rewrite = _as_tensor(event.site, tensor, rate)
        if isinstance(rewrite, Decline):
            return rewrite
        rewrites.append(rewrite)
    writes = _filled_writes(event)
    if isinstance(writes, Decline):
        return writes
    return Repair(
        "Make the learning rate a tensor",
        (*rewrites, *writes),
        Change.BEHAVIOUR,
        changes=f"{_CHANGES}; {_WRITTEN}" if writes else _CHANGES,
    )


def _puts_floats_back(change: LrChange) -> str | None:
    """Why a tensor would not stay, or not be enough."""
    name = change.name.rpartition(".")[2]
    scheduler = lr_schedulers().get(f"torch.optim.lr_scheduler.{name}")
    if scheduler is not None:
        written = ", ".join(scheduler.writes)
        why = f"`{scheduler.name}` writes floats ({written}) on every step, so it recompiles anyway"
        return why if scheduler.writes_floats else None
    if change.kind == "scheduler":
        return f"`{name}` may write a float over the tensor"
    return None


def _group_rates(event: OptimizerInit) -> list[ast.expr] | Decline:
    """The float rates written in groups, which the optimizer's own rate does not replace."""
    given = event.call.args[0] if event.call.args else event.keywords.get("params")
    groups, others = _written_groups(event.site, given)
    rates = [rate for group in groups for rate in _rates(group)]
    if rates and others:
        name = event.site.text(others[0])
        return Decline(f"`{name}` is also read elsewhere, where its learning rates may be set")
    for rate in rates:
        kinds = list(options(event.site.value(rate)))
        if not all(isinstance(kind, Static) and kind.type in ("float", "int") for kind in kinds):
            return Decline(f"the group's `{event.site.text(rate)}` is not known to be a number")
    return rates


def _written_groups(site: Site, given: ast.expr | None) -> tuple[list[ast.expr], list[ast.Name]]:
    """The groups, and what else reads the variables that hold them."""
    others: list[ast.Name] = []
    if isinstance(given, ast.Name):
        groups = _elements(_only_value(site, given.id))
        for load in site.loads(given.id):
            appended = _appended(site, load)
            if appended is not None:
                groups.append(appended)
            elif load is not given:
                others.append(load)
    else:
        groups = _elements(given)
    for number, group in enumerate(groups):
        held = _only_value(site, group.id) if isinstance(group, ast.Name) else None
        if isinstance(group, ast.Name) and held is not None:
            groups[number] = held
            others += [load for load in site.loads(group.id) if load is not group]
    return groups, others


def _elements(node: ast.expr | None) -> list[ast.expr]:
    match node:
        case ast.List(elts=groups) | ast.Tuple(elts=groups):
            return [*groups]
        case ast.ListComp(elt=group) | ast.GeneratorExp(elt=group):
            return [group]
    return []


def _only_value(site: Site, name: str) -> ast.expr | None:
    stores = site.stores(name)
    match site.parent(stores[0]) if len(stores) == 1 else None:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
    return None


def _appended(site: Site, load: ast.Name) -> ast.expr | None:
    match list(site.ancestors(load))[:3]:
        case [ast.Attribute(attr="append"), ast.Call(args=[group], keywords=[]), ast.Expr()]:
            return group
    return None


def _rates(group: ast.expr) -> Iterator[ast.expr]:
    match group:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "lr":
                    yield value
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            yield from (keyword.value for keyword in keywords if keyword.arg == "lr")


def _as_tensor(site: Site, tensor: str, rate: ast.expr) -> Replace | Decline:
    """A float tensor of a rate: one of an integer would round all that is written into it."""
    if isinstance(rate, ast.Constant) and isinstance(rate.value, int):
        return Replace(rate, f"{tensor}({float(rate.value)})")
    if any(isinstance(k, Static) and k.type == "int" for k in options(site.value(rate))):
        return Decline(
            f"`{site.text(rate)}` may be an integer, and an integer tensor would round later rates"
        )
    return Replace(rate, f"{tensor}($lr)", {"lr": rate})


def _filled_writes(event: OptimizerInit) -> list[Replace] | Decline:
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
        rewrite = _filled_write(event, change, parents)
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
                    return f"`{event.site.text(node)}` is also read, and would be a tensor there"
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


def _filled_write(
    event: OptimizerInit, change: LrChange, parents: _Parents
) -> Replace | Decline | None:
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


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _around(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    outer = parents.get(node)
    while outer is not None:
        yield outer
        outer = parents.get(outer)


def _stores(scope: ast.AST, name: str) -> list[ast.AST]:
    """What binds a variable: assignments and the like, and parameters."""
    return [
        node
        for node in ast.walk(scope)
        if (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
    ]


def _scopes(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    """The functions around a node, innermost first."""
    return (outer for outer in _around(node, parents) if isinstance(outer, _FUNCTIONS))
