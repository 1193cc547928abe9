"""A helper of tensors that Dynamo cannot trace, as a custom operator: compiled code calls it whole.

The helper may do nothing but compute: it writes only what it has made, and draws no numbers. Its
results have to be tensors that it makes of sizes which its arguments tell, to fill them. The
backward pass runs it again for its gradients. Eager code stays as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, cast

from tclint.diagnostics import Change
from tclint.lint.rewrite import Insert, Repair
from tclint.records import record
from tclint.semantics.bounds import Bound
from tclint.semantics.callees import callees
from tclint.semantics.collect import meaning_several
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_fresh, is_local, is_unshared, read_into
from tclint.semantics.site import Site
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import nodes, own_nodes
from tclint.semantics.values import Static, Tensor
from tclint.torch_facts.memory import (
    ALLOCATING_FUNCTIONS,
    ALLOCATING_METHODS,
    READING_METHODS,
    VIEW_METHODS,
    WRITING_NOTHING,
)

from ..facts.known import is_parameter
from .written_operator import Operator, Parameter, can_be_written, registered, switch, written

_MESSAGE: Final = "Call the helper as a custom operator"
_LIKE: Final = frozenset(f"torch.{name}_like" for name in ("empty", "full", "ones", "zeros"))
_MADE: Final = frozenset(f"torch.{name}" for name in ("empty", "full", "ones", "zeros"))
_NEW: Final = frozenset({"new_empty", "new_full", "new_ones", "new_zeros"})
_DESCRIBED: Final = frozenset({"device", "dtype", "ndim", "shape"})
_ASKED: Final = frozenset({"dim", "numel", "size"})
_SIZED: Final = frozenset({"int", "len", "max", "min"})
_NUMBERS: Final = ("bool", "float", "int", "str")
_SYNTAX: Final = (
    ast.Attribute, ast.BinOp, ast.Call, ast.Constant, ast.Name, ast.Starred, ast.Subscript,
    ast.Tuple, ast.List, ast.UnaryOp, ast.keyword, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip
_EXACT: Final = ("bool", "int")
CALLERS: Final = Bound(4, "calls up to what can be an operator", hides=False)
_DRAWING: Final = ("bernoulli", "multinomial", "normal", "poisson", "rand")
_FUNCTIONS: Final = frozenset(
    [
        *(ALLOCATING_FUNCTIONS | WRITING_NOTHING),
        *(f"torch.{name}" for name in ("Size", "finfo", "iinfo", "is_tensor", "numel")),
        *(f"torch.nn.functional.{n}" for n in ("interpolate", "max_pool1d", "max_pool2d")),
        "torch.compiler.is_compiling",
        *(f"numpy.{name}" for name in ("ceil", "exp", "floor", "log", "prod", "sqrt")),
    ]
)
_FILLING: Final = frozenset(
    "add clamp copy div fill index_add index_copy index_fill index_put masked_fill masked_scatter "
    "mul scatter scatter_add sub zero".split()
)
_METHODS: Final = ALLOCATING_METHODS | READING_METHODS | VIEW_METHODS | {f"{n}_" for n in _FILLING}
_BUILTINS: Final = frozenset(
    "abs all any bool enumerate float int isinstance len list max min range reversed round sorted "
    "sum tuple zip".split()
)
_REFUSED: Final = (
    ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.Await, ast.ClassDef, ast.FunctionDef,
    ast.Global, ast.Import, ast.ImportFrom, ast.Lambda, ast.Nonlocal, ast.Try, ast.While, ast.With,
    ast.Yield, ast.YieldFrom,
)  # fmt: skip
_PLAIN: Final = (*("NoneType", "bool", "float", "int", "str"), None)


@record(frozen=True)
class _Result:
    """A tensor that the helper makes: as it is written, and the statements that its sizes need."""

    made: ast.expr
    sizes: tuple[ast.stmt, ...]
    exact: bool


def tensor_operator(site: Site) -> Repair | None:
    """Register this function, or the nearest that calls it alone, as an operator."""
    for _ in range(CALLERS.most):
        repair = _of_function(site)
        callers = {caller.body: caller for caller, _ in site.body.calls.values()}
        if repair is not None or len(callers) != 1:
            return repair
        caller = next(iter(callers.values()))
        if caller.module is not site.module:
            return None
        site = caller
    CALLERS.cut()
    return None


def _of_function(site: Site) -> Repair | None:
    key, answers = (_of_function,), site.body.answers
    if key not in answers:
        answers[key] = None
        answers[key] = _repair(site)
    return cast("Repair | None", answers[key])


def _repair(site: Site) -> Repair | None:
    node = site.body.scope
    if not isinstance(node, ast.FunctionDef) or not _is_called_as_written(site, node):
        return None
    torch = (site.spell("torch.Tensor") or "").removesuffix(".Tensor")
    parameters = _parameters(site, node, torch)
    if not torch or parameters is None or not _only_computes_itself(site):
        return None
    tensors = [one.name for one in parameters if one.kind == f"{torch}.Tensor"]
    if not tensors or not all(_keeps_arguments(site, name) for name in tensors):
        return None
    results = _results(site, node)
    if results is None or len({one.exact for one in results}) > 1:
        return None
    inexact = () if results[0].exact else tuple(n for n in tensors if not _is_exact(site, n))
    sizes = dict.fromkeys(statement for one in results for statement in one.sizes)
    operator = Operator(
        node.name,
        tuple(parameters),
        inexact,
        tuple(site.text(one.made) for one in results),
        tuple(map(site.text, sorted(sizes, key=lambda one: one.lineno))),
        torch,
        registered(site, node.name),
    )
    return _written(operator, node) if can_be_written(site, operator) else None


def _written(operator: Operator, node: ast.FunctionDef) -> Repair:
    first = node.body[1] if ast.get_docstring(node, clean=False) is not None else node.body[0]
    rewrites = (
        Insert(first, switch(operator)),
        Insert(node, f"\n\n{written(operator)}", after=True),
    )
    return Repair(_MESSAGE, rewrites, Change.BEHAVIOUR, _changes(operator))


def _changes(operator: Operator) -> str:
    types = "arguments have to be of the types that it declares"
    if not operator.differentiable:
        return f"compiled code runs `{operator.helper}` on its own, without autocast; {types}"
    return (
        f"compiled code runs `{operator.helper}` on its own, without autocast, and again for its "
        f"gradients, which have no derivatives; {types}"
    )


def _is_called_as_written(site: Site, node: ast.FunctionDef) -> bool:
    """True for a function of the file that compiled code calls, and no decorator changes."""
    spec = node.args
    plain = not (node.decorator_list or spec.vararg or spec.kwarg or spec.posonlyargs)
    return (
        plain
        and len(node.body) > 1
        and bool(site.body.calls)
        and node in site.module.tree.body
        and node.name not in meaning_several(site.module)
    )


def _parameters(site: Site, node: ast.FunctionDef, torch: str) -> list[Parameter] | None:
    found: list[Parameter] = []
    for parameter, default in parameters_of(node):
        name = parameter.arg
        kind = _kind(site, parameter, default)
        if kind is None or (kind == "Tensor" and default is not None):
            return None
        spelled = f"{torch}.Tensor" if kind == "Tensor" else kind
        passed = f"{name}={name}" if parameter in node.args.kwonlyargs else name
        found.append(Parameter(name, spelled, "", passed))
    return found


def _kind(site: Site, parameter: ast.arg, default: ast.expr | None) -> str | None:
    """`Tensor`, or the type of a plain number; None for what an operator cannot take."""
    match parameter.annotation:
        case ast.Name(id=name) if name in _NUMBERS:
            return name
        case ast.expr() as annotation:
            declared = site.dotted(annotation) in ("torch.Tensor", "torch.FloatTensor")
            return "Tensor" if declared else None
    if isinstance(default, ast.Constant):
        name = type(default.value).__name__
        return name if name in _NUMBERS else None
    return None if default is not None else _seen_kind(site, parameter.arg)


def _seen_kind(site: Site, name: str) -> str | None:
    """What every call passes for a parameter that says nothing of itself."""
    kinds = {_kind_of(one) for at, given in site.given(name) for one in options(at.value(given))}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of(value: object) -> str | None:
    if isinstance(value, Tensor):
        return "Tensor"
    return value.type if isinstance(value, Static) and value.type in _NUMBERS else None


def _is_exact(site: Site, name: str) -> bool:
    """True for integers and booleans, which have no gradient: nothing else selects."""
    given = [one for at, given in site.given(name) for one in options(at.value(given))]
    known = bool(given) and all(_has_exact_dtype(one) for one in given)
    read = [] if site.stores(name) else site.loads(name)
    return known or any(_selects(site, load) for load in read)


def _selects(site: Site, load: ast.Name) -> bool:
    """True for ``x[mask]``, ``~mask`` and ``torch.where(mask, x, y)``."""
    match site.parent(load):
        case ast.Subscript(slice=index):
            return index is load
        case ast.UnaryOp(op=ast.Invert()):
            return True
        case ast.Call(func=function, args=[first, _, _]):
            return first is load and site.dotted(function) == "torch.where"
    return False


def _has_exact_dtype(value: object) -> bool:
    dtype = value.dtype if isinstance(value, Tensor) else None
    return dtype is not None and dtype.category in _EXACT


def _results(site: Site, node: ast.FunctionDef) -> list[_Result] | None:
    """The tensors that every `return` gives, each made once, at the start."""
    returned = [part.value for part in own_nodes(node) if isinstance(part, ast.Return)]
    listed = {tuple(_names(value)) for value in returned}
    if len(listed) != 1 or not isinstance(node.body[-1], ast.Return):
        return None
    names = listed.pop()
    if not all(names) or len({*names}) < len(names):
        return None
    found = [_result(site, node, name) for name in names]
    return None if None in found else [one for one in found if one is not None]


def _names(value: ast.expr | None) -> Iterator[str]:
    for member in value.elts if isinstance(value, ast.Tuple) else [value]:
        yield member.id if isinstance(member, ast.Name) else ""


def _result(site: Site, node: ast.FunctionDef, name: str) -> _Result | None:
    stores = [one for one in site.stores(name) if not _is_updated(site, one)]
    made = site.parent(stores[0]) if len(stores) == 1 and is_local(site, name) else None
    if not isinstance(made, ast.Assign) or made.targets != stores or made not in node.body:
        return None
    sizes = _sizes(site, node.body, made.value) if _is_made(site, made.value) else None
    if sizes is None:
        return None
    kinds = [*options(site.value(made.value))]
    return _Result(made.value, tuple(sizes), all(map(_has_exact_dtype, kinds)))


def _is_updated(site: Site, store: ast.Name) -> bool:
    """True for ``x += y``, which keeps the tensor, its shape and its dtype."""
    return isinstance(site.parent(store), ast.AugAssign)


def _is_made(site: Site, value: ast.expr) -> bool:
    """True for ``torch.zeros_like(x)``, ``torch.full(sizes, 0)`` and ``x.new_zeros(sizes)``."""
    if not isinstance(value, ast.Call):
        return False
    named = {keyword.arg for keyword in value.keywords}
    if named & {None, "out", "requires_grad"} or any(
        isinstance(one, ast.Starred) for one in value.args
    ):
        return False
    dotted = site.dotted(value.func) or ""
    method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
    return dotted in _LIKE | _MADE or (not dotted.startswith("torch.") and method in _NEW)


def _sizes(site: Site, body: list[ast.stmt], made: ast.expr) -> list[ast.stmt] | None:
    """The statements before that say the sizes; None where they are not said by the arguments."""
    found: list[ast.stmt] = []
    pending: list[ast.expr] = [made]
    while pending:
        value = pending.pop()
        for part in ast.walk(value):
            if part is not made and not _says_size(part):
                return None
            if not isinstance(part, ast.Name) or _is_library(site, part):
                continue
            statement = _binding(site, body, part, value)
            if statement is False:
                return None
            if isinstance(statement, ast.Assign) and statement not in found:
                found.append(statement)
                pending.append(statement.value)
    return found


def _is_library(site: Site, name: ast.Name) -> bool:
    module = site.module
    return (
        not site.stores(name.id)
        and not is_parameter(site, name.id)
        and (name.id in module.imports or (name.id in _SIZED and site.dotted(name) == name.id))
    )


def _says_size(part: ast.AST) -> bool:
    """True for syntax that computes with sizes: ``x.size(0) // 2``, ``len(x)``, ``min(n, 3)``."""
    match part:
        case ast.Call(func=ast.Attribute(attr=name), keywords=[]):
            return name in _ASKED
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name in _SIZED
    return isinstance(part, _SYNTAX) and not isinstance(part, ast.Call)


