"""Branches that only choose between two tensors: compute both, and choose on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from textwrap import indent

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.syntax import beside
from tclint.semantics.values import Tensor

from ..facts.compiling import is_compiled_aside, is_compiled_only
from ..facts.conditions import split_at_tensor
from ..facts.known import certain_tensor
from ..facts.purity import is_pure
from ..facts.shapes import same_dtype, same_shape
from ..judge.aliases import is_written_later, judge_copy
from ..judge.arms import Numbers, is_kept_result, judge_arm, judge_number, keeps, root_of
from ..judge.raising import cannot_raise
from ..judge.same_device import judge_chosen
from ..judge.saved_for_backward import judge_kept
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .proved import NO_TORCH, repair_as_proved
from .where_condition import Condition, condition, where_call

_ANOTHER = Changes("an in-place write to the result no longer makes the backward pass raise")
_Parts = dict[str, ast.expr | ast.stmt]
_STEP = "    "
_MESSAGE = "Compute both branches and select with `torch.where`"
_FLOATS = (
    "In compiled code, compute both branches for floating-point tensors and select with "
    "`torch.where`; eager code stays as it is"
)
_LEFT = Decline("this branch is kept for eager code and for other tensors")
_OTHER = Decline("the branches are not known to give the same shapes and dtypes without raising")
_EXPRESSION = Decline("only an `if` statement is rewritten, not an expression")
_TOO_LARGE = 2**63
"""No tensor takes an integer of this size: the operation raises."""
_COMPUTED = Changes(
    "both branches are computed: what either raises is raised, and the gradient of one may be NaN "
    "even where it is not chosen"
)
_ONE_DTYPE = Changes("the fix assumes that the branches give the same dtype")
_FLOAT_DTYPES = frozenset("float16 half bfloat16 float32 float float64 double".split())
_UNKNOWN_DTYPE = Changes("a tensor that is not floating-point may change its dtype, or raise")


def choose(site: Site, node: ast.expr | ast.stmt) -> Repair | Decline:
    """Rewrite the `if` whose truth ``node`` decides."""
    if site.spell("torch.where") is None:
        return NO_TORCH
    if any(isinstance(outer, ast.IfExp) for outer in site.ancestors(node)):
        return _EXPRESSION
    statement = site.statement
    if is_compiled_aside(site, statement):
        return _LEFT
    if not isinstance(statement, ast.If) or not any(n is node for n in ast.walk(statement.test)):
        return _OTHER
    found = _chosen(site, statement)
    if found is _OTHER and isinstance(statement.body[-1], ast.Return):
        return _returned(site, statement)
    return found


def _chosen(site: Site, statement: ast.If) -> Repair | Decline:
    """One variable that is given by one way, or by both."""
    match statement.body[-1]:
        case ast.Assign(targets=[ast.Name() as target]) as last:
            rewrite = _both if statement.orelse else _one
            return rewrite(site, statement, last, target)
    return _OTHER


def _returned(site: Site, statement: ast.If) -> Repair | Decline:
    """``if test: return a`` and ``return b``, which stands behind it or under `else`."""
    behind = [] if statement.orelse else beside(site.parent(statement), statement)[1][:1]
    match statement.body, statement.orelse or behind:
        case [ast.Return(value=ast.expr() as one)], [ast.Return(value=ast.expr() as other)]:
            arms = [one, other]
        case _:
            return _OTHER
    flags, tensors = split_at_tensor(site, statement.test)
    test = condition(site, tensors)
    if isinstance(test, Decline):
        return test
    verdict = _judge_ways(site, other, statement.test, test, arms, None)
    template, parts = where_call(site, test, arms, statement.col_offset + len("return "))
    if flags:
        asked: _Parts = {f"flag_{i}": flag for i, flag in enumerate(flags)}
        ask = Replace(statement.test, " and ".join(f"${name}" for name in asked), asked)
        return repair_as_proved(verdict, _MESSAGE, (ask, Replace(one, template, parts)))
    gone = [Replace(after, "") for after in behind]
    chosen = Replace(statement, f"return {template}", parts)
    return repair_as_proved(verdict, _MESSAGE, (chosen, *gone))


def _judge_ways(
    site: Site,
    node: ast.expr | ast.stmt,
    asked: ast.expr,
    test: Condition,
    arms: list[ast.expr],
    name: str | None,
) -> Verdict:
    """Judge that both ways are computed, and one of them is what ``name`` gets at ``node``."""
    root = root_of(site, *arms)
    verdict = _judge(site, node, asked, arms, root, name) if root else Refused(_OTHER.reason)
    if isinstance(verdict, Refused):
        verdict = _judge_shapes(site, node, arms, name) or verdict
    return combine([verdict, _judge_kept(site, node, test, arms, root, name)])


def _judge_shapes(
    site: Site, node: ast.expr | ast.stmt, arms: list[ast.expr], name: str | None
) -> Verdict | None:
    """Judge two ways of one shape, whatever they compute; None where that is not known."""
    ways = [*_as_written(arms)]
    tensors = [certain_tensor(site, way) for way in ways]
    known = [tensor for tensor in tensors if tensor is not None]
    if len(known) < len(arms) or _differ_in_dtype(known):
        return None
    if not same_shape(site, *ways) or not all(_only_computes(site, way) for way in ways):
        return None
    verdicts: list[Verdict] = [_COMPUTED]
    if len({tensor.dtype for tensor in known}) > 1 and not same_dtype(site, *ways):
        verdicts.append(_ONE_DTYPE)
    verdicts += [judge_copy(site, node, a.id, name) for a in arms if isinstance(a, ast.Name)]
    return combine(verdicts)


def _differ_in_dtype(tensors: list[Tensor]) -> bool:
    """True where one way is converted and the other is not, or they are of different kinds."""
    dtypes = {tensor.dtype for tensor in tensors}
    named = any(dtype is not None and dtype.concrete for dtype in dtypes)
    kinds = {dtype.category for dtype in dtypes if dtype is not None} - {None}
    return len(kinds) > 1 or (named and len(dtypes) > 1)


def _as_written(arms: list[ast.expr]) -> Iterator[ast.expr]:
    """The ways as the program writes them: what stays as it is, as the other way reads it."""
    for arm in arms:
        if hasattr(arm, "lineno"):
            yield arm
        elif isinstance(arm, ast.Name):
            reads = (part for part in ast.walk(arms[0]) if isinstance(part, ast.Name))
            yield from [part for part in reads if part.id == arm.id][:1]


def _only_computes(site: Site, node: ast.expr) -> bool:
    """True where calls compute tensors from tensors, and nothing else happens."""
    numbers = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    fits = all(not isinstance(one, int) or abs(one) < _TOO_LARGE for one in numbers)
    return fits and is_pure(site, node)


def _judge(
    site: Site,
    node: ast.expr | ast.stmt,
    asked: ast.expr,
    arms: list[ast.expr],
    root: str,
    name: str | None,
    numbers: Numbers | None = None,
) -> Verdict:
    """Judge that both ways are computed, and that ``name`` always gets a new tensor."""
    parts = [part for arm in arms for part in ast.walk(arm)]
    reads = [n for n in parts if isinstance(n, ast.Name) and n.id == root]
    verdicts = [judge_arm(site, arm, root, numbers or {}) for arm in arms]
    verdicts += [judge_number(site, value, root, {}) for value in (numbers or {}).values()]
    verdicts.append(_judge_kind(site, asked, reads[0]))
    if any(isinstance(arm, ast.Name) for arm in arms):
        verdicts.append(judge_copy(site, node, root, name))
    return combine(verdicts)


def _judge_kind(site: Site, test: ast.expr, root: ast.Name) -> Verdict:
    """Judge whether the variable is a floating-point tensor: the arithmetic keeps its dtype."""
    kinds = list(options(site.value(root)))
    tensors = [kind for kind in kinds if isinstance(kind, Tensor)]
    asked = any(_asks_floats(site, part, root.id) for part in _tests(site, test, root.id))
    if len(tensors) < len(kinds) and not asked and not _is_argument(site, test, root.id):
        return Refused(f"`{root.id}` is not known to be a tensor")
    categories = {kind.dtype.category if kind.dtype else None for kind in tensors}
    return PROVED if asked or categories == {"float"} else _UNKNOWN_DTYPE


def _asks_floats(site: Site, test: ast.expr, root: str) -> bool:
    """True for ``root.dtype == torch.float16`` and ``root.is_floating_point()``."""
    match test:
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id=name), attr="dtype"),
            ops=[ast.Eq() | ast.Is()],
            comparators=[other],
        ):
            return (
                name == root and (site.dotted(other) or "").removeprefix("torch.") in _FLOAT_DTYPES
            )
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="is_floating_point")):
            return name == root
    return False


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


def _is_argument(site: Site, test: ast.expr, root: str) -> bool:
    """True when a function of torch that takes only tensors is given the variable by the test."""
    return any(
        isinstance(part, ast.Call)
        and site.dotted(part.func) in ("torch.isinf", "torch.isnan", "torch.isfinite")
        and any(isinstance(a, ast.Name) and a.id == root for a in part.args[:1])
        for part in ast.walk(test)
    )


def _judge_kept(
    site: Site,
    node: ast.expr | ast.stmt,
    test: Condition,
    arms: list[ast.expr],
    root: str,
    name: str | None,
) -> Verdict:
    """Judge what the backward pass needs now: the condition, and what both ways compute with."""
    kept: list[ast.expr] = [*test.parts.values()] if len(test.parts) == 1 else []
    parts = [part for arm in arms if keeps(site, arm, root) for part in ast.walk(arm)]
    kept += [part for part in parts if isinstance(part, ast.Name) and part.id == root][:1]
    verdicts = [test.verdict, judge_kept(site, node, kept, name)]
    verdicts.append(_judge_place(site, test, arms, root))
    if any(is_kept_result(arm) for arm in arms) and is_written_later(site, node, name):
        verdicts.append(_ANOTHER)
    return combine(verdicts)


def _judge_place(site: Site, test: Condition, arms: list[ast.expr], root: str) -> Verdict:
    """Judge that the condition is where both ways are; the one that changes nothing is ``root``."""
    written = [arm for arm in arms if hasattr(arm, "lineno")]
    parts = [part for arm in written for part in ast.walk(arm)]
    same = [part for part in parts if isinstance(part, ast.Name) and part.id == root]
    return judge_chosen(site, test.parts.values(), [*written, *same[:1]])


def _both(site: Site, statement: ast.If, last: ast.Assign, target: ast.Name) -> Repair | Decline:
    """``if test: v = a``, ``else: v = b``."""
    other = statement.orelse[0]
    same = isinstance(other, ast.Assign) and ast.dump(other.targets[0]) == ast.dump(target)
    if not isinstance(other, ast.Assign) or not same or len(statement.body + statement.orelse) > 2:
        return _OTHER
    test = condition(site, [statement.test])
    if isinstance(test, Decline):
        return test
    arms = [last.value, other.value]
    root = root_of(site, *arms)
    verdict = _judge_ways(site, statement, statement.test, test, arms, target.id)
    template, parts = where_call(site, test, arms, statement.col_offset + len(target.id) + 3)
    lines = f"{target.id} = {template}"
    if verdict == _UNKNOWN_DTYPE and _judge_place(site, test, arms, root) == PROVED:
        return _for_floats(site, statement, root, lines, parts)
    return repair_as_proved(verdict, _MESSAGE, (Replace(statement, lines, parts),))


def _for_floats(
    site: Site, statement: ast.If, root: str, lines: str, parts: _Parts, asked: Iterable[str] = ()
) -> Repair | Decline:
    """Write ``lines`` for compiled code that has a floating-point tensor, and keep the rest."""
    name = site.spell("torch.compiler.is_compiling")
    if name is None or is_compiled_only(site, statement):
        whole = (Replace(statement, lines, parts),)
        return Repair(_MESSAGE, whole, Change.BEHAVIOUR, _UNKNOWN_DTYPE.what)
    flags = " and ".join(f"${flag}" for flag in asked)
    body = f"if {flags}:\n{indent(lines, _STEP)}" if flags else lines
    test = f"{name}() and {root}.is_floating_point()"
    split = f"if {test}:\n{indent(body, _STEP)}\nelse:\n{_STEP}$kept"
    return Repair(_FLOATS, (Replace(statement, split, {**parts, "kept": statement}),))


def _one(site: Site, statement: ast.If, last: ast.Assign, target: ast.Name) -> Repair | Decline:
    """``if flag and test: v = f(v)``."""
    flags, tensors, order = _flags_first(site, statement.test, target.id)
    test = condition(site, tensors)
    numbers: Numbers = {}
    for before in statement.body[:-1]:
        match before:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                numbers[name] = value
            case _:
                return _OTHER
    if isinstance(test, Decline):
        return test
    lost = _others_read(site, statement, set(numbers))
    if lost:
        return Decline(f"`{lost}` is also read elsewhere, where its value would differ")
    arms: list[ast.expr] = [last.value, ast.Name(target.id)]
    verdict = _judge(site, statement, statement.test, arms, target.id, target.id, numbers)
    if isinstance(verdict, Refused) and not numbers:
        verdict = _judge_shapes(site, statement, arms, target.id) or verdict
    needed = _judge_kept(site, statement, test, arms, target.id, target.id)
    column = last.col_offset if flags else statement.col_offset
    template, parts = where_call(site, test, arms, column + len(target.id) + 3)
    kept = {f"line_{i}": s for i, s in enumerate(statement.body[:-1])}
    whole = "\n".join([*(f"${name}" for name in kept), f"{target.id} = {template}"])
    asked = {f"flag_{i}": flag for i, flag in enumerate(flags)}
    if verdict == _UNKNOWN_DTYPE and _judge_place(site, test, arms, target.id) == PROVED:
        return _for_floats(site, statement, target.id, whole, {**parts, **kept, **asked}, asked)
    verdict = combine([verdict, needed, order])
    if flags:
        ask = Replace(statement.test, " and ".join(f"${name}" for name in asked), asked)
        return repair_as_proved(verdict, _MESSAGE, (ask, Replace(last.value, template, parts)))
    return repair_as_proved(verdict, _MESSAGE, (Replace(statement, whole, {**parts, **kept}),))


def _flags_first(
    site: Site, test: ast.expr, root: str
) -> tuple[list[ast.expr], list[ast.expr], Verdict]:
    """The operands before the first tensor, then those that ask tensors.

    A question about the dtype behind a tensor comes first where the tensor is only asked for what
    each one answers.
    """
    flags, asked = split_at_tensor(site, test)
    behind = [operand for operand in asked if _asks_floats(site, operand, root)]
    tensors = [operand for operand in asked if operand not in behind]
    unsure = [operand for operand in tensors if not cannot_raise(site, operand)]
    if not behind or not all(is_pure(site, o) and _is_argument(site, o, root) for o in unsure):
        return flags, asked, PROVED
    if not unsure:
        return [*flags, *behind], tensors, PROVED
    first, last = site.text(unsure[0]), site.text(behind[0])
    skipped = f"`{first}` is no longer computed, and raises nothing, where `{last}` is false"
    return [*flags, *behind], tensors, Changes(skipped)


def _others_read(site: Site, statement: ast.If, names: set[str]) -> str:
    """A variable of the statement's body that the test reads, or what follows; empty for none."""
    inside = {node for part in statement.body for node in ast.walk(part)}
    asked = {getattr(node, "id", "") for node in ast.walk(statement.test)}
    for name in sorted(names):
        made = [one for one in site.flow.made(name) if one.node in inside]
        alone = made and all(inside.issuperset(site.flow.reads(one)) for one in made)
        if name in asked or not alone:
            return name
    return ""
