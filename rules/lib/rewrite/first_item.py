"""The number that a tensor holds in the first call: compiled code is made for it, and asks for it.

Eager code reads the number of each call. Compiled code keeps that of the call that it was compiled
in, and raises where it is another: nothing is computed with a number that does not hold.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from tclint.diagnostics import Applicability
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.semantics.events import HostRead, TensorBranch
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor

from ..judge.arguments import certain_tensor

_ASKED: Final = ("if", "ternary", "not", "and", "or")
_SIZES: Final = ("number", "range", "repeat", "slice")
_NUMBERS: Final = ("item", "int", "float", "bool")
_SIGNS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_EXACT: Final = 256
"""Every dtype but those of one byte holds all integers up to this one."""
_NUMBER: Final = "first_item"
_MESSAGE: Final = "Compile for the number of the first call, and raise where it is another"
_CHANGES: Final = (
    "compiled code is for the number that it was compiled with, and raises for another one, or for "
    "NaN; the call that compiles computes what the number depends on twice, writes included"
)
_HELPERS: Final = '''\
@{torch}.compiler.assume_constant_result
def _item_when_compiled(number):
    return number.item()


def first_item(number):
    """Return `number.item()`; compiled code keeps the first one, and raises where it is another."""
    if not {torch}.compiler.is_compiling():
        return number.item()
    item = _item_when_compiled(number)
    {torch}._assert_async(number == item, "this code was compiled for another number")
    return item
'''
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Parts = dict[str, ast.expr | ast.stmt]


def first_item(event: HostRead, member: ast.expr | None = None) -> Repair | None:
    """Compile for the number that is read; None for others, and where no tensor is named.

    ``member`` is the tensor among the sizes that are given.
    """
    site, node, source = event.site, event.node, member or event.source
    if event.via in _SIZES:
        return _kept(site, source, source)
    if event.via not in _NUMBERS or not isinstance(node, ast.Call) or source is node.func:
        return None
    compared = _compared(site, node, event.tensor) if event.via == "item" else None
    if compared is not None:
        return _kept(site, source, *compared)
    if not _is_whole(event.tensor):
        return None
    return _kept(site, source, node if event.via == "item" else source)


def first_truth(event: TensorBranch) -> Repair | None:
    """Compile for the truth that a branch asks for; None where its value is used, too."""
    asked = event.kind in _ASKED and _is_only_asked(event.site, event.test)
    return _kept(event.site, event.test, event.test) if asked else None


def _is_only_asked(site: Site, test: ast.expr) -> bool:
    """True where nothing but the truth of an expression is used."""
    inner: ast.AST = test
    for outer in site.ancestors(test):
        if isinstance(outer, (ast.If, ast.IfExp, ast.While)):
            return outer.test is inner
        if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not):
            return True
        if not isinstance(outer, ast.BoolOp):
            return False
        inner = outer
    return False


def _is_whole(tensor: Tensor) -> bool:
    """True for integers and truths: the last bits of floats may be others in compiled code."""
    return tensor.dtype is not None and tensor.dtype.category in ("bool", "int")


def _compared(site: Site, call: ast.Call, tensor: Tensor) -> tuple[ast.expr, str, _Parts] | None:
    """``x.item() > 0`` asks for a truth; None where ``x > 0`` may round the other side."""
    match call, site.parent(call):
        case (
            ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]),
            ast.Compare(left=left, ops=[op], comparators=[right]) as outer,
        ) if left is call and type(op) in _SIGNS and _is_exact(site, tensor, right):
            return outer, f"$number {_SIGNS[type(op)]} $other", {"number": owner, "other": right}
    return None


def _is_exact(site: Site, tensor: Tensor, number: ast.expr) -> bool:
    """True where the tensor's dtype holds a number of Python as it is."""
    match number:
        case ast.Constant(value=int(value)):
            return value <= _EXACT
    whole = tensor.dtype is not None and tensor.dtype.category == "int"
    return whole and all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type == "int")
        for kind in options(site.value(number))
    )


def _kept(
    site: Site,
    source: ast.expr,
    replaced: ast.expr,
    asked: str = "$number",
    parts: _Parts | None = None,
) -> Repair | None:
    """Write ``asked`` into a call of the helper; None where ``source`` may be no tensor."""
    helpers = _helpers(site) if certain_tensor(site, source) is not None else None
    if helpers is None:
        return None
    call = Replace(replaced, f"{_NUMBER}({asked})", parts or {"number": source})
    return Repair(_MESSAGE, (*helpers, call), Applicability.UNSAFE, _CHANGES)


def _helpers(site: Site) -> Sequence[Rewrite] | None:
    """What the file lacks; None where it cannot have them."""
    module, spelled = site.module, site.spell("torch.compiler.assume_constant_result")
    body = module.tree.body
    above = [*takewhile(lambda one: not isinstance(one, _DEFINITIONS), body)]
    if spelled is None or module.file.path.suffix == ".ipynb" or _is_local(site, _NUMBER):
        return None
    text = _HELPERS.format(torch=spelled.partition(".compiler.")[0])
    wanted = {one.name: one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    known = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    if wanted.keys() <= known.keys():
        same = all(ast.dump(known[name]) == ast.dump(one) for name, one in wanted.items())
        return () if same and _is_below(site, known[_NUMBER]) else None
    taken = {*module.imports, *module.functions, *module.classes, *module.assigned}
    if not taken.isdisjoint(wanted) or not _imports(above, spelled.partition(".")[0]):
        return None
    return (Insert(above[-1], f"\n\n{text}", after=True),) if _is_below(site, above[-1]) else None


def _is_below(site: Site, statement: ast.stmt) -> bool:
    """True where a helper at a statement is there by the time that this can run."""
    return site.statement.lineno > (statement.end_lineno or statement.lineno)


def _is_local(site: Site, name: str) -> bool:
    arguments = (part for part in ast.walk(site.body.scope) if isinstance(part, ast.arg))
    function = not isinstance(site.body.scope, ast.Module)
    return function and (bool(site.stores(name)) or any(part.arg == name for part in arguments))


def _imports(body: Sequence[ast.stmt], name: str) -> bool:
    return any(
        (alias.asname or alias.name.partition(".")[0]) == name
        for one in body
        if isinstance(one, (ast.Import, ast.ImportFrom))
        for alias in one.names
    )
