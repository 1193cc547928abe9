"""TCL520: a moving average of a model that is updated one tensor at a time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final, TypeGuard

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.regexes import regex
from tclint.semantics.events import ParameterLoop
from tclint.semantics.site import Site
from tclint.semantics.syntax import names_in, nodes

from ..lib.facts.tensor_lists import (
    Names,
    is_of_a_state,
    is_over_tensors,
    loop_names,
    may_be_gone_over_twice,
)
from ..lib.facts.training_loops import called, runs_every_time

_AVERAGES: Final = regex(
    r"ema|average|averag|momentum|moving|shadow|polyak|teacher|soft_?update|target|swa",
    re.IGNORECASE,
)
_ONCE: Final = regex(r"^_*(init|reset|load|restore|copy|save|store)|_init$")
_CHANGES: Final = (
    "it raises where there are no tensors or their numbers differ, and averages in 16 bits may "
    "differ in the last one"
)


@record(frozen=True)
class _Update:
    """``average`` moves towards ``new``: by ``lerp_(new, weight)``, or ``mul_(decay)``, ``add_``.

    Where the new value is added without a weight, ``weight`` is None.
    """

    average: ast.expr
    new: ast.expr
    decay: ast.expr | None
    weight: ast.expr | None


class AveragesOneByOne(Rule[ParameterLoop]):
    """A loop updates a moving average of a model's parameters one tensor at a time."""

    code = "TCL520"
    name = "averages-one-by-one"
    summary = "A moving average of a model launches two kernels for each of its tensors"
    instead = "Average all tensors at once with `torch._foreach_lerp_`"
    worth = Worth.MEDIUM
    measured = "5% to 14% of a training step in 6 of 8 cases (H200)"
    on = ParameterLoop
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True

    def check(self, event: ParameterLoop) -> Finding | None:
        """Look for a loop over the tensors of modules that averages in place."""
        site, loop = event.site, event.loop
        names = loop_names(loop)
        if not isinstance(loop, ast.For) or names is None or not is_over_tensors(site, loop.iter):
            return None
        statements, condition = _innermost(loop)
        averaged = _average(statements, names)
        if averaged is None or _is_done_at_once(site) or _ONCE.search(_function(site)):
            return None
        return Finding(
            "Each tensor is averaged by kernels of its own, launched one after the other",
            _repair(site, loop, names, averaged, condition),
            confidence=_confidence(event),
        )


def _innermost(loop: ast.For) -> tuple[list[ast.stmt], ast.expr | None]:
    """The statements of a loop, below `with` and one `if`, and the condition of that."""
    match loop.body:
        case [ast.With(body=body)]:
            statements = body
        case _:
            statements = loop.body
    match statements:
        case [ast.If(test=test, body=body, orelse=[])]:
            return body, test
    return statements, None


def _average(statements: list[ast.stmt], names: Names) -> _Update | Decline | None:
    """What is averaged; a reason where it is another way than `mul_` and `add_`, or `lerp_`."""
    updates = [update for s in statements if (update := _update_of(s)) is not None]
    if len(statements) == 1 and updates:
        found: _Update | None = updates[0]
    else:
        found = _in_two(statements)
    if found is not None and _is_average(found, names):
        return found
    return _written_out(statements, names)


def _update_of(statement: ast.stmt) -> _Update | None:
    """``a.lerp_(b, w)`` and ``a.mul_(d).add_(b, alpha=w)``, also with ``.add_(w * b)``."""
    if not isinstance(statement, ast.Expr):
        return None
    match statement.value:
        case ast.Call(func=ast.Attribute(value=average, attr="lerp_"), args=args, keywords=given):
            both = [*args, *(k.value for k in given if k.arg in ("end", "weight"))]
            if len(both) == 2:
                return _Update(average, both[0], None, both[1])
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(
                    func=ast.Attribute(value=average, attr="mul_"), args=[decay], keywords=[]
                ),
                attr="add_",
            )
        ):
            return _added(average, decay, statement.value)
    return None


def _in_two(statements: list[ast.stmt]) -> _Update | None:
    """``a.mul_(d)`` and then ``a.add_(b, alpha=w)``; also as ``a *= d`` and ``a += w * b``."""
    match statements:
        case [
            ast.Expr(value=ast.Call(func=ast.Attribute(value=average, attr="mul_"), args=[decay])),
            ast.Expr(value=ast.Call(func=ast.Attribute(value=again, attr="add_")) as added),
        ] if ast.dump(average) == ast.dump(again):
            return _added(average, decay, added)
        case [
            ast.AugAssign(target=ast.Name() as first, op=ast.Mult(), value=decay),
            ast.AugAssign(target=ast.Name() as second, op=ast.Add(), value=new),
        ] if first.id == second.id:
            return _Update(first, new, decay, None)
    return None


