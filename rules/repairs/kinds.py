"""What is known about the variable that both ways of a branch compute with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..proofs.verdict import PROVED, Changes, Refused, Verdict

_FLOATS = frozenset("float16 half bfloat16 float32 float float64 double".split())
UNKNOWN_DTYPE = Changes("a tensor that is not of floating point may change its dtype, or raise")


def judge_kind(site: Site, test: ast.expr, root: ast.Name) -> Verdict:
    """Judge whether the variable is a floating-point tensor: the arithmetic keeps its dtype."""
    kinds = list(options(site.value(root)))
    tensors = [kind for kind in kinds if isinstance(kind, Tensor)]
    asked = any(_asks_floats(site, part, root.id) for part in _tests(site, test, root.id))
    if len(tensors) < len(kinds) and not asked and not _is_argument(site, test, root.id):
        return Refused(f"`{root.id}` is not certainly a tensor")
    categories = {kind.dtype.category if kind.dtype else None for kind in tensors}
    return PROVED if asked or categories == {"float"} else UNKNOWN_DTYPE


def others_read(site: Site, statement: ast.If, names: set[str]) -> str:
    """A variable of the statement's body whose value is seen outside; empty when none is."""
    inside = {id(node) for part in statement.body for node in ast.walk(part)}
    for name in sorted(names):
        for load in site.loads(name):
            if id(load) not in inside and not _is_given_anew(site, statement, load):
                return name
    return ""


def _is_given_anew(site: Site, branch: ast.If, load: ast.Name) -> bool:
    """True when on every way from the branch to the read the variable is assigned again."""
    if load.lineno < branch.lineno and not site.facts.loops:
        return True
    start = site.facts.loops[-1].lineno if load.lineno < branch.lineno else branch.lineno
    inner: ast.AST = load
    for outer in site.ancestors(load):
        if isinstance(outer, (ast.FunctionDef, ast.Lambda)) and outer is not site.body.scope:
            return False
        for field in ("body", "orelse", "finalbody"):
            block = getattr(outer, field, None)
            if isinstance(block, list) and inner in block:
                before = block[: block.index(inner)]
                if any(s.lineno > start and _assigns(s, load.id) for s in before):
                    return True
        inner = outer
    return False


def _assigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in statement.targets
    )


def _tests(site: Site, test: ast.expr, root: str) -> Iterator[ast.expr]:
    """What holds where ``test`` decides: operands of `and`, also of the `if` around."""
    yield from _operands(test)
    inner: ast.AST = site.statement
    for outer in site.ancestors(inner):
        if isinstance(outer, ast.If) and inner in outer.body:
            rows = range(outer.lineno, site.statement.lineno)
            if not any(store.lineno in rows for store in site.stores(root)):
                yield from _operands(outer.test)
        inner = outer


def _operands(test: ast.expr) -> list[ast.expr]:
    both = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    return test.values if isinstance(test, ast.BoolOp) and both else [test]


def _asks_floats(site: Site, test: ast.expr, root: str) -> bool:
    """True for ``root.dtype == torch.float16`` and ``root.is_floating_point()``."""
    match test:
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id=name), attr="dtype"),
            ops=[ast.Eq() | ast.Is()],
            comparators=[other],
        ):
            return name == root and (site.dotted(other) or "").removeprefix("torch.") in _FLOATS
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="is_floating_point")):
            return name == root
    return False


def _is_argument(site: Site, test: ast.expr, root: str) -> bool:
    """True when a function of torch that takes only tensors is given the variable by the test."""
    return any(
        isinstance(part, ast.Call)
        and site.dotted(part.func) in ("torch.isinf", "torch.isnan", "torch.isfinite")
        and any(isinstance(a, ast.Name) and a.id == root for a in part.args[:1])
        for part in ast.walk(test)
    )
