"""A helper that computes an array on the host, as a custom operator: compiled code calls it whole.

Eager code computes what it did, by the helper as it is written. In compiled code the operator runs
that helper too, so that numpy draws the numbers that it draws in eager code.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Import, Insert, Repair, Replace, Rewrite
from tclint.records import record
from tclint.semantics.collect import meaning_several
from tclint.semantics.ownership import is_unshared, read_into
from tclint.semantics.site import Site
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import nodes, own_nodes

from ..facts.known import is_parameter
from .names import is_taken
from .written_operator import Parameter, call_of, indented, registered

_MESSAGE: Final = "Call the helper as a custom operator"
_ARRAYS: Final = frozenset({"numpy.zeros", "numpy.ones", "numpy.empty"})
_DTYPES: Final = {
    "bool": "bool", "numpy.bool_": "bool", "int": "int64", "numpy.int64": "int64",
    "numpy.int32": "int32",
}  # fmt: skip
"""Kinds of elements that have no gradient."""
_NUMBERS: Final = frozenset({"int", "float", "bool", "str"})
_TENSORS: Final = frozenset(
    f"torch.{kind}"
    for kind in ("Tensor", "LongTensor", "IntTensor", "BoolTensor", "FloatTensor", "ByteTensor")
)
_PAIRS: Final = frozenset({"tuple", "typing.Tuple"})
_RESIZING: Final = frozenset({"resize", "shape", "dtype", "strides", "data", "setfield"})
_QUIET: Final = frozenset(
    "abs all any bool enumerate float int isinstance len list max min range round sorted sum tuple "
    "zip".split()
)
_METHODS: Final = frozenset(
    "all any append astype copy cpu detach dim extend float int item long max min nonzero numpy "
    "reshape size sum tolist".split()
)
_ORDERED_SINCE: Final = (2, 12)
"""Before, an operator could not say that no call of it may be left out, or made once for two."""
_HANDING_ON: Final = frozenset({"detach", "cpu", "long", "int"})
_READS: Final = frozenset({"tolist", "item", "sum"})
_DELAYED: Final = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)


@record(frozen=True)
class _Result:
    """The array that a helper returns: its shape as written, what that needs, and its dtype."""

    shape: str
    unpacked: tuple[ast.Assign, ...]
    dtype: str


def as_operator(site: Site) -> Repair | None:
    """Register the function that reads or draws on the host as an operator, and call that."""
    node = site.body.scope
    if not isinstance(node, ast.FunctionDef) or not _is_plain(site, node):
        return None
    parameters = _parameters(site, node)
    result = _result(site, node)
    calls = list(site.body.calls.items())
    own = all(_is_elsewhere_in_file(site, caller) for _, (caller, _) in calls)
    if parameters is None or result is None or not calls or not own:
        return None
    name = f"{node.name}_op"
    if (
        is_taken(site, name)
        or is_taken(site, f"{name}_shape")
        or site.spell("torch.Tensor") is None
    ):
        return None
    ordered = _does_more(site, node)
    oldest = site.settings.min_torch
    if ordered and oldest is not None and oldest < _ORDERED_SINCE:
        return None
    text = _written(site, node.name, parameters, result, ordered=ordered)
    rewrites: list[Rewrite] = [Insert(node, text, after=True)]
    rewrites += [Import("torch._library.effects", "EffectType")] if ordered else []
    for call, _ in calls:
        rewrites.append(Replace(call.func, name))
        rewrites.append(Replace(call, "$call.numpy()", {"call": call}))
    return Repair(_MESSAGE, tuple(rewrites), Change.BEHAVIOUR, _changes(node.name))


def _is_elsewhere_in_file(site: Site, caller: Site) -> bool:
    return caller.module is site.module and caller.body is not site.body


def _changes(name: str) -> str:
    return (
        f"compiled code runs `{name}` on the host and waits for it; arguments have to be of the "
        "types that it declares"
    )


def _is_plain(site: Site, node: ast.FunctionDef) -> bool:
    """True for a function of the file that runs as it is written, once for each call."""
    spec = node.args
    plain = not (node.decorator_list or spec.vararg or spec.kwarg or spec.posonlyargs)
    return (
        plain
        and node in site.module.tree.body
        and node.name not in meaning_several(site.module)
        and not any(isinstance(part, _DELAYED) for part in nodes(node))
    )


def _parameters(site: Site, node: ast.FunctionDef) -> list[Parameter] | None:
    found: list[Parameter] = []
    for parameter, default in parameters_of(node):
        kind = _kind(site, parameter.annotation)
        fits = default is None or isinstance(default, ast.Constant)
        if kind is None or not fits:
            return None
        if "Tensor" in kind and not _is_only_read(site, parameter.arg):
            return None
        pair = _is_pair(site, parameter.annotation)
        passed = f"tuple({parameter.arg})" if pair else parameter.arg
        text = site.text(default) if default is not None else ""
        found.append(Parameter(parameter.arg, kind, text, passed))
    return found


def _kind(site: Site, annotation: ast.expr | None) -> str | None:
    """How an operator declares a parameter; None for what it cannot take, or is not declared."""
    match annotation:
        case ast.Name(id=name) if name in _NUMBERS:
            return name
        case ast.Subscript(value=outer, slice=inner) if site.dotted(outer) == "typing.Optional":
            kind = _kind(site, inner)
            return f"{site.text(outer)}[{kind}]" if kind else None
        case ast.BinOp(left=inner, op=ast.BitOr(), right=ast.Constant(value=None)):
            kind = _kind(site, inner)
            return f"{kind} | None" if kind else None
        case ast.Subscript() if _is_pair(site, annotation):
            return _list(site)
        case ast.expr() if site.dotted(annotation) in _TENSORS:
            return site.spell("torch.Tensor")
    return None


def _list(site: Site) -> str:
    spelled = site.spell("typing.List")
    return f"{spelled or 'list'}[int]"


def _is_pair(site: Site, annotation: ast.expr | None) -> bool:
    """True for a tuple of integers, which an operator takes as a list."""
    if not isinstance(annotation, ast.Subscript) or site.dotted(annotation.value) not in _PAIRS:
        return False
    inner = annotation.slice
    members = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    plain = [m for m in members if not (isinstance(m, ast.Constant) and m.value is Ellipsis)]
    return bool(plain) and all(isinstance(m, ast.Name) and m.id == "int" for m in plain)


def _is_only_read(site: Site, name: str) -> bool:
    """True for a tensor that the helper does not change, keep or return."""
    asked = (site.parent(load) for load in site.loads(name))
    return (
        is_unshared(site, name)
        and not site.stores(name)
        and all(
            _asks_none(outer) or read_into(site, load) == frozenset() or _is_read_out(site, load)
            for outer, load in zip(asked, site.loads(name), strict=True)
        )
    )


def _is_read_out(site: Site, tensor: ast.expr) -> bool:
    """True for ``tensor.detach().sum(-1).tolist()``, also where no walk has come to it."""
    match site.parent(tensor):
        case ast.Attribute(attr=name) as attribute if name in _READS | _HANDING_ON:
            call = site.parent(attribute)
            called = isinstance(call, ast.Call) and call.func is attribute
            if not called or not isinstance(call, ast.Call):
                return False
            return name in _READS or _is_read_out(site, call)
    return False


def _asks_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))


def _result(site: Site, node: ast.FunctionDef) -> _Result | None:
    """The array that every way through the helper returns, which makes it of sizes it is given."""
    returned = [part for part in own_nodes(node) if isinstance(part, ast.Return)]
    names = {one.value.id if isinstance(one.value, ast.Name) else "" for one in returned}
    if len(names) != 1 or not isinstance(node.body[-1], ast.Return):
        return None
    name = names.pop()
    stores = site.stores(name)
    made = site.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(made, ast.Assign) or made.targets != stores or made not in node.body:
        return None
    if not is_unshared(site, name) or not all(_is_filled(site, one) for one in site.loads(name)):
        return None
    match made.value:
        case ast.Call(args=[shape], keywords=[ast.keyword(arg="dtype", value=kind)]) if (
            site.dotted(made.value.func) in _ARRAYS
        ):
            dtype = _DTYPES.get(site.dotted(kind) or "")
            unpacked = _sizes(site, node, shape)
            if dtype is not None and unpacked is not None:
                return _Result(site.text(shape), unpacked, dtype)
    return None


def _is_filled(site: Site, load: ast.Name) -> bool:
    """True where the array is written into, looked at or returned: its shape stays."""
    match site.parent(load):
        case ast.Return():
            return True
        case ast.Subscript(value=owner):
            return owner is load and _is_statement_or_number(site, load)
        case ast.Attribute(attr=attr) as attribute:
            return attr not in _RESIZING and isinstance(attribute.ctx, ast.Load)
        case ast.Call(func=function) as call:
            writes = (site.dotted(function) or "").startswith("numpy.")
            return writes and isinstance(site.parent(call), ast.Expr)
    return False


def _is_statement_or_number(site: Site, load: ast.Name) -> bool:
    """True for ``array[...] = value``: a part that is read may be kept as a view."""
    subscript = site.parent(load)
    return isinstance(subscript, ast.Subscript) and isinstance(subscript.ctx, ast.Store)


def _sizes(site: Site, node: ast.FunctionDef, shape: ast.expr) -> tuple[ast.Assign, ...] | None:
    """The statements that take the sizes from parameters; None where they come from elsewhere."""
    sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    unpacked: list[ast.Assign] = []
    for size in sizes:
        if isinstance(size, ast.Constant) and type(size.value) is int:
            continue
        if not isinstance(size, ast.Name) or not _is_own_name(site, size.id):
            return None
        stores = site.stores(size.id)
        if is_parameter(site, size.id):
            if stores:
                return None
            continue
        statement = _unpacking(site, node, stores)
        if statement is None:
            return None
        unpacked += [statement] if statement not in unpacked else []
    return tuple(unpacked)


def _is_own_name(site: Site, name: str) -> bool:
    """True for a variable of the helper, which functions inside of it read at most."""
    return not site.body.is_declared(name) and not site.body.defines(name)


def _unpacking(site: Site, node: ast.FunctionDef, stores: list[ast.Name]) -> ast.Assign | None:
    """``batch, length = shape`` at the start of a helper, where ``shape`` is its parameter."""
    targets = site.parent(stores[0]) if len(stores) == 1 else None
    statement = site.parent(targets) if isinstance(targets, ast.Tuple) else None
    if not isinstance(statement, ast.Assign) or statement.targets != [targets]:
        return None
    given = statement.value
    if statement not in node.body or not isinstance(given, ast.Name) or site.stores(given.id):
        return None
    return statement if is_parameter(site, given.id) else None


def _does_more(site: Site, node: ast.FunctionDef) -> bool:
    """True where a call that is left out, or made once for two, would be missed: it draws."""
    inside = {part.name for part in nodes(node) if isinstance(part, ast.FunctionDef)}
    return any(
        isinstance(part, ast.Call) and not _only_computes(site, part.func, inside)
        for part in nodes(node)
    )


def _only_computes(site: Site, function: ast.expr, inside: set[str]) -> bool:
    dotted = site.dotted(function) or ""
    if dotted.startswith("numpy."):
        return not dotted.startswith("numpy.random.")
    method = isinstance(function, ast.Attribute) and function.attr in _METHODS
    return method or dotted in _QUIET or dotted in inside


def _written(
    site: Site, helper: str, parameters: list[Parameter], result: _Result, *, ordered: bool
) -> str:
    torch = (site.spell("torch.Tensor") or "").removesuffix(".Tensor")
    name = f"{helper}_op"
    names = [one.passed for one in parameters]
    named = f'"{registered(site, helper)}"'
    lines = [
        "",
        "",
        *call_of(f"@{torch}.library.custom_op(", [named, "mutates_args=()"], ")"),
        *call_of(f"def {name}(", [one.declared for one in parameters], f") -> {torch}.Tensor:"),
        *indented(call_of(f"array = {helper}(", names, ")")),
        f"    return {torch}.from_numpy(array)",
        "",
        "",
        f"@{name}.register_fake",
        *call_of(f"def {name}_shape(", [one.bare for one in parameters], "):"),
        *indented(site.text(statement) for statement in result.unpacked),
        f"    return {torch}.empty({result.shape}, dtype={torch}.{result.dtype})",
    ]
    if ordered:
        lines += ["", "", f"{name}.register_effect(EffectType.ORDERED)"]
    return "\n".join(lines)