def _added(average: ast.expr, decay: ast.expr, call: ast.Call) -> _Update | None:
    match call:
        case ast.Call(args=[new], keywords=[ast.keyword(arg="alpha", value=weight)]):
            return _Update(average, new, decay, weight)
        case ast.Call(args=[new], keywords=[]):
            return _Update(average, new, decay, None)
    return None


def _is_average(update: _Update, names: Names) -> bool:
    """True where both tensors are the loop's, and no number is."""
    numbers = [number for number in (update.decay, update.weight) if number is not None]
    return (
        not names.bound.isdisjoint(names_in(update.average))
        and not names.bound.isdisjoint(names_in(update.new))
        and not any(names.bound & names_in(number) for number in numbers)
    )


def _written_out(statements: list[ast.stmt], names: Names) -> Decline | None:
    """A reason for an average that is written as a sum, or as a difference; None for all else."""
    match statements[-1:]:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr="copy_"), args=[new]))]:
            is_one = _is_sum(new)
        case [ast.Assign(targets=[ast.Attribute(attr="data", value=kept)], value=new)]:
            is_one = _is_sum(new)
        case [ast.Assign(targets=[ast.Subscript() as kept], value=new)]:
            new = _computed(new, statements)
            is_one = _is_sum(new) and ast.unparse(kept) in map(ast.unparse, _terms(new))
        case [
            ast.Expr(
                value=ast.Call(func=ast.Attribute(value=kept, attr="sub_" | "add_"), args=[new])
            )
        ]:
            is_one = _is_step_towards(new, kept)
        case [ast.AugAssign(target=kept, op=ast.Sub() | ast.Add(), value=new)]:
            is_one = _is_step_towards(new, kept)
        case _:
            return None
    known = names_in(kept) | {n for s in statements for n in _stored(s)}
    mentioned = names_in(new)
    if not is_one or names.bound.isdisjoint(known) or not mentioned & (names.bound | known):
        return None
    return Advice(
        "write it in place first, as `average.mul_(decay).add_(new, alpha=1 - decay)`: the bits "
        "may differ from what is computed here"
    )


def _is_sum(new: ast.expr) -> bool:
    """True for ``d * a + (1 - d) * b``, and for a call that says so."""
    match new:
        case ast.BinOp(left=ast.BinOp(op=ast.Mult()), op=ast.Add(), right=ast.BinOp(op=ast.Mult())):
            return True
        case ast.Call(func=ast.Attribute(attr="lerp" | "update_average")):
            return True
    return False


def _is_step_towards(new: ast.expr, kept: ast.expr) -> bool:
    """True for ``w * (a - b)`` of what it is added to, or taken from."""
    match new:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            differences = [part for part in (left, right) if _is_difference(part)]
            sides = [side for part in differences for side in (part.left, part.right)]
            return ast.unparse(kept) in map(ast.unparse, sides)
    return False


def _is_difference(node: ast.expr) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _computed(new: ast.expr, statements: list[ast.stmt]) -> ast.expr:
    """What a value is computed as: behind `.clone()`, and behind a variable of the loop."""
    match new:
        case ast.Call(func=ast.Attribute(value=inner, attr="clone" | "detach"), args=[]):
            return _computed(inner, statements)
        case ast.Name(id=name):
            for statement in statements:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                        return value
    return new


def _terms(new: ast.expr) -> Iterator[ast.expr]:
    return (node for node in nodes(new) if isinstance(node, (ast.Subscript, ast.Name)))


