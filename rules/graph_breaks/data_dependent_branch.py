"""TCL160: Python branches on a tensor."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch
from tclint.semantics.site import Site

from ..lib.facts.branch_tests import decided_if, is_guard, is_only_output
from ..lib.facts.compiling import is_compiled_aside
from ..lib.facts.likely_numbers import is_for_one_dtype, is_likely_number
from ..lib.facts.purity import is_pure
from ..lib.facts.random_tests import decides_at_random, is_number_of_library
from ..lib.facts.shapes import same_shape
from ..lib.judge.aliases import is_own_result
from ..lib.judge.arguments import certain_tensor
from ..lib.judge.promotion import is_boolean
from ..lib.rewrite.buffer_choice import choose_buffer
from ..lib.rewrite.where import choose
from ..lib.wording import at_most_medium, consequence, loop_ids, short

_BRANCHES = {
    "if": "`if` branches on the value of",
    "ternary": "A conditional expression branches on the value of",
    "and": "`and` calls `bool()` on",
    "or": "`or` calls `bool()` on",
    "not": "`not` calls `bool()` on",
    "compare": "A chained comparison calls `bool()` on",
    "match": "`case` branches on the value of",
}
_OUTPUT: Final = (
    "put an `if` that is there only for output under `if not torch.compiler.is_compiling():`"
)
_OPERATOR: Final = (
    "Python's operator calls `bool()` on the tensor; `&`, `|` and `torch.logical_not` do not"
)
_LIMITS = {"float": 2.0**15, "int": 2.0**7 - 1, "bool": 1.0}
"""Every dtype of a kind that a mask can be used with holds numbers up to these."""


class DataDependentBranch(Rule[TensorBranch]):
    """Python branches on a tensor's value."""

    code = "TCL160"
    name = "data-dependent-branch"
    summary = "A branch on a tensor's value breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0033", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the operand that is asked."""
        site, test = event.site, event.test
        if (
            event.kind not in _BRANCHES
            or decides_at_random(site, test)
            or is_number_of_library(site, test)
        ):
            return None
        if is_likely_number(site, test):
            return None
        decided = decided_if(site, event.node)
        if decided is not None and is_guard(decided):
            return None
        paths = " on some paths" if event.sometimes else ""
        negation = event.kind == "not"
        end = consequence(site, always=negation)
        message = f"{_BRANCHES[event.kind]} the tensor `{short(site, test)}`{paths}"
        return Finding(
            message + end,
            _repair_branch(event, decided),
            gb_ids=loop_ids(site, "GB0033" if negation else "GB0170"),
            confidence=_confidence(event),
        )


def _repair_branch(event: TensorBranch, decided: ast.If | None) -> Repair | Decline:
    """Rewrite what the tensor decides; ``decided`` is the statement, where it is one."""
    site = event.site
    if decided is not None:
        if is_only_output(site, decided):
            return Decline(_OUTPUT)
        special = _drop_guard(site, decided) or choose_buffer(site, decided)
        if special is not None:
            return special
    fix = choose(site, event.node)
    if isinstance(fix, Repair) or event.kind in ("if", "ternary"):
        return fix
    return Decline(_OPERATOR)


def _drop_guard(site: Site, statement: ast.If) -> Repair | None:
    """Leave out a test whether a mask selects anything; None where that is not what it asks."""
    if statement.orelse or len(statement.body) != 1:
        return None
    mask = _asked(site, statement.test)
    kept = statement.body[0]
    written = _written(kept)
    if mask is None or written is None or ast.dump(written[1]) != ast.dump(mask):
        return None
    owner, _, value = written
    tensor = certain_tensor(site, mask)
    if tensor is None or not is_boolean(tensor) or not _is_number(site, value):
        return None
    if not is_pure(site, mask) or not is_pure(site, owner):
        return None
    target = certain_tensor(site, owner)
    if target is None or target.role == "parameter":  # a leaf raises where it is written at all
        return None
    return Repair(
        "Write always: an empty mask selects nothing",
        (Replace(statement, "$kept", {"kept": kept}),),
        Applicability.UNSAFE,
        _changes(site, owner, mask, value),
    )


def _asked(site: Site, test: ast.expr) -> ast.expr | None:
    """The mask of ``mask.any()``, ``torch.any(mask)`` and ``mask.sum() > 0``."""
    match test:
        case ast.Compare(
            left=counted,
            ops=[ast.Gt() | ast.NotEq()],
            comparators=[ast.Constant(value=0)],
        ):
            return _reduced(site, counted, "sum")
    return _reduced(site, test, "any") or _reduced(site, test, "sum")


def _reduced(site: Site, node: ast.expr, name: str) -> ast.expr | None:
    match node:
        case ast.Call(func=function, args=[mask], keywords=[]):
            return mask if site.dotted(function) == f"torch.{name}" else None
        case ast.Call(func=ast.Attribute(value=mask, attr=attr), args=[], keywords=[]):
            return mask if attr == name else None
    return None


def _written(statement: ast.stmt) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """What ``x[mask] = value`` and ``x.masked_fill_(mask, value)`` write into, where, and what."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=mask)], value=value):
            return owner, mask, value
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=owner, attr="masked_fill_"),
                args=[mask, value],
                keywords=[],
            )
        ):
            return owner, mask, value
    return None


def _is_number(site: Site, node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(site, operand)
        case ast.Constant(value=int() | float()):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()], keywords=[]):
            return True
    return site.dotted(node) in ("math.inf", "math.nan", "torch.inf", "torch.nan", "numpy.inf")


def _changes(site: Site, owner: ast.expr, mask: ast.expr, value: ast.expr) -> str:
    """What an empty mask does now that it does not do under the guard."""
    name = site.text(owner)
    raises = []
    if not _is_writable(site, owner):
        raises.append(
            f"`{name}` cannot be written in place (a leaf that requires grad, a part from `unbind`)"
        )
    if not same_shape(site, mask, owner):
        raises.append(f"`{site.text(mask)}` does not fit it")
    if not _holds(site, owner, value):
        raises.append(f"its dtype cannot hold `{site.text(value)}`")
    told = f"; the write raises if {', or '.join(raises)}" if raises else ""
    return (
        f"`{name}` is written even for an empty mask: the backward pass then raises if it needs "
        f"what `{name}` held before{told}"
    )


def _is_writable(site: Site, owner: ast.expr) -> bool:
    """True for a tensor of this function that cannot need a gradient."""
    own = isinstance(owner, ast.Name) and is_own_result(site, owner.id)
    return own and _category(site, owner) in ("int", "bool")


def _category(site: Site, node: ast.expr) -> str:
    tensor = certain_tensor(site, node)
    return (tensor.dtype.category or "") if tensor is not None and tensor.dtype is not None else ""


def _holds(site: Site, owner: ast.expr, value: ast.expr) -> bool:
    """True where the tensor's dtype certainly holds a number that is written out."""
    category = _category(site, owner)
    number = value.operand if isinstance(value, ast.UnaryOp) else value
    match number:
        case ast.Constant(value=int() | float() as size):
            return category in _LIMITS and size <= _LIMITS[category]
    return category == "float"  # infinity, or NaN


def _confidence(event: TensorBranch) -> Confidence | None:
    site = event.site
    if is_for_one_dtype(site, event.node) or is_compiled_aside(site, site.statement):
        return Confidence.LOW
    outer = event.site.parent(event.node)
    behind = isinstance(outer, ast.BoolOp) and outer.values[0] is not event.node
    return at_most_medium(event) if event.sometimes or behind else None
