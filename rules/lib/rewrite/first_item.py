"""The number that a tensor holds in the first call: compiled code is made for it, and asks for it.

Eager code reads the number of each call. Compiled code keeps that of the call that it was compiled
in, and raises where it is another: nothing is computed with a number that does not hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.semantics.events import HostRead, TensorBranch
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.syntax import last_name
from tclint.semantics.values import NDArray, Static, SymInt, Tensor
from tclint.semantics.values import Sequence as Elements

from ..facts.branch_tests import is_only_asked
from ..facts.call_constants import follows_from_call
from ..facts.known import certain_tensor

_ASKED: Final = ("if", "ternary", "not", "and", "or")
_SIZES: Final = ("number", "range", "repeat", "slice")
_NUMBERS: Final = ("item", "int", "float", "bool")
_SIGNS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_EXACT: Final = 256
"""Every dtype but those of one byte holds all integers up to this one."""
_NUMBER: Final = "first_item"
_MESSAGE: Final = "Compile in the first call's value; later calls with another value raise"
_NUMBERS_MESSAGE: Final = "Compile in the first call's values; later calls with other values raise"
_CHANGES: Final = (
    "compiled code is specialized on the number of the first call, and raises for any other (but "
    "not under `python -O`), for NaN, and mostly where the number depends on what compiled code "
    "wrote in place; the call that compiles computes what the number depends on twice"
)
_ITEM: Final = '''\
@{torch}.compiler.assume_constant_result
def _item_when_compiled(number):
    return number.item()


def first_item(number):
    """Return `number.item()`; compiled code keeps the first one, and raises where it is another."""
    if not isinstance(number, {torch}.Tensor):
        return number
    if not {torch}.compiler.is_compiling():
        return number.item()
    item = _item_when_compiled(number)
    assert number == item, "this code was compiled for another number"
    return item
'''
_WHOLE: Final = '''\
def first_whole(number):
    """Return `number.item()`; compiled code keeps the first one, but for floats."""
    if not {torch}.compiler.is_compiling():
        return number.item()
    if not isinstance(number, {torch}.Tensor) or number.is_floating_point() or number.is_complex():
        return number.item()  # tclint: ignore[TCL101]
    return first_item(number)
'''
_LIST: Final = '''\
@{torch}.compiler.assume_constant_result
def _list_when_compiled(numbers):
    return numbers.tolist()


def first_list(numbers):
    """Return `numbers.tolist()`; compiled code keeps the first, and raises where they differ."""
    if not {torch}.compiler.is_compiling():
        return numbers.tolist()
    kept = isinstance(numbers, {torch}.Tensor) and numbers.dtype in ({torch}.int64, {torch}.int32)
    if not kept:
        return numbers.tolist()  # tclint: ignore[TCL103]
    items = _list_when_compiled(numbers)
    same = numbers == {torch}.tensor(items, dtype=numbers.dtype, device=numbers.device)
    assert same.all(), "this code was compiled for other numbers"
    return items
'''
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Parts = dict[str, ast.expr | ast.stmt]


def first_item(event: HostRead, member: ast.expr | None = None) -> Repair | None:
    """Compile for the number that is read; None for others, and where no tensor is named.

    ``member`` is the tensor among the sizes that are given. None, too, for a number that varies by
    its nature: compiled code would raise at one of the next calls.
    """
    site, node, source = event.site, event.node, member or event.source
    if not follows_from_call(site, source):
        return None
    if event.via == "number" and _are_numbers(site, source):
        each = Replace(source, f"[{_NUMBER}(one) for one in $numbers]", {"numbers": source})
        return _helped(site, (_ITEM,), each, _MESSAGE)
    if event.via in _SIZES:
        return _kept(site, source, source)
    if event.via not in _NUMBERS or not isinstance(node, ast.Call) or source is node.func:
        return None
    compared = _compared(site, node, event.tensor) if event.via == "item" else None
    if compared is not None:
        return _kept(site, source, *compared)
    replaced = node if event.via == "item" else source
    known, certain = _category(event.tensor) is not None, certain_tensor(site, source) is not None
    if (event.via == "item" and not (known and certain)) or (certain and not known):
        if _may_be_array(site, source):
            return None
        whole = Replace(replaced, "first_whole($number)", {"number": source})
        return _helped(site, (_ITEM, _WHOLE), whole, _MESSAGE)
    return _kept(site, source, replaced) if _is_whole(event.tensor) else None


def first_list(event: HostRead) -> Repair | None:
    """Compile for the list that a tensor of integers gives; None for other numbers."""
    site, node, source = event.site, event.node, event.source
    if _category(event.tensor) not in (None, "int") or not isinstance(node, ast.expr):
        return None
    if _may_be_array(site, source) or not follows_from_call(site, source):
        return None
    call = Replace(node, "first_list($numbers)", {"numbers": source})
    return _helped(site, (_LIST,), call, _NUMBERS_MESSAGE)


def _may_be_array(site: Site, source: ast.expr) -> bool:
    """True for an array of numpy: compiled code breaks where the helper reads one."""
    called = isinstance(source, ast.Call) and last_name(source.func) == "numpy"
    return called or any(isinstance(kind, NDArray) for kind in options(site.value(source)))


def _are_numbers(site: Site, source: ast.expr) -> bool:
    """True for a variable that holds a tuple or list of numbers, each a tensor or none."""
    kinds = [*options(site.value(source))]
    rows = [kind.items for kind in kinds if isinstance(kind, Elements) and kind.items]
    parts = [part for row in rows for item in row for part in options(item)]
    return (
        isinstance(source, ast.Name)
        and len(rows) == len(kinds) > 0
        and all(isinstance(part, (Tensor, Static, SymInt)) for part in parts)
    )


def first_truth(event: TensorBranch) -> Repair | None:
    """Compile for the truth that a branch asks for; None where its value is used, too."""
    site, test = event.site, event.test
    asked = event.kind in _ASKED and is_only_asked(site, test) and follows_from_call(site, test)
    return _kept(site, test, test) if asked else None


def _is_whole(tensor: Tensor) -> bool:
    """True for integers and truths: the last bits of floats may be others in compiled code."""
    return _category(tensor) in ("bool", "int")


def _category(tensor: Tensor) -> str | None:
    return tensor.dtype.category if tensor.dtype is not None else None


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
    if certain_tensor(site, source) is None:
        return None
    call = Replace(replaced, f"{_NUMBER}({asked})", parts or {"number": source})
    return _helped(site, (_ITEM,), call, _MESSAGE)


def _helped(site: Site, texts: Sequence[str], call: Replace, message: str) -> Repair | None:
    helpers = _helpers(site, texts)
    if helpers is None:
        return None
    return Repair(message, (*helpers, call), Change.BEHAVIOUR, _CHANGES)


def _helpers(site: Site, texts: Sequence[str]) -> Sequence[Rewrite] | None:
    """What the file lacks of some helpers; None where it cannot have them."""
    module, body = site.module, site.module.tree.body
    spelled = [site.spell(f"torch.{n}") for n in ("nonzero_static", "compiler.is_compiling")]
    torch = (spelled[0] or "").removesuffix(".nonzero_static")
    if None in spelled or not torch or module.file.path.suffix == ".ipynb":
        return None
    known = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    lacking: list[str] = []
    above = [*takewhile(lambda one: not isinstance(one, _DEFINITIONS), body)]
    place = above[-1] if _imports(above, torch.partition(".")[0]) else None
    for text in (one.format(torch=torch) for one in texts):
        wanted = _defined(text)
        if any(_is_local(site, name) for name in wanted):
            return None
        if wanted.keys() <= known.keys():
            if any(ast.dump(known[name]) != ast.dump(one) for name, one in wanted.items()):
                return None
            place = known[[*wanted][-1]]
        elif _is_declared(module, wanted):
            return None
        else:
            lacking.append(text)
    if place is None or not _is_below(site, place):
        return None
    text = "\n\n".join(lacking)
    return (Insert(place, f"\n\n{text}", after=True),) if lacking else ()


@lru_cache(maxsize=32)
def _defined(text: str) -> Mapping[str, ast.FunctionDef]:
    """The functions of a helper's text by their names."""
    return {one.name: one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}


def _is_declared(module: ModuleInfo, names: Iterable[str]) -> bool:
    """True where the file gives one of these names a meaning."""
    taken = {*module.imports, *module.functions, *module.classes, *module.assigned}
    return not taken.isdisjoint(names)


def _is_below(site: Site, statement: ast.stmt) -> bool:
    """True where a helper at a statement is there by the time that this can run."""
    return site.statement.lineno > (statement.end_lineno or statement.lineno)


def _is_local(site: Site, name: str) -> bool:
    function = not isinstance(site.body.scope, ast.Module)
    return function and bool(site.stores(name) or site.body.arguments(name))


def _imports(body: Sequence[ast.stmt], name: str) -> bool:
    return any(
        (alias.asname or alias.name.partition(".")[0]) == name
        for one in body
        if isinstance(one, (ast.Import, ast.ImportFrom))
        for alias in one.names
    )