def _stored(statement: ast.stmt) -> Iterator[str]:
    for node in nodes(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _function(site: Site) -> str:
    scope = site.body.scope
    return "" if isinstance(scope, (ast.Module, ast.Lambda)) else scope.name


def _is_done_at_once(site: Site) -> bool:
    """True where the function has a way with `torch._foreach_*` already."""
    return any(
        isinstance(node, ast.Attribute) and node.attr.startswith("_foreach_")
        for node in nodes(site.body.scope)
    )


def _confidence(event: ParameterLoop) -> Confidence:
    """High in a step, medium where a name says what it is for: an average is kept all the time."""
    if event.body is not None and runs_every_time(event.site, event.loop, event.body):
        return Confidence.HIGH
    info = event.site.body.function
    said = info.qualname if info is not None else _function(event.site)
    return Confidence.MEDIUM if _AVERAGES.search(said) else Confidence.LOW


def _repair(
    site: Site,
    loop: ast.For,
    names: Names,
    update: _Update | Decline,
    condition: ast.expr | None,
) -> Repair | Decline:
    """Make two lists of the tensors that the loop went over, and average these."""
    if isinstance(update, Decline):
        return update
    spelled = site.spell("torch")
    obstacle = _obstacle(site, loop, names, update, spelled)
    if obstacle is not None:
        return Decline(obstacle)
    taken = names_in(site.body.scope)
    averages, news = (_free(name, taken) for name in ("averages", "news"))
    parts: dict[str, ast.expr | ast.stmt] = {}
    lines = [
        f"{averages} = {_listed(names, update.average, condition, parts, 'a')}",
        f"{news} = {_listed(names, update.new, condition, parts, 'b')}",
    ]
    if update.decay is None and update.weight is not None:
        parts["weight"] = update.weight
        lines.append(f"{spelled}._foreach_lerp_({averages}, {news}, $weight)")
    elif update.decay is not None:
        parts["decay"] = update.decay
        lines.append(f"{spelled}._foreach_mul_({averages}, $decay)")
        weight = "" if update.weight is None else ", alpha=$weight"
        parts |= {} if update.weight is None else {"weight": update.weight}
        lines.append(f"{spelled}._foreach_add_({averages}, {news}{weight})")
    template = "\n".join(lines)
    if isinstance(loop.body[0], ast.With):
        entered = loop.body[0].items
        if len(entered) != 1 or entered[0].optional_vars is not None:
            return Decline("the `with` statement in the loop enters more than one context manager")
        parts["entered"] = entered[0].context_expr
        template = "with $entered:\n" + "\n".join(f"    {line}" for line in lines)
    return Repair(
        "Average all tensors at once",
        (Replace(loop, template, parts),),
        Change.BEHAVIOUR,
        changes=_CHANGES,
    )


def _obstacle(
    site: Site, loop: ast.For, names: Names, update: _Update, spelled: str | None
) -> str | None:
    """Why the loop cannot be written with lists."""
    if spelled is None:
        return "the file does not import torch"
    if loop.orelse or loop.type_comment:
        return "the loop has an `else`"
    if any(isinstance(n, ast.Call) and not _is_alias(n) for n in nodes(update.new)):
        return "the new values are computed first, and would take as much memory as the model"
    if any(isinstance(n, ast.Call) and not _is_alias(n) for n in nodes(update.average)):
        return "what is averaged is computed by a call"
    if is_of_a_state(site, names.iterable) or is_of_a_state(site, update.average):
        return "a `state_dict()` holds tied parameters more than once: loop over `parameters()`"
    numbers = [number for number in (update.decay, update.weight) if number is not None]
    if any(isinstance(n, ast.Call) for number in numbers for n in nodes(number)):
        return "the weight is computed by a call, anew for each tensor"
    if isinstance(update.new, ast.BinOp):
        return "write the weight as `alpha`: the product is a tensor of its own for each parameter"
    if not may_be_gone_over_twice(site, names.iterable) and _one_each(names, update) is None:
        return "the loop may run over an iterator, which can be used only once"
    inside = set(nodes(loop))
    made = [one for name in names.bound for one in site.flow.made(name) if one.node is loop]
    if any(not inside.issuperset(site.flow.reads(one)) for one in made):
        return "the loop's variables are used afterwards"
    return None


def _is_alias(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="detach"), args=[], keywords=[]):
            return True
    return False


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _listed(
    names: Names,
    tensor: ast.expr,
    condition: ast.expr | None,
    parts: dict[str, ast.expr | ast.stmt],
    key: str,
) -> str:
    """A list of one of the loop's tensors: of all that it is in turn."""
    parts[key] = tensor
    own = _own_iterable(names, tensor) if condition is None else None
    if own is not None:
        target, iterable = own
        parts[f"{key}_in"] = iterable
        if isinstance(tensor, ast.Name) and isinstance(target, ast.Name):
            del parts[key]
            return f"${key}_in" if called(iterable) == "list" else f"list(${key}_in)"
        parts[f"{key}_for"] = target
        return f"[${key} for ${key}_for in ${key}_in]"
    parts[f"{key}_for"], parts[f"{key}_in"] = names.target, names.iterable
    if condition is None:
        return f"[${key} for ${key}_for in ${key}_in]"
    parts[f"{key}_if"] = condition
    return f"[${key} for ${key}_for in ${key}_in if ${key}_if]"


def _own_iterable(names: Names, tensor: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Of `zip`, the part that alone gives a tensor."""
    mentioned = names_in(tensor) & names.bound
    match names.target, names.iterable:
        case (
            ast.Tuple(elts=targets),
            ast.Call(func=ast.Name(id="zip"), args=iterables, keywords=keywords),
        ) if len(targets) == len(iterables) and all(k.arg == "strict" for k in keywords):
            for target, iterable in zip(targets, iterables, strict=True):
                if mentioned <= names_in(target):
                    return target, iterable
    return None


def _one_each(names: Names, update: _Update) -> tuple[ast.expr, ast.expr] | None:
    """The two parts of `zip` that each list is made from, if there are two."""
    one, two = _own_iterable(names, update.average), _own_iterable(names, update.new)
    return (one[1], two[1]) if one and two and one[1] is not two[1] else None
