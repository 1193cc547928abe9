"""``if flag and x.sum().item() < n: a = ...; k = k + 1``: compute the block, choose its results.

The block only assigns variables. What each held before is kept, the block runs, then what runs
otherwise, and ``torch.where`` chooses between the two on the device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Unknown

from ..facts.conditions import is_tensor_condition
from ..facts.known import certain_tensor, is_parameter
from ..facts.purity import is_pure
from .as_written import as_written
from .names import new_variable

_MESSAGE: Final = "Compute the block always and choose its results with `torch.where`"
_CHANGES: Final = (
    "the block is always computed, may raise, and may make gradients NaN where it is not chosen; "
    "{}the fix assumes that what it gives has the shape, dtype and device of what is there "
    "otherwise, and compares in the dtype of `{}`"
)
_NUMBER: Final = "`{}`, which the fix assumes to be an integer, becomes a tensor; "
_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_MADE: Final = ("torch.tensor", "torch.full_like", "torch.ones_like", "torch.zeros_like")
_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@record(frozen=True)
class _Block:
    """An `if`: what is asked before the number, the comparison of it, and what else may run."""

    statement: ast.If
    before: Sequence[ast.expr]
    asked: ast.Compare
    otherwise: Sequence[ast.stmt]


def choose_block(site: Site, read: ast.AST) -> Repair | None:
    """Rewrite the `if` that ``read``, the number of a tensor, decides; None for any other."""
    block = _block(site, read)
    spelled = site.spell("torch.where")
    tensor = _read_from(read)
    if block is None or spelled is None or tensor is None:
        return None
    known = certain_tensor(site, tensor)
    if known is None or not is_pure(site, tensor):
        return None
    given = [*_names(site, block)]
    if not given or not all(_can_be_chosen(site, block, name) for name in given):
        return None
    numbers = [name for name in given if not _is_tensor(site, block, name)]
    if not all(_only_meets_tensors(site, block, name) for name in numbers):
        return None
    text, parts = _written(site, block, tensor, given, spelled)
    told = "".join(_NUMBER.format(name) for name in numbers)
    changes = _CHANGES.format(told, site.text(tensor))
    rewrite = Replace(block.statement, text, parts)
    return Repair(_MESSAGE, (rewrite,), Change.BEHAVIOUR, changes)


def _read_from(read: ast.AST) -> ast.expr | None:
    """The tensor of ``x.item()``."""
    match read:
        case ast.Call(func=ast.Attribute(value=tensor, attr="item"), args=[], keywords=[]):
            return tensor
    return None


def _block(site: Site, read: ast.AST) -> _Block | None:
    """The statement, if it only assigns, and asks for the number last."""
    compared = site.parent(read)
    if not isinstance(compared, ast.Compare) or len(compared.ops) != 1:
        return None
    outer = site.parent(compared)
    before: Sequence[ast.expr] = ()
    if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
        *before, last = outer.values
        outer = site.parent(outer) if last is compared else None
    statement = site.statement
    if outer is not statement or not isinstance(statement, ast.If) or site.facts.tries:
        return None
    other = compared.comparators[0] if compared.left is read else compared.left
    if not isinstance(compared.ops[0], _ORDER) or not _is_number(site, other):
        return None
    if any(not is_pure(site, one) or is_tensor_condition(site, one) for one in before):
        return None
    blocks = [statement.body, *_arms(statement.orelse)]
    if not all(_assigns(site, one) for block in blocks for one in block):
        return None
    if not all(_is_host(site, test) for test in _tests(statement.orelse)):
        return None
    return _Block(statement, before, compared, statement.orelse)


def _arms(orelse: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    match orelse:
        case [ast.If(body=body, orelse=rest)]:
            yield body
            yield from _arms(rest)
        case _:
            yield orelse


def _tests(orelse: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    match orelse:
        case [ast.If(test=test, orelse=rest)]:
            yield test
            yield from _tests(rest)


def _is_host(site: Site, test: ast.expr) -> bool:
    return is_pure(site, test) and not is_tensor_condition(site, test)


def _assigns(site: Site, statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            return _only_computes(site, value)
    return False


def _only_computes(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and site.dotted(node.func) in _MADE:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return all(_only_computes(site, one) for one in given)
    if isinstance(node, ast.Call):
        parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        made = (site.dotted(node.func) or "").startswith("torch.")
        inner = [*parts[1:], *(keyword.value for keyword in node.keywords)] if made else []
        if inner and is_pure(site, _bare(node)):
            return all(_only_computes(site, one) for one in inner)
    return is_pure(site, node)


def _bare(call: ast.Call) -> ast.Call:
    """The call without what it is given."""
    return ast.Call(func=call.func, args=[], keywords=[])


def _names(site: Site, block: _Block) -> Iterator[str]:
    """The variables that a way gives and that are read behind the statement."""
    seen: set[str] = set()
    for name in _stored(block.statement):
        if name not in seen and _behind(site, block, name):
            seen.add(name)
            yield name


def _stored(statement: ast.stmt) -> Iterator[str]:
    for part in ast.walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _behind(site: Site, block: _Block, name: str) -> list[ast.Name]:
    """The reads of a variable outside of the statement that may see what it gives."""
    inside = {id(part) for part in ast.walk(block.statement)}
    loads = [load for load in site.loads(name) if id(load) not in inside]
    if site.facts.loops:
        return loads
    return [load for load in loads if load.lineno > block.statement.lineno]


def _can_be_chosen(site: Site, block: _Block, name: str) -> bool:
    """True for a variable of the function that has a value before, and is the function's alone."""
    if site.body.is_declared(name) or site.body.defines(name):
        return False
    if any(is_nested(site, one) for one in site.body.names(name)):
        return False
    first = block.statement.lineno
    earlier = any(store.lineno < first for store in site.stores(name))
    return earlier or is_parameter(site, name)


