"""Do the project's own functions, called for their result, do anything else?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import FunctionInfo, parameters_of
from tclint.semantics.values import Function
from tclint.torch_facts.memory import ALLOCATING_FUNCTIONS, ALLOCATING_METHODS

from .purity import PURE, is_pure

_NEW: Final = frozenset("bool dict enumerate float int len list range set sorted str zip".split())
_BUILTINS: Final = _NEW | frozenset(
    "abs getattr hasattr isinstance max min reversed round sum tuple type".split()
)
_CONSUMING: Final = frozenset(
    "dict enumerate list max min reversed set sorted sum tuple zip".split()
)
_SIZES: Final = frozenset("dim numel size".split())
_TENSORS: Final = (PURE - _SIZES) | frozenset(
    "arange as_tensor asarray cat empty eye full full_like linspace ones ones_like outer stack "
    "tensor zeros zeros_like einsum broadcast_to".split()
)
_OF_TORCH: Final = _TENSORS | _SIZES | {"finfo", "iinfo", "device", "dtype", "Size"}
_OF_DATA: Final = _SIZES | frozenset("items keys values format copy startswith".split())
_STATEMENTS: Final = (
    ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.If | ast.Expr | ast.Raise
    | ast.Pass | ast.FunctionDef | ast.For | ast.Assert
)  # fmt: skip
_DISPLAYS: Final = (
    ast.Constant, ast.JoinedStr, ast.BinOp, ast.Compare, ast.List, ast.Dict, ast.Set, ast.ListComp,
    ast.DictComp, ast.SetComp, ast.GeneratorExp,
)  # fmt: skip
_DEEPEST: Final = 4
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_UNKNOWN: Final = -1
"""No part of a tuple that is written out."""
_Node = ast.FunctionDef | ast.AsyncFunctionDef
_Binding = tuple[ast.expr, int | None] | None
_Key = tuple[_Node | None, str, int | None]


def only_computes(site: Site, call: ast.Call) -> bool:
    """True when whatever function of the project a call may reach gives a result and nothing else.

    It may raise. Attributes are taken to be plain data, as those of configurations are.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    kinds = [*options(site.value(call.func))]
    return (
        bool(kinds)
        and all(is_pure(site, value) for value in given)
        and all(isinstance(k, Function) and _is_quiet(k.info, _DEEPEST) for k in kinds)
    )


def _is_quiet(info: FunctionInfo, depth: int) -> bool:
    scope = _scope_of(info, depth)
    return scope is not None and _runs_quietly(scope)


def _runs_quietly(scope: _Scope) -> bool:
    """True where running a function changes nothing but what it has made itself."""
    return all(_is_plain(one, node) for one in scope.reach for node in one.nodes)


def _scope_of(info: FunctionInfo, depth: int) -> _Scope | None:
    if depth == 0 or isinstance(info.node, ast.Lambda) or info.decorators:
        return None
    return _Scope(info, info.node, None, depth)


@record(frozen=True)
class _Source:
    """An expression that gives a value, in the function that evaluates it; or a ``part`` of it."""

    node: ast.expr
    scope: _Scope
    part: int | None = None


