"""`np.arange` that counts a loop, or makes a list: the `range` in its place."""

from __future__ import annotations

import ast
from functools import partial

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import Loop
from tclint.semantics.site import Site

from ..facts.integers import is_integer, least
from ..facts.number_flow import follow
from ..judge.python_numbers import verdict_of
from ..judge.range_bounds import judge_numpy_arange, judge_torch_arange
from ..judge.verdict import Refused, Verdict, combine
from .proved import repair_as_proved

MESSAGE = "Count with `range`"
_INT64 = ("torch.int64", "torch.long")


def counted(site: Site, loop: Loop) -> ast.Call | None:
    """The ``np.arange(...)`` that the loop runs over, when it runs over nothing else."""
    call = loop.iterable
    if isinstance(call, ast.Call) and site.dotted(call.func) == "numpy.arange":
        return call
    return None


def use_range(loop: Loop) -> Repair | Decline:
    """Replace ``np.arange`` by ``range`` if the loop cannot tell, or only by a number's type."""
    site = loop.site
    call = counted(site, loop)
    if call is None:
        return Decline("only a direct loop over `np.arange` counts like `range`")
    if not isinstance(loop.target, ast.Name):
        return Decline("the loop's target is not a single variable")
    verdict = judge_numpy_arange(site, call)
    if not isinstance(verdict, Refused):
        verdict = combine([verdict, _variable(site, loop.target, call)])
    return repair_as_proved(verdict, MESSAGE, (Replace(call.func, "range"),))


def count_list(site: Site, read: ast.expr, made: ast.expr) -> Repair | Decline | None:
    """Write ``list(range(...))`` for ``torch.arange(...).tolist()``; None for any other tensor."""
    if not isinstance(made, ast.Call) or site.dotted(made.func) != "torch.arange":
        return None
    own = [keyword for keyword in made.keywords if keyword.arg != "device"]
    whole = all(k.arg == "dtype" and site.dotted(k.value) in _INT64 for k in own)
    if not made.args or not whole or not all(is_integer(site, bound) for bound in made.args):
        return Decline(f"`{site.text(made)}` may give numbers that `range` does not")
    verdict = judge_torch_arange(site, ast.Call(made.func, made.args, []))
    parts = {f"bound_{place}": bound for place, bound in enumerate(made.args)}
    text = f"list(range({', '.join(f'${name}' for name in parts)}))"
    return repair_as_proved(verdict, MESSAGE, (Replace(read, text, parts),))


def _variable(site: Site, target: ast.Name, call: ast.Call) -> Verdict:
    lost = _lost(site, target)
    if lost:
        return Refused(lost)
    bound = partial(_least, site, target.id, _first(site, call))
    return verdict_of(site, follow(site, site.loads(target.id), "int"), bound)


def _lost(site: Site, target: ast.Name) -> str:
    for store in site.stores(target.id):
        loop = site.parent(store)
        if not isinstance(loop, (ast.For, ast.comprehension)) or loop.target is not store:
            return f"`{target.id}` is also assigned elsewhere"
        if store is not target and not _counts(site, loop.iter):
            return f"`{target.id}` is also the variable of another loop"
    for node in ast.walk(site.body.scope):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and target.id in node.names:
            return f"`{target.id}` belongs to an outer scope"
    return ""


def _counts(site: Site, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and site.dotted(node.func) in ("range", "numpy.arange")


def _first(site: Site, call: ast.Call) -> int | None:
    """The least value that the loop variable takes, None if it may be negative."""
    upwards = len(call.args) < 3 or not isinstance(call.args[2], ast.UnaryOp)
    if not upwards:
        return None
    return 0 if len(call.args) == 1 else least(site, call.args[0])


def _least(site: Site, name: str, first: int | None, node: ast.expr) -> int | None:
    """A lower bound of an expression in which the loop variable is at least ``first``."""
    match node:
        case ast.Name(id=variable) if variable == name:
            return first
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            halves = (_least(site, name, first, left), _least(site, name, first, right))
            return None if None in halves else sum(half for half in halves if half is not None)
    return least(site, node)
