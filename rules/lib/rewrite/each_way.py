"""Ways of a branch that give the same variables or attributes: each is chosen on the device.

``if test: a = x``, ``elif flag: a = y``, ``else: a = z`` becomes ``if flag:
a = torch.where(test, x, y)``, ``else: a = torch.where(test, x, z)``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from textwrap import indent
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..facts.conditions import is_tensor_condition
from ..facts.known import certain_tensor
from ..facts.purity import cannot_raise, is_pure
from ..judge.aliases import judge_copy
from ..judge.pointwise import judge_pair
from ..judge.same_device import judge_chosen
from ..judge.saved_for_backward import judge_kept
from ..judge.verdict import PROVED, Changes, Verdict, combine
from .proved import repair_as_proved
from .where_condition import Condition, condition, where_call

_STEP: Final = "    "
_NAME: Final = "chosen"
_MESSAGE: Final = "Compute every branch and select each result with `torch.where`"
_HELD: Final = (
    "`{0}` is a new tensor even where nothing changes: later in-place writes to it no longer reach "
    "other references to `{1}`, nor the other way round"
)
_SAVED: Final = Changes(
    "autograd saves what both branches compute with: writing to it in place makes the backward "
    "pass raise"
)
_Given = dict[str, ast.expr]
_Parts = dict[str, ast.expr | ast.stmt]


@record(frozen=True)
class _Way:
    """What one way gives; ``test`` is that of its `elif`, None for `else`."""

    test: ast.expr | None
    given: dict[str, ast.expr]


def choose_each(site: Site, statement: ast.If) -> Repair | None:
    """Choose each result of a statement whose test asks a tensor; None for any other."""
    first = _given(statement.body)
    others: list[_Way] = []
    for way in _others(site, statement, first) if first else ():
        # The first that cannot be chosen ends it: each of a thousand `elif`s asks for those below.
        if way.given.keys() != first.keys() or not (way.test is None or _is_known(site, way.test)):
            return None
        others.append(way)
    test = condition(site, [statement.test])
    if not others or isinstance(test, Decline):
        return None
    pairs = [(value, way.given[name]) for way in others for name, value in first.items()]
    chosen = [judge_pair(site, *pair) for pair in pairs]
    verdicts = [verdict for verdict in chosen if verdict is not None]
    if len(verdicts) < len(pairs):
        return None
    text, parts = _written(site, statement, test, first, others)
    verdict = combine([*_judge(site, statement, test, first, others), *verdicts])
    repair = repair_as_proved(verdict, _MESSAGE, (Replace(statement, text, parts),))
    return repair if isinstance(repair, Repair) else None


def _given(body: list[ast.stmt]) -> _Given:
    """What one way gives, by its targets; nothing where it does something else."""
    found: _Given = {}
    for statement in body:
        match statement:
            case ast.Assign(
                targets=[ast.Name() | ast.Attribute(value=ast.Name()) as target], value=value
            ) if ast.unparse(target) not in found:
                found[ast.unparse(target)] = value
            case _:
                return {}
    return found


def _others(site: Site, statement: ast.If, first: _Given) -> Iterator[_Way]:
    """The ways where the first test is false; without `else` everything stays what it is."""
    rest = statement.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        inner = rest[0]
        yield _Way(inner.test, _given(inner.body))
        rest = inner.orelse
    if rest:
        yield _Way(None, _given(rest))
    elif statement.orelse:
        yield _Way(None, {})  # nothing that could be chosen
    else:
        yield _Way(None, _unchanged(site, first))


def _unchanged(site: Site, first: _Given) -> _Given:
    """What is there where nothing is given: each target as the first way reads it.

    An attribute that holds a parameter takes no other tensor: torch raises where it is given one.
    """
    found: _Given = {}
    for name, value in first.items():
        for part in ast.walk(value):
            if isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name:
                found[name] = part
    kept = (site.value(part) for part in found.values() if isinstance(part, ast.Attribute))
    return {} if any(isinstance(k, Tensor) and k.role == "parameter" for k in kept) else found


def _is_known(site: Site, test: ast.expr) -> bool:
    """True for a test that is known while tracing, and may be asked where it was not before."""
    return is_pure(site, test) and not is_tensor_condition(site, test)


def _judge(
    site: Site, statement: ast.If, test: Condition, first: _Given, others: list[_Way]
) -> Iterator[Verdict]:
    """Judge that all ways are computed, and each result is chosen."""
    yield test.verdict
    if len(test.parts) == 1:
        yield judge_kept(site, statement, test.parts.values(), None)
    for way in others:
        if way.test is not None and not cannot_raise(site, way.test):
            yield Changes(f"`{site.text(way.test)}` is always evaluated, and may raise")
        for name, value in first.items():
            arms = (value, way.given[name])
            yield judge_chosen(site, test.parts.values(), arms)
            for arm in arms:
                yield from _judge_arm(site, statement, name, arm)


def _judge_arm(site: Site, statement: ast.If, name: str, arm: ast.expr) -> Iterator[Verdict]:
    """Judge what a way gives as it is, and what autograd may keep of the others."""
    if isinstance(arm, (ast.Name, ast.Attribute)):
        copied = judge_copy(site, statement, arm.id, name) if isinstance(arm, ast.Name) else PROVED
        yield copied if copied != PROVED else Changes(_HELD.format(name, site.text(arm)))
        return
    loads = {p.id: p for p in ast.walk(arm) if isinstance(p, ast.Name) and _is_tensor(site, p)}
    proved = judge_kept(site, statement, loads.values(), None) == PROVED
    yield PROVED if proved else _SAVED


def _is_tensor(site: Site, name: ast.Name) -> bool:
    return certain_tensor(site, name) is not None


def _written(
    site: Site, statement: ast.If, test: Condition, first: _Given, others: list[_Way]
) -> tuple[str, _Parts]:
    """The statements that choose; a test that is asked more than once has a name."""
    parts: _Parts = {}
    asked, comments = test, _comments(site, statement)
    lines = _above(comments, statement.body[-1])
    if len(first) * len(others) > 1 and not _is_kept(test, first):
        asked = Condition(_free(site, _NAME), {}, test.negated)
        lines.append(f"{asked.template} = {test.template}")
        parts.update(test.parts)
    for number, way in enumerate(others):
        inner = _STEP if way.test or number else ""
        if way.test:
            parts[f"way_{number}"] = way.test
            lines += [*_above(comments, way.test), f"{'el' if number else ''}if $way_{number}:"]
        elif number:
            lines.append("else:")
        for name, value in first.items():
            own, other = f"{number}_{len(parts)}", way.given[name]
            column = statement.col_offset + len(inner) + len(name) + 3
            template, given = where_call(site, asked, [value, other], column)
            chosen = [*_above(comments, other), f"{name} = {_renamed(template, own)}"]
            lines += [indent(line, inner) for line in chosen]
            parts |= {key + own if key in "ab" else key: one for key, one in given.items()}
    return "\n".join([*lines, *comments.values()]), parts


def _is_kept(test: Condition, first: _Given) -> bool:
    """True for a test that is a variable, which none of the ways gives."""
    names = [part.id for part in test.parts.values() if isinstance(part, ast.Name)]
    return test.template == "$test" and len(names) == 1 and names[0] not in first


def _comments(site: Site, statement: ast.If) -> dict[int, str]:
    """The comments of a statement by their rows; the one behind its test stays where it is."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    text = "".join(site.module.file.lines[first - 1 : last])
    tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    found = {t.start[0] + first - 1: t.string for t in tokens if t.type == tokenize.COMMENT}
    begins = statement.body[0].lineno
    colons = [t.start[0] + first - 1 for t in tokens if t.exact_type == tokenize.COLON]
    behind = max((row for row in colons if row < begins), default=0)
    return {row: comment for row, comment in found.items() if row != behind}


def _above(comments: dict[int, str], node: ast.expr | ast.stmt) -> list[str]:
    """Take out the comments up to the end of a node."""
    last = node.end_lineno or node.lineno
    return [comments.pop(row) for row in sorted(comments) if row <= last]


def _renamed(template: str, own: str) -> str:
    """A call whose arms have names of their own."""
    return re.sub(r"\$([ab])\b", rf"$\g<1>{own}", template)


def _free(site: Site, name: str) -> str:
    """A name that the function does not use."""
    parts = [*ast.walk(site.body.scope)]
    taken = {n.id for n in parts if isinstance(n, ast.Name)}
    taken |= {a.arg for a in parts if isinstance(a, ast.arg)}
    while name in taken:
        name += "_"
    return name
