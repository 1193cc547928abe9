"""What the parts of an assert's test are, and what Dynamo makes of them.

Dynamo turns `assert tensor` into one operator of the graph. It does so for the value that is
jumped on last, so a `not`, an `and` or `or` that goes on after a tensor, and a comparison chain
break the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.lattice import options, tensor_in
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Tensor

HOST_FUNCTIONS = frozenset({"torch.allclose", "torch.equal", "torch.is_nonzero"})


def is_tensor_condition(site: Site, node: ast.expr) -> bool:
    """True when the truth of ``node`` is a tensor's, through `not`, `and`, `or` and chains."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_tensor_condition(site, node.operand)
    if isinstance(node, ast.BoolOp):
        return any(is_tensor_condition(site, value) for value in node.values)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return any(pair_reads_tensor(site, node, index) for index in range(len(node.ops)))
    return tensor_in(site.value(node)) is not None


def split_at_tensor(site: Site, test: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """The operands of a test before its first tensor, and the rest."""
    conjunction = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    operands = test.values if isinstance(test, ast.BoolOp) and conjunction else [test]
    first = next((i for i, o in enumerate(operands) if is_tensor_condition(site, o)), 0)
    return operands[:first], operands[first:]


def pair_reads_tensor(site: Site, node: ast.Compare, index: int) -> bool:
    """True when one comparison of a chain involves a tensor."""
    if isinstance(node.ops[index], (ast.Is, ast.IsNot)):
        return False
    pair = (node.left, *node.comparators)[index : index + 2]
    return any(tensor_in(site.value(side)) is not None for side in pair)


def tail(node: ast.expr) -> ast.expr:
    """The part that is tested last: the end of `a and b`."""
    while isinstance(node, ast.BoolOp):
        node = node.values[-1]
    return node


def is_plain(node: ast.expr) -> bool:
    """True for a test that asks for one truth only."""
    chain = isinstance(node, ast.Compare) and len(node.ops) > 1
    return not (chain or isinstance(node, ast.BoolOp))


def goes_on_after_tensor(site: Site, node: ast.expr) -> bool:
    """True when something is still evaluated after a tensor's truth was asked."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not is_plain(node.operand) and is_tensor_condition(site, node.operand)
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 and is_tensor_condition(site, node)
    if isinstance(node, ast.IfExp):
        return is_tensor_condition(site, node.body) or goes_on_after_tensor(site, node.orelse)
    if not isinstance(node, ast.BoolOp):
        return False
    *first, last = node.values
    return any(is_tensor_condition(site, v) for v in first) or goes_on_after_tensor(site, last)


def host_reads(site: Site, node: ast.expr) -> Iterator[ast.Call]:
    """The calls inside a test that fetch a tensor's value, outermost first."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and _is_read(site, part):
            yield part


def _is_read(site: Site, call: ast.Call) -> bool:
    if site.dotted(call.func) in HOST_FUNCTIONS:
        return True
    return read_source(site, call) is not None and any(
        isinstance(value, DataScalar) for value in options(site.value(call))
    )


def read_source(site: Site, call: ast.Call) -> tuple[str, ast.expr, Tensor] | None:
    """How, from which expression and from which tensor a call reads one number."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == "item" and not call.args:
        via, source = "item", function.value
    elif isinstance(function, ast.Name) and len(call.args) == 1 and not call.keywords:
        via, source = function.id, call.args[0]
    else:
        return None
    tensor = tensor_in(site.value(source))
    if tensor is None or via not in ("item", "bool", "float", "int"):
        return None
    return via, source, tensor
