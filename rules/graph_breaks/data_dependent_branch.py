"""TCL160: Python branches on a tensor."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch
from tclint.semantics.lattice import options
from tclint.semantics.ownership import memory_of
from tclint.semantics.site import Site
from tclint.semantics.values import Function, Object, Tensor, Unknown

from ..lib.facts.branch_tests import decided_if, is_guard, is_only_output
from ..lib.facts.compiling import is_compiled_aside
from ..lib.facts.conditions import split_at_tensor
from ..lib.facts.known import certain_tensor, is_boolean
from ..lib.facts.likely_numbers import is_for_one_dtype, is_likely_number
from ..lib.facts.purity import is_pure
from ..lib.facts.random_tests import decides_at_random, is_number_of_library
from ..lib.facts.shapes import same_shape
from ..lib.judge.aliases import is_own_result
from ..lib.judge.verdict import Changes, Verdict, combine
from ..lib.rewrite.proved import repair_as_proved
from ..lib.rewrite.where import choose
from ..lib.wording import at_most_medium, consequence, loop_ids, short

_BRANCHES = {
    "if": "`if` branches on",
    "ternary": "An `if` expression reads",
    "and": "`and` calls `bool()` on",
    "or": "`or` calls `bool()` on",
    "not": "`not` calls `bool()` on",
    "compare": "A chained comparison reads",
    "match": "`case` branches on",
}
_OUTPUT: Final = (
    "put an `if` that is there only for output under `if not torch.compiler.is_compiling():`"
)
_SELECT: Final = (
    "Select with `torch.where({}, a, b)` where `a` and `b` have one shape; `torch.cond` runs only "
    "one of two functions; or decide before the compiled call and pass a bool in"
)
_COND: Final = (
    "Run only one branch, on the device, with `torch.cond({}, f, g, (x,))`, where `f` and `g` give "
    "the same shapes and dtypes; or decide before the compiled call and pass a bool in"
)
_ALL_STEPS: Final = (
    "Run all steps and let finished rows keep their values (`torch.where(done, old, new)`); leave "
    "early in eager code only: `if not torch.compiler.is_compiling() and {}:`"
)
_OPERATOR: Final = (
    "Python's operator calls `bool()` on the tensor; `&`, `|` and `torch.logical_not` do not"
)

_MESSAGE: Final = "Always write: an empty mask selects nothing"
_WRITTEN: Final = (
    "`{0}` is written even for an empty mask: the backward pass then raises if it needs what `{0}` "
    "held before"
)
_LIMITS: Final = {"float": 2.0**15, "int": 2.0**7 - 1, "bool": 1.0}
"""Every dtype of a kind that a mask can be used with holds numbers up to these."""
_PRODUCTS: Final = frozenset(
    "matmul mm bmm baddbmm addmm einsum linear bilinear scaled_dot_product_attention conv1d conv2d "
    "conv3d conv_transpose2d".split()
)
_INFINITE: Final = ("math.inf", "math.nan", "torch.inf", "torch.nan", "numpy.inf")
_RESHAPING: Final = frozenset(
    "unsqueeze squeeze expand expand_as view reshape flatten to bool contiguous detach".split()
)
_Uniform = dict[str, bool]
"""Masks, as they are written, by what all of their elements are."""


class DataDependentBranch(Rule[TensorBranch]):
    """Python branches on a tensor's value."""

    code = "TCL160"
    name = "data-dependent-branch"
    summary = "A branch on a tensor's value breaks the graph"
    instead = _SELECT.format("test")
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
        negation = event.kind == "not"
        end = consequence(site, always=negation)
        tensor = "what may be a tensor," if event.sometimes else "the tensor"
        message = f"{_BRANCHES[event.kind]} {tensor} `{short(site, test)}`"
        return Finding(
            message + end,
            _repair_branch(event, decided),
            gb_ids=loop_ids(site, "GB0033" if negation else "GB0170"),
            confidence=_confidence(event),
            instead=_instead(site, test, decided),
        )


def _instead(site: Site, test: ast.expr, decided: ast.If | None) -> str:
    """What to write in place of a branch: there is nothing to select where a loop ends early."""
    ends = decided is not None and _ends_step(decided.body, in_loop=bool(site.facts.loops))
    if decided is not None and ends:
        return _ALL_STEPS.format(short(site, decided.test))
    if decided is not None and any(_costs(site, part) for part in ast.walk(decided)):
        return _COND.format(short(site, test))
    return _SELECT.format(short(site, test))