def _is_tensor(site: Site, block: _Block, name: str) -> bool:
    stores = [part for part in ast.walk(block.statement) if _is_assignment(part, name)]
    values = [part.value for part in stores if isinstance(part, ast.Assign)]
    return all(certain_tensor(site, value) is not None for value in values)


def _is_assignment(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=stored)]):
            return stored == name
    return False


def _only_meets_tensors(site: Site, block: _Block, name: str) -> bool:
    """True for an integer that is only computed with tensors behind the statement."""
    stores = [part for part in ast.walk(block.statement) if _is_assignment(part, name)]
    if not all(isinstance(p, ast.Assign) and _may_be_number(site, p.value) for p in stores):
        return False
    for load in _behind(site, block, name):
        match site.parent(load):
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
                other = right if left is load else left
                if certain_tensor(site, other) is None:
                    return False
            case _:
                return False
    return True


def _may_be_number(site: Site, node: ast.expr) -> bool:
    """True for an integer, and for a sum of what nobody knows and one."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            unknown = [side for side in (left, right) if not _is_number(site, side)]
            return len(unknown) < 2 and not any(_is_known(site, side) for side in unknown)
    return _is_number(site, node)


def _is_known(site: Site, node: ast.expr) -> bool:
    return all(not isinstance(kind, Unknown) for kind in options(site.value(node)))


def _is_number(site: Site, node: ast.expr) -> bool:
    return all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type == "int")
        for kind in options(site.value(node))
    )


def _written(
    site: Site, block: _Block, tensor: ast.expr, given: list[str], where: str
) -> tuple[str, dict[str, ast.expr | ast.stmt]]:
    """Compute the block, take back what it gave, run what runs otherwise, choose."""
    taken: set[str] = set()
    chosen = new_variable(site, "chosen", taken)
    before = [new_variable(site, f"{name}_before", taken) for name in given]
    then = [new_variable(site, f"{name}_then", taken) for name in given]
    parts: dict[str, ast.expr | ast.stmt] = {"tensor": tensor}
    left = block.asked.left
    number = left if _holds(left, tensor) else block.asked.comparators[0]
    other = block.asked.comparators[0] if number is left else left
    parts["other"] = other
    symbol = _SYMBOLS[type(block.asked.ops[0])]
    sides = ("$tensor", "$other") if number is left else ("$other", "$tensor")
    lines = [f"{chosen} = {sides[0]} {symbol} {sides[1]}"]
    lines.append(f"{', '.join(before)} = {', '.join(given)}")
    for place, statement in enumerate(block.statement.body):
        parts[f"line_{place}"] = statement
        lines.append(f"$line_{place}")
    lines.append(f"{', '.join(then)} = {', '.join(given)}")
    lines.append(f"{', '.join(given)} = {', '.join(before)}")
    once = not block.before
    lines += _others(block, parts) if once else _copied(site, block)
    for name, new in zip(given, then, strict=True):
        lines.append(f"{name} = {where}({chosen}, {new}, {name})")
    if once:
        return "\n".join(lines), parts
    tests = []
    for place, test in enumerate(block.before):
        parts[f"test_{place}"] = test
        tests.append(f"$test_{place}")
    text = f"if {' and '.join(tests)}:\n" + indent("\n".join(lines), "    ")
    rest = "\n".join(_others(block, parts))
    if rest:
        text += f"\nelse:\n{indent(rest, '    ')}"
    return text, parts


def _others(block: _Block, parts: dict[str, ast.expr | ast.stmt]) -> list[str]:
    """Places for the statements that run otherwise."""
    for place, statement in enumerate(block.otherwise):
        parts[f"other_{place}"] = statement
    return [f"$other_{place}" for place in range(len(block.otherwise))]


def _copied(site: Site, block: _Block) -> list[str]:
    """The same statements, as source."""
    return [line for one in block.otherwise for line in as_written(one, site.text).splitlines()]


def _holds(node: ast.expr, tensor: ast.expr) -> bool:
    return any(part is tensor for part in ast.walk(node))


_SYMBOLS: Final = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