class _Scope:
    """A function, what its variables are bound to, and the functions in it."""

    def __init__(self, info: FunctionInfo, node: _Node, outer: _Scope | None, depth: int) -> None:
        self.info: Final = info
        self.node: Final = node
        self.outer: Final = outer
        self.depth: Final = depth
        self.nodes: Final = [*_evaluated(node)]
        self.bound: Final = _bindings(self.nodes)
        self.parameters: Final = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        nested = [_Scope(info, n, self, depth) for n in self.nodes if isinstance(n, _FUNCTIONS)]
        self.inner: Final = {one.node.name: one for one in nested}
        self.reach: Final[list[_Scope]] = [self, *(deep for one in nested for deep in one.reach)]

    def home(self, name: str) -> _Scope | None:
        """The function whose variable a name is; None for names of the file and builtins."""
        scope: _Scope | None = self
        while scope is not None and not scope._has(name):
            scope = scope.outer
        return scope

    def _has(self, name: str) -> bool:
        return name in self.parameters or name in self.bound or name in self.inner

    def function(self, name: str) -> _Scope | None:
        """The function of the project that is called by a name, where only one can be."""
        home, module = self.home(name), self.info.module
        if home is not None:
            defined = [n for n in home.nodes if isinstance(n, _FUNCTIONS) and n.name == name]
            only = len(defined) == 1 and name not in home.parameters and name not in home.bound
            return home.inner[name] if only else None
        known = module.functions.get(name) if name not in module.assigned else None
        return _scope_of(known, self.depth - 1) if known is not None else None

    def is_builtin(self, name: str) -> bool:
        """True for a builtin that only computes, which nothing of the file hides."""
        module = self.info.module
        named = (module.functions, module.classes, module.assigned, module.imports)
        hidden = self.home(name) is not None or any(name in names for names in named)
        return name in _BUILTINS and not hidden

    def dotted(self, node: ast.expr) -> str | None:
        """The dotted name of an imported function; None for methods of values."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        imports = self.info.module.imports
        if not isinstance(node, ast.Name) or self.home(node.id) or node.id not in imports:
            return None
        return ".".join([imports[node.id], *reversed(parts)])

    def given(self, name: str) -> Iterator[_Source | None]:
        """What a parameter is given by the calls in the function around this one."""
        root = self
        while root.outer is not None:
            root = root.outer
        for scope in root.reach:
            calls = {n.func: n for n in scope.nodes if isinstance(n, ast.Call)}
            for node in scope.nodes:
                if isinstance(node, ast.Name) and node.id == self.node.name:
                    call = calls.get(node)
                    yield self._argument(call, scope, name) if call is not None else None
        if root is self:
            yield None

    def _argument(self, call: ast.Call, scope: _Scope, name: str) -> _Source | None:
        by_name = {keyword.arg: keyword.value for keyword in call.keywords}
        spec = self.node.args
        names = [one.arg for one in (*spec.posonlyargs, *spec.args)]
        starred = any(isinstance(value, ast.Starred) for value in call.args)
        if starred or None in by_name or self.outer is None:
            return None
        if name in by_name:
            return _Source(by_name[name], scope)
        if name in names and names.index(name) < len(call.args):
            return _Source(call.args[names.index(name)], scope)
        defaults = {argument.arg: default for argument, default in parameters_of(self.node)}
        default = defaults.get(name)
        return _Source(default, self.outer) if default is not None else None


def _evaluated(function: _Node) -> Iterator[ast.AST]:
    """The syntax of the body: annotations and what `raise` evaluates do not count.

    Of functions in it only the defaults do, and the function itself.
    """
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, _FUNCTIONS):
            pending += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.AnnAssign):
            pending += [node.target, *([node.value] if node.value else [])]
        elif not isinstance(node, ast.Raise):
            pending += ast.iter_child_nodes(node)


def _bindings(nodes: Iterable[ast.AST]) -> dict[str, list[_Binding]]:
    """What each variable gets; None for what is not followed, as in loops."""
    found: dict[str, list[_Binding]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for name, part in _targets(target):
                        found.setdefault(name.id, []).append((value, part))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append((value, None))
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                found.setdefault(name, []).append((value, None))
            case ast.For(target=target) | ast.comprehension(target=target):
                for variable in ast.walk(target):
                    if isinstance(variable, ast.Name):
                        found.setdefault(variable.id, []).append(None)
    return found


def _targets(target: ast.expr) -> Iterator[tuple[ast.Name, int | None]]:
    """The variables of an assignment, each with the part of the value that it gets."""
    if isinstance(target, ast.Name):
        yield target, None
    elif isinstance(target, (ast.Tuple, ast.List)):
        starred = any(isinstance(part, ast.Starred) for part in target.elts)
        for place, part in enumerate(target.elts):
            for name in ast.walk(part):
                if isinstance(name, ast.Name):
                    yield name, place if name is part and not starred else _UNKNOWN


def _sources(source: _Source, seen: frozenset[_Key] = frozenset()) -> Iterator[_Source | None]:
    """The expressions that gave a value, through variables, choices and calls; None if unknown."""
    node, scope, part = source.node, source.scope, source.part
    further: list[_Source | None] = [source if part is None else None]
    match node:
        case ast.Name(id=name):
            home = scope.home(name)
            key = (home.node if home else None, name, part)
            if key in seen:
                return  # what a loop makes of a variable starts with its other bindings
            seen |= {key}
            further = _given(home, name, part) if home is not None else [None]
        case ast.IfExp(body=one, orelse=other):
            further = [_Source(one, scope, part), _Source(other, scope, part)]
        case ast.BoolOp(values=values):
            further = [_Source(value, scope, part) for value in values]
        case ast.NamedExpr(value=value):
            further = [_Source(value, scope, part)]
        case ast.Tuple(elts=elements) if part is not None:
            plain = part in range(len(elements)) and not any(map(_is_starred, elements))
            further = [_Source(elements[part], scope) if plain else None]
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, _, *_] as values) if (
            scope.is_builtin(name) and part is None
        ):
            further = [None if _is_starred(v) else _Source(v, scope) for v in values]
        case ast.Call(func=ast.Name(id=name)) if (callee := scope.function(name)) is not None:
            key = (callee.node, "", part)
            if key in seen:
                return
            seen |= {key}
            results = [n.value for n in callee.nodes if isinstance(n, ast.Return)]
            further = [_Source(value, callee, part) for value in results if value is not None]
    for given in further:
        if given is None or given is source:
            yield given
        else:
            yield from _sources(given, seen)


def _given(home: _Scope, name: str, part: int | None) -> list[_Source | None]:
    """What a variable gets: a part of it, too, where only assignments give whole values."""
    found: list[_Source | None] = []
    for binding in home.bound.get(name, ()):
        whole = binding is not None and (part is None or binding[1] is None)
        inner = binding[1] if binding is not None and part is None else part
        found.append(_Source(binding[0], home, inner) if whole and binding is not None else None)
    if name in home.parameters:
        given = list(home.given(name))
        found += [None if g is None else _Source(g.node, g.scope, part) for g in given]
    return [*found, None] if name in home.inner else found


def _is_plain(scope: _Scope, node: ast.AST) -> bool:
    """True for syntax that changes nothing but what the function has made itself."""
    match node:
        case ast.Call():
            return _is_quiet_call(scope, node)
        case ast.Attribute() | ast.Subscript():
            return isinstance(node.ctx, ast.Load)
        case ast.AugAssign(target=target):
            return isinstance(target, ast.Name) and _is_new(scope, target)
        case ast.FunctionDef():
            return not node.decorator_list
        case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.Lambda():
            return False
        case ast.stmt() if not isinstance(node, _STATEMENTS):
            return False
    return all(_is_repeatable(scope, read) for read in _gone_through(node))


def _gone_through(node: ast.AST) -> list[ast.expr]:
    """What a piece of syntax goes through: an iterator would have moved on."""
    match node:
        case ast.For(iter=read) | ast.comprehension(iter=read):
            return [read]
        case ast.Starred(value=read, ctx=ast.Load()):
            return [read]
        case ast.Assign(targets=targets, value=read):
            return [read] if any(isinstance(t, (ast.Tuple, ast.List)) for t in targets) else []
        case ast.Compare(ops=ops, comparators=sides):
            looked = zip(ops, sides, strict=True)
            return [side for op, side in looked if isinstance(op, (ast.In, ast.NotIn))]
    return []


def _is_quiet_call(scope: _Scope, call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        if scope.is_builtin(function.id):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            consumed = given if function.id in _CONSUMING and not _compares(call) else []
            calls_back = any(keyword.arg in (None, "key") for keyword in call.keywords)
            return not calls_back and all(_is_repeatable(scope, value) for value in consumed)
        called = scope.function(function.id)
        if called is None:
            return False
        return called.info is scope.info or _runs_quietly(
            called
        )  # the function's own are looked at
    if not isinstance(function, ast.Attribute):
        return False
    names = {keyword.arg for keyword in call.keywords}
    dotted = scope.dotted(function)
    if dotted is not None and not names & {None, "out", "inplace"}:
        return dotted.startswith("math.") or _of_torch(dotted) in _OF_TORCH
    return dotted is None and _is_quiet_method(scope, call, function)


def _compares(call: ast.Call) -> bool:
    """True for ``max(a, b)``, which goes through none of them."""
    return isinstance(call.func, ast.Name) and call.func.id in ("max", "min") and len(call.args) > 1


def _is_quiet_method(scope: _Scope, call: ast.Call, function: ast.Attribute) -> bool:
    """True for methods that tensors, texts and dicts have, and that leave them as they are.

    Those of tensors may be something else elsewhere: a set adds, a module moves itself.
    """
    owner, name = function.value, function.attr
    if _is_tensor(scope, owner):
        return name in PURE
    if name == "get":
        asked = [isinstance(a, ast.Constant) and isinstance(a.value, str) for a in call.args[:1]]
        return asked == [True] and _is_data(scope, owner)
    return name in _OF_DATA and _is_data(scope, owner)


def _is_data(scope: _Scope, owner: ast.expr) -> bool:
    """True for what is written out, and for parameters, their attributes and elements."""
    root = owner
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        return isinstance(root, (ast.Constant, ast.JoinedStr, ast.Dict))
    if scope.home(root.id) is None:
        return isinstance(scope.info.module.assigned.get(root.id), (ast.Dict, ast.Constant))
    is_self = scope.info.cls is not None and root.id == "self"
    return root is not owner or not is_self


def _is_new(scope: _Scope, node: ast.expr) -> bool:
    """True for what the function itself has made, so that nobody else sees it change."""
    found = _sources(_Source(node, scope))
    return all(one is not None and _makes(one.scope, one.node) for one in found)


def _makes(scope: _Scope, node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=op):
            return not isinstance(op, ast.UAdd)
        case ast.Call(func=ast.Name(id=name)):
            return scope.is_builtin(name) and name in _NEW
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as function):
            dotted = scope.dotted(function)
            if dotted is None:
                return name in ALLOCATING_METHODS and _is_tensor(scope, owner)
            return dotted.startswith("math.") or dotted in ALLOCATING_FUNCTIONS
    return isinstance(node, _DISPLAYS)


def _is_repeatable(scope: _Scope, node: ast.expr) -> bool:
    """True for what may be gone through again, and for what the function has made itself."""
    found = _sources(_Source(node, scope))
    return all(
        one is not None and (_makes(one.scope, one.node) or _holds(one.scope, one.node))
        for one in found
    )


def _holds(scope: _Scope, node: ast.expr) -> bool:
    """True for plain data, for tensors, and for what builtins make of such."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return scope.is_builtin(name) and name != "getattr"
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("items", "keys", "values") or _is_tensor(scope, node)
    return isinstance(node, (ast.Attribute, ast.Subscript, ast.Tuple, ast.UnaryOp))


def _is_tensor(scope: _Scope, node: ast.expr) -> bool:
    found = [*_sources(_Source(node, scope))]
    return bool(found) and all(one is not None and _gives(one.scope, one.node) for one in found)


def _gives(scope: _Scope, node: ast.expr) -> bool:
    """True for an expression that gives a tensor and nothing else."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_tensor(scope, left) or _is_tensor(scope, right)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=inner):
            return _is_tensor(scope, inner)
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
            return _is_tensor(scope, left) or _is_tensor(scope, node.comparators[0])
        case ast.Subscript(value=inner):
            return _is_tensor(scope, inner)
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as function):
            dotted = scope.dotted(function)
            if dotted is None:
                return name in PURE - _SIZES and _is_tensor(scope, owner)
            return _of_torch(dotted) in _TENSORS
    return False


def _of_torch(dotted: str) -> str:
    """What stands behind ``torch.``; nothing for names of others."""
    return dotted.removeprefix("torch.") if dotted.startswith("torch.") else ""


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)
