"""Branches that only choose between two tensors: compute both, and choose on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from textwrap import indent

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.semantics.site import Site

from ..decisions.tests import leaves
from ..proofs.conditions import is_compiled_aside, is_compiled_only
from ..proofs.verdict import Changes, Refused, Verdict, combine
from .aliases import is_written_later, judge_copy
from .arms import Numbers, is_kept_result, judge_arm, judge_number, keeps, root_of
from .compiled_assert import split
from .conditions import Condition, condition, where_call
from .kept import judge_kept
from .kinds import UNKNOWN_DTYPE, judge_kind, others_read

_ANOTHER = Changes("the write into the result no longer makes the backward pass raise")
Parts = dict[str, ast.expr | ast.stmt]
_STEP = "    "
_MESSAGE = "Compute both ways and let `torch.where` choose on the device"
_FLOATS = (
    "Compute both ways in compiled code for floating-point tensors, and let `torch.where` choose; "
    "eager code stays as it is"
)
_LEFT = Decline("this is what other tensors and eager code still do")
_OTHER = Decline(
    "both ways have to be known to compute the same shapes and dtypes without raising; then "
    "`torch.where(test, a, b)` picks a result on the device, and `torch.cond` runs one of two "
    "functions"
)


def choose(site: Site, node: ast.expr | ast.stmt) -> Repair | Decline:
    """Rewrite the `if` or the conditional expression whose truth ``node`` decides."""
    if site.spell("torch.where") is None:
        return Decline("the file does not import torch")
    for outer in site.ancestors(node):
        if isinstance(outer, ast.IfExp):
            return _expression(site, outer, node)
    statement = site.statement
    if is_compiled_aside(site, statement):
        return _LEFT
    if not isinstance(statement, ast.If) or not any(n is node for n in ast.walk(statement.test)):
        return _OTHER
    match statement.body[-1]:
        case ast.Assign(targets=[ast.Name() as target]) as last:
            rewrite = _both if statement.orelse else _one
            return rewrite(site, statement, last, target)
    return _OTHER


def _expression(site: Site, node: ast.IfExp, asked: ast.AST) -> Repair | Decline:
    if not any(leaf is asked for leaf in leaves(node.test)):
        return _OTHER
    test = condition(site, [node.test])
    outer = site.parent(node)
    if isinstance(test, Decline):
        return test
    arms = [node.body, node.orelse]
    target = outer.targets[0] if isinstance(outer, ast.Assign) else None
    name = target.id if isinstance(target, ast.Name) else None
    root = root_of(site, *arms)
    verdict = _judge(site, node, arms, root, name)
    kept = _judge_kept(site, node, test, arms, root, name)
    template, parts = where_call(site, test, arms, node.col_offset)
    return _repair(combine([verdict, kept]), (Replace(node, template, parts),))


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
    verdict = _judge(site, statement, arms, root, target.id)
    kept = _judge_kept(site, statement, test, arms, root, target.id)
    template, parts = where_call(site, test, arms, statement.col_offset + len(target.id) + 3)
    lines = f"{target.id} = {template}"
    if verdict == UNKNOWN_DTYPE:
        return _for_floats(site, statement, root, lines, parts)
    return _repair(combine([verdict, kept]), (Replace(statement, lines, parts),))


def _one(site: Site, statement: ast.If, last: ast.Assign, target: ast.Name) -> Repair | Decline:
    """``if flag and test: v = f(v)``."""
    flags, tensors = split(site, statement.test)
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
    lost = others_read(site, statement, set(numbers))
    if lost:
        return Decline(f"`{lost}` is read elsewhere, and would get another value")
    arms: list[ast.expr] = [last.value, ast.Name(target.id)]
    verdict = _judge(site, statement, arms, target.id, target.id, numbers)
    needed = _judge_kept(site, statement, test, arms, target.id, target.id)
    column = last.col_offset if flags else statement.col_offset
    template, parts = where_call(site, test, arms, column + len(target.id) + 3)
    kept = {f"line_{i}": s for i, s in enumerate(statement.body[:-1])}
    whole = "\n".join([*(f"${name}" for name in kept), f"{target.id} = {template}"])
    asked = {f"flag_{i}": flag for i, flag in enumerate(flags)}
    if verdict == UNKNOWN_DTYPE:
        return _for_floats(site, statement, target.id, whole, {**parts, **kept, **asked}, asked)
    verdict = combine([verdict, needed])
    if flags:
        ask = Replace(statement.test, " and ".join(f"${name}" for name in asked), asked)
        return _repair(verdict, (ask, Replace(last.value, template, parts)))
    return _repair(verdict, (Replace(statement, whole, {**parts, **kept}),))


def _for_floats(
    site: Site, statement: ast.If, root: str, lines: str, parts: Parts, asked: Iterable[str] = ()
) -> Repair | Decline:
    """Write ``lines`` for compiled code that has a floating-point tensor, and keep the rest."""
    name = site.spell("torch.compiler.is_compiling")
    if name is None or is_compiled_only(site, statement):
        whole = (Replace(statement, lines, parts),)
        return Repair(_MESSAGE, whole, Applicability.UNSAFE, UNKNOWN_DTYPE.what)
    flags = " and ".join(f"${flag}" for flag in asked)
    body = f"if {flags}:\n{indent(lines, _STEP)}" if flags else lines
    test = f"{name}() and {root}.is_floating_point()"
    split = f"if {test}:\n{indent(body, _STEP)}\nelse:\n{_STEP}$kept"
    return Repair(_FLOATS, (Replace(statement, split, {**parts, "kept": statement}),))


def _judge(
    site: Site,
    node: ast.If | ast.IfExp,
    arms: list[ast.expr],
    root: str,
    name: str | None,
    numbers: Numbers | None = None,
) -> Verdict:
    """Judge that both ways are computed, and that ``name`` always gets a new tensor."""
    parts = [part for arm in arms for part in ast.walk(arm)]
    reads = [n for n in parts if isinstance(n, ast.Name) and n.id == root]
    if not reads:
        return Refused(_OTHER.reason)
    verdicts = [judge_arm(site, arm, root, numbers or {}) for arm in arms]
    verdicts += [judge_number(site, value, root, {}) for value in (numbers or {}).values()]
    verdicts.append(judge_kind(site, node.test, reads[0]))
    if any(isinstance(arm, ast.Name) for arm in arms):
        verdicts.append(judge_copy(site, node, root, name))
    return combine(verdicts)


def _judge_kept(
    site: Site,
    node: ast.If | ast.IfExp,
    test: Condition,
    arms: list[ast.expr],
    root: str,
    name: str | None,
) -> Verdict:
    """Judge what the backward pass needs now: the condition, and what both ways compute with."""
    kept: list[ast.expr] = [*test.parts.values()] if len(test.parts) == 1 else []
    parts = [part for arm in arms if keeps(arm, root) for part in ast.walk(arm)]
    kept += [part for part in parts if isinstance(part, ast.Name) and part.id == root][:1]
    verdicts = [judge_kept(site, node, kept, name)]
    if any(is_kept_result(arm) for arm in arms) and is_written_later(site, node, name):
        verdicts.append(_ANOTHER)
    return combine(verdicts)


def _repair(verdict: Verdict, rewrites: tuple[Rewrite, ...]) -> Repair | Decline:
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    if isinstance(verdict, Changes):
        return Repair(_MESSAGE, rewrites, Applicability.UNSAFE, verdict.what)
    return Repair(_MESSAGE, rewrites)