def _costs(site: Site, node: ast.AST) -> bool:
    """True for a product of matrices, and a call of a layer or of the project's own function."""
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call(func=ast.Attribute(attr=name)) if name in _PRODUCTS:
            return True
        case ast.Call(func=function):
            called = options(site.value(function))
            return any(isinstance(one, (Function, Object)) for one in called)
    return False


def _ends_step(body: list[ast.stmt], *, in_loop: bool) -> bool:
    """True for a block that leaves the loop around it, or goes on with its next step."""
    return isinstance(body[-1], (ast.Break, ast.Continue)) or (
        in_loop and isinstance(body[-1], ast.Return)
    )


def _repair_branch(event: TensorBranch, decided: ast.If | None) -> Repair | Decline:
    """Rewrite what the tensor decides; ``decided`` is the statement, where it is one."""
    site = event.site
    if decided is not None:
        if is_only_output(site, decided):
            return Advice(_OUTPUT)
        dropped = _drop_guard(site, decided)
        if dropped is not None:
            return dropped
    fix = choose(site, event.node)
    if isinstance(fix, Decline) and event.kind not in ("if", "ternary"):
        fix = Decline(_OPERATOR) if decided is not None else Advice(_OPERATOR)
    return fix


def _drop_guard(site: Site, statement: ast.If) -> Repair | None:
    """Leave out a test whether a mask selects anything; None where that is not what it asks."""
    if statement.orelse:
        return None
    flags, asked = split_at_tensor(site, statement.test)
    uniform = _if_false(site, asked[0]) if len(asked) == 1 else {}
    if not uniform:
        return None
    judged = [_judge_idle(site, inner, uniform) for inner in statement.body]
    verdicts = [verdict for verdict in judged if verdict is not None]
    if len(verdicts) < len(judged):
        return None
    if flags:
        parts = {f"flag_{i}": flag for i, flag in enumerate(flags)}
        kept = Replace(statement.test, " and ".join(f"${name}" for name in parts), parts)
    else:
        lines = {f"line_{i}": line for i, line in enumerate(statement.body)}
        kept = Replace(statement, "\n".join(f"${name}" for name in lines), lines)
    repair = repair_as_proved(combine(verdicts), _MESSAGE, (kept,))
    return repair if isinstance(repair, Repair) else None


def _if_false(site: Site, test: ast.expr) -> _Uniform:
    """What masks consist of where ``test`` is false; nothing where it does not tell."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            told = [_if_false(site, value) for value in values]
            return {k: v for one in told for k, v in one.items()} if all(told) else {}
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            every = _reduced(site, operand, "all")
            return _all_are(site, every, True)
        case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[right]) if (
            isinstance(right, ast.Constant) and right.value == 0 and _reduced(site, left, "sum")
        ):
            return _all_are(site, _reduced(site, left, "sum"), False)
    mask = _reduced(site, test, "any") or _reduced(site, test, "sum")
    return _all_are(site, mask, False)


def _all_are(site: Site, mask: ast.expr | None, value: bool) -> _Uniform:
    """What ``mask`` and the masks that it is computed from consist of."""
    if mask is None or not is_pure(site, mask):
        return {}
    tensor = certain_tensor(site, mask)
    if tensor is None or not is_boolean(tensor):
        return {}
    found = {ast.dump(mask): value}
    match mask:
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            found |= _all_are(site, inner, not value)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right) if not value:
            found |= _all_are(site, left, value) | _all_are(site, right, value)
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right) if value:
            found |= _all_are(site, left, value) | _all_are(site, right, value)
    return found


def _reduced(site: Site, node: ast.expr, name: str) -> ast.expr | None:
    match node:
        case ast.Call(func=function, args=[mask], keywords=[]):
            return mask if site.dotted(function) == f"torch.{name}" else None
        case ast.Call(func=ast.Attribute(value=mask, attr=attr), args=[], keywords=[]):
            return mask if attr == name else None
    return None


def _judge_idle(site: Site, statement: ast.stmt, uniform: _Uniform) -> Verdict | None:
    """Judge a statement that changes nothing where masks are ``uniform``."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=index)], value=value) | (
            ast.AugAssign(target=ast.Subscript(value=owner, slice=index), value=value)
        ) if mask := _empty(site, index, uniform):
            added = isinstance(statement, ast.AugAssign)
            return _judge_store(site, owner, index, mask, value, added=added)
        case ast.Expr(value=ast.Call() as call):
            return _judge_fill(site, call, uniform)
    return None


def _empty(site: Site, index: ast.expr, uniform: _Uniform) -> ast.expr | None:
    """The part of an index that selects nothing."""
    members = index.elts if isinstance(index, ast.Tuple) else [index]
    if not all(_is_member(site, member) for member in members):
        return None
    return next((m for m in members if _value(site, m, uniform) is False), None)