def _binding(
    site: Site, body: list[ast.stmt], name: ast.Name, value: ast.expr
) -> ast.Assign | bool:
    """What gave a variable its size; True for a parameter, False where that is not plain."""
    before = [one for one in site.stores(name.id) if one.lineno <= value.lineno]
    if is_parameter(site, name.id):
        return not before and _is_described(site, name)
    stores = site.stores(name.id)
    targets = site.parent(stores[0]) if len(stores) == 1 == len(before) else None
    statement = site.parent(targets) if isinstance(targets, ast.Tuple) else targets
    plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return statement if plain and isinstance(statement, ast.Assign) and statement in body else False


def _is_described(site: Site, name: ast.Name) -> bool:
    """True for a number, and for a tensor of which only the shape and the type are read."""
    if not any(isinstance(kind, Tensor) for kind in options(site.value(name))):
        return True
    match site.parent(name):
        case ast.Attribute(attr=attr):
            return attr in _DESCRIBED | _ASKED | _NEW
        case ast.Call(func=function, args=[first, *_]) if first is name:
            return site.dotted(function) in {"len", *_LIKE}
    return False


def _only_computes_itself(site: Site) -> bool:
    """True for a function of the file that gives its result, and does nothing else."""
    key, answers = (_only_computes_itself,), site.body.answers
    if key not in answers:
        answers[key] = False  # for one that calls itself
        answers[key] = all(_is_quiet(site, node) for node in _inside(site))
    return bool(answers[key])


