"""Do the project's own functions, called for their result, do anything else?"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.semantics.values import Function

from ..proofs.purity import PURE

_BUILTINS: Final = frozenset(
    "abs bool dict enumerate float getattr hasattr int isinstance len list max min range reversed "
    "round set sorted str sum tuple type zip".split()
)
_MODULES: Final = ("math.", "torch.")
_MAKES: Final = frozenset(
    "arange as_tensor asarray cat empty eye finfo full full_like iinfo linspace ones ones_like "
    "outer stack tensor zeros zeros_like einsum broadcast_to device dtype Size".split()
)
_METHODS: Final = PURE | frozenset(
    "get items keys values format copy dim size numel startswith".split()
)
_STATEMENTS: Final = (
    ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.If | ast.Expr | ast.Raise
    | ast.Pass | ast.FunctionDef | ast.For | ast.Assert
)  # fmt: skip
_DEEPEST: Final = 4


def only_computes(site: Site, call: ast.Call) -> bool:
    """True when whatever function of the project a call may reach gives a result and nothing else.

    It may raise. Constants of the program are taken to be plain data, as configurations are.
    """
    kinds = [*options(site.value(call.func))]
    return bool(kinds) and all(
        isinstance(kind, Function) and _is_quiet(kind.info, _DEEPEST) for kind in kinds
    )


def _is_quiet(info: FunctionInfo, depth: int) -> bool:
    if depth == 0 or isinstance(info.node, ast.Lambda) or info.decorators:
        return False
    own = {a.arg for a in ast.walk(info.node) if isinstance(a, ast.arg)}
    own |= {n.id for n in ast.walk(info.node) if isinstance(n, ast.Name) and _is_stored(n)}
    return all(_is_plain(info, node, own, depth) for node in _inside(info.node))


def _inside(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The syntax of the body: annotations and what `raise` evaluates do not count."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, ast.FunctionDef):
            pending += node.body
        elif isinstance(node, ast.AnnAssign):
            pending += [node.target, *([node.value] if node.value else [])]
        elif not isinstance(node, ast.Raise):
            pending += ast.iter_child_nodes(node)
    return found


def _is_plain(info: FunctionInfo, node: ast.AST, own: set[str], depth: int) -> bool:
    """True for syntax that changes nothing but local variables."""
    if isinstance(node, ast.Call):
        return _is_quiet_call(info, node, own, depth)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.stmt):
        return isinstance(node, _STATEMENTS)
    return not isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda))


def _is_quiet_call(info: FunctionInfo, call: ast.Call, own: set[str], depth: int) -> bool:
    function = call.func
    if any(keyword.arg in ("out", "inplace") for keyword in call.keywords):
        return False
    if isinstance(function, ast.Name):
        return function.id in _BUILTINS or _is_quiet_name(info, function.id, own, depth)
    if not isinstance(function, ast.Attribute):
        return False
    dotted = _dotted(info.module, function, own)
    if dotted is None:
        return function.attr in _METHODS
    name = dotted.rpartition(".")[2]
    return dotted.startswith("math.") or (dotted.startswith("torch.") and name in PURE | _MAKES)


def _is_quiet_name(info: FunctionInfo, name: str, own: set[str], depth: int) -> bool:
    """True for a nested function, looked at where it stands, or a quiet one of the file."""
    nested = {n.name for n in ast.walk(info.node) if isinstance(n, ast.FunctionDef)}
    if name in own:
        return False
    if name in nested:
        return True
    known = info.module.functions.get(name)
    return known is not None and _is_quiet(known, depth - 1)


def _dotted(module: ModuleInfo, node: ast.expr, own: set[str]) -> str | None:
    """The dotted name of an imported function; None for methods of values."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in own or node.id not in module.imports:
        return None
    return ".".join([module.imports[node.id], *reversed(parts)])


def _is_stored(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)