def _is_member(site: Site, node: ast.expr) -> bool:
    bounds = [node.lower, node.upper, node.step] if isinstance(node, ast.Slice) else [node]
    return all(bound is None or is_pure(site, bound) for bound in bounds)


def _value(site: Site, node: ast.expr, uniform: _Uniform) -> bool | None:
    """What all elements of a mask are; None where that is not known."""
    known = uniform.get(ast.dump(node))
    if known is not None:
        return known
    match node:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            value = _value(site, operand, uniform)
            return None if value is None else not value
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() as op, right=right):
            values = [_value(site, side, uniform) for side in (left, right)]
            decides = isinstance(op, ast.BitOr)
            return decides if decides in values else (None if None in values else not decides)
        case ast.Subscript(value=whole, slice=index):
            members = index.elts if isinstance(index, ast.Tuple) else [index]
            kept = all(_keeps_all(member) for member in members)
            return _value(site, whole, uniform) if kept else None
        case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in _RESHAPING:
            return _value(site, owner, uniform) if is_pure(site, node) else None
    return None


def _keeps_all(member: ast.expr) -> bool:
    """True for ``:``, ``...`` and ``None`` in an index."""
    if isinstance(member, ast.Slice):
        return member.lower is None and member.upper is None and member.step is None
    return isinstance(member, ast.Constant) and member.value in (None, ...)


def _judge_fill(site: Site, call: ast.Call, uniform: _Uniform) -> Verdict | None:
    match call:
        case ast.Call(
            func=ast.Attribute(value=owner, attr="masked_fill_"), args=[mask, value], keywords=[]
        ) if _value(site, mask, uniform) is False:
            return _judge_store(site, owner, mask, mask, value)
    return None


def _judge_store(
    site: Site,
    owner: ast.expr,
    index: ast.expr,
    mask: ast.expr,
    value: ast.expr,
    *,
    added: bool = False,
) -> Verdict | None:
    if not all(is_pure(site, part) for part in (owner, mask)) or not _is_computed(site, value):
        return None
    target = certain_tensor(site, owner)
    if target is None or _is_parameters(site, owner):  # raises where it is written at all
        return None
    name = site.text(owner)
    raises = []
    if not _is_writable(site, owner):
        raises.append(
            f"`{name}` cannot be written in place (a leaf that requires grad, a part from `unbind`)"
        )
    if mask is not index or not same_shape(site, mask, owner):
        raises.append(f"`{site.text(mask)}` does not fit it")
    if not is_pure(site, value):
        raises.append(f"`{site.text(value)}` cannot be computed or stored there")
    elif not _is_number(site, value):
        raises.append(f"`{site.text(value)}` cannot be stored there")
    elif added or not _holds(site, owner, value):
        raises.append(f"its dtype cannot hold `{site.text(value)}`")
    told = f"; the write raises if {', or '.join(raises)}" if raises else ""
    return Changes(_WRITTEN.format(name) + told)


def _is_computed(site: Site, value: ast.expr) -> bool:
    """True for a value that may be computed for nothing, in a shape that is known in advance."""
    return _is_number(site, value) or (
        (is_pure(site, value) or _only_converts(site, value))
        and not any(
            isinstance(part, ast.Subscript) and _selects(site, part.slice)
            for part in ast.walk(value)
        )
    )


def _only_converts(site: Site, value: ast.expr) -> bool:
    """True for ``rows[i].to(device, dtype)`` of rows that nobody knows to be anything else."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Subscript() as row, attr="to")):
            given = [row, *value.args, *(keyword.value for keyword in value.keywords)]
            kinds = [*options(site.value(row))]
            likely = all(isinstance(kind, (Tensor, Unknown)) for kind in kinds)
            return likely and all(is_pure(site, one) for one in given)
    return False


def _selects(site: Site, index: ast.expr) -> bool:
    members = index.elts if isinstance(index, ast.Tuple) else [index]
    kinds = [kind for member in members for kind in options(site.value(member))]
    return any(isinstance(kind, Tensor) and is_boolean(kind) for kind in kinds)


def _is_number(site: Site, node: ast.expr) -> bool:
    """True for a number that is written out."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(site, operand)
        case ast.Constant(value=int() | float()):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()], keywords=[]):
            return True
    return site.dotted(node) in _INFINITE


def _is_parameters(site: Site, node: ast.expr) -> bool:
    """True for a parameter, and for a view of one."""
    origin = memory_of(site, node)
    value = site.flow.value(origin)
    if value is not None:
        return _is_parameters(site, value)
    tensor = certain_tensor(site, origin)
    return tensor is not None and tensor.role == "parameter"


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
    return at_most_medium(event) if behind else None