def _inside(site: Site) -> Iterator[ast.AST]:
    scope = site.body.scope
    return (node for node in nodes(scope) if node is not scope)


def _is_quiet(site: Site, node: ast.AST) -> bool:
    match node:
        case ast.Call():
            return _is_quiet_call(site, node)
        case ast.Attribute(ctx=ast.Load()):
            return True
        case ast.Attribute():
            return False
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return _is_own(site, node)
        case ast.Name(ctx=ast.Load()):
            return _is_known(site, node)
    return not isinstance(node, _REFUSED)


def _is_own(site: Site, target: ast.expr) -> bool:
    """True for a part of what a variable of the function holds."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return isinstance(target, ast.Name) and _is_variable(site, target)


def _is_variable(site: Site, name: ast.Name) -> bool:
    return bool(site.stores(name.id)) or is_parameter(site, name.id)


def _is_known(site: Site, name: ast.Name) -> bool:
    """True for a variable of the function, and for what no other function changes."""
    module = site.module
    if _is_variable(site, name) or name.id in {*module.functions, *module.imports}:
        return True
    if site.dotted(name) == name.id and name.id not in module.assigned | module.classes:
        return True
    kinds = [*options(site.value(name))]
    return all(isinstance(kind, Static) and kind.type in _PLAIN[:-1] for kind in kinds)


def _is_quiet_call(site: Site, call: ast.Call) -> bool:
    if any(keyword.arg in (None, "out", "inplace", "key") for keyword in call.keywords):
        return False
    dotted = site.dotted(call.func) or ""
    if _draws(dotted.rpartition(".")[2]):
        return False
    if dotted in _FUNCTIONS or dotted.startswith("math.") or dotted in _BUILTINS:
        return True
    if isinstance(site.parent(call), ast.Raise):
        return dotted.endswith("Error") and "." not in dotted
    method = call.func
    if isinstance(method, ast.Attribute) and _is_tensor(site, method.value):
        return method.attr in _METHODS and not _draws(method.attr)
    reached = callees(site, call)
    return bool(reached) and all(
        not one.open and _only_computes_itself(one.site) for one in reached
    )


def _draws(name: str) -> bool:
    return any(name.startswith(start) for start in _DRAWING)


def _is_tensor(site: Site, node: ast.expr) -> bool:
    return all(isinstance(kind, Tensor) for kind in options(site.value(node)))


def _keeps_arguments(site: Site, name: str) -> bool:
    """True for a parameter whose tensor is neither written nor returned, under any name.

    What is bound anew for good, to a tensor of its own, may be written from there on.
    """
    pending, seen = [name], {name}
    while pending:
        variable = pending.pop()
        if not is_unshared(site, variable):
            return False
        for occurrence in _until_bound_anew(site, variable):
            shared = read_into(site, occurrence) if _is_read(occurrence) else frozenset()
            updated = isinstance(site.parent(occurrence), ast.AugAssign) and not _is_read(
                occurrence
            )
            if shared is None or updated or "return" in shared:
                return False
            pending += shared - seen
            seen |= shared
    return True


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _until_bound_anew(site: Site, name: str) -> list[ast.Name]:
    """The occurrences up to a statement of the function itself that makes a new tensor."""
    found = site.body.names(name)
    scope = site.body.scope
    for statement in scope.body if isinstance(scope, ast.FunctionDef) else []:
        match statement:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if (
                bound == name and is_fresh(site, value)
            ):
                end = statement.end_lineno or statement.lineno
                return [one for one in found if one.lineno <= end]
    return found
