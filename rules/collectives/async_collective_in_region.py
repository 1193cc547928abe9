"""TCL151: an asynchronous collective."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call

from ..lib.facts.uses import uses_of
from .facts import PACKAGE, REWRITTEN, short_name


class AsyncCollectiveInRegion(Rule[Call]):
    """An asynchronous collective in compiled code."""

    code = "TCL151"
    name = "async-collective-in-region"
    summary = "`async_op=True` makes a collective break the graph"
    instead = (
        "Call it without `async_op=True` and use its result: Inductor overlaps it with other work"
    )
    on = Call
    called = REWRITTEN
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0172",)

    def check(self, event: Call) -> Finding | None:
        """Look for a literal ``async_op=True``."""
        name = short_name(event.function)
        if not event.function.startswith(PACKAGE) or name not in REWRITTEN:
            return None
        options = {k.arg: k.value for k in event.call.keywords}
        if not isinstance(flag := options.get("async_op"), ast.Constant) or flag.value is not True:
            return None
        waits = _waits_for(event, event.site.statement)
        return Finding(
            f"`{name}` breaks the graph because of `async_op=True`",
            fix=_repair(event, waits),
            related=tuple(waits or ()),
        )


def _waits_for(event: Call, statement: ast.stmt) -> list[ast.stmt] | None:
    """The statements that wait for the handle; None when it serves for anything else."""
    if isinstance(statement, ast.Expr):
        return [] if _wait(event, event.call) is statement else None
    uses = uses_of(event.site, event.call)
    waits = [_wait(event, use) for use in uses.nodes]
    found = [wait for wait in waits if wait is not None]
    return found if not uses.lost and len(found) == len(waits) > 0 else None


def _wait(event: Call, handle: ast.AST) -> ast.stmt | None:
    """The statement ``handle.wait()``."""
    match list(event.site.ancestors(handle))[:3]:
        case [ast.Attribute(attr="wait"), ast.Call(args=[], keywords=[]), ast.Expr() as statement]:
            return statement
    return None


def _repair(event: Call, waits: list[ast.stmt] | None) -> Repair | Decline:
    """Call synchronously and drop every ``wait()``."""
    statement = event.site.statement
    if waits is None:
        return Decline("the handle is used for more than `wait()`")
    arguments = {f"a{i}": node for i, node in enumerate(event.call.args)}
    keywords = {k.arg: k.value for k in event.call.keywords if k.arg and k.arg != "async_op"}
    starred = any(isinstance(node, ast.Starred) for node in event.call.args)
    if starred or len(keywords) + 1 != len(event.call.keywords):
        return Decline("the call uses `*args`/`**kwargs`")
    named = [f"{key}=$k_{key}" for key in keywords]
    template = f"$function({', '.join([*(f'${key}' for key in arguments), *named])})"
    parts = {**arguments, **{f"k_{key}": value for key, value in keywords.items()}}
    return Repair(
        "Drop `async_op=True` and the `wait()`",
        (
            Replace(statement, template, {"function": event.call.func, **parts}),
            *(Replace(wait, "") for wait in waits),
        ),
        Change.BEHAVIOUR,
        changes="in eager mode, the communication no longer overlaps with the work before `wait()`",
    )
