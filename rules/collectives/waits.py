"""Where an asynchronous collective is waited for."""

from __future__ import annotations

import ast

from tclint.semantics.events import Call


def waits_for(event: Call, statement: ast.stmt) -> list[ast.stmt] | None:
    """The statements that wait for the handle; None when it serves for anything else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=handle)], value=value) if value is event.call:
            waits = [_wait(event, load) for load in event.site.loads(handle)]
            found = [wait for wait in waits if wait is not None]
            alone = len(event.site.stores(handle)) == 1 and len(found) == len(waits) > 0
            return found if alone else None
        case ast.Expr() if _wait(event, event.call) is statement:
            return []
    return None


def _wait(event: Call, handle: ast.AST) -> ast.stmt | None:
    """The statement ``handle.wait()``."""
    match list(event.site.ancestors(handle))[:3]:
        case [ast.Attribute(attr="wait"), ast.Call(args=[], keywords=[]), ast.Expr() as statement]:
            return statement
    return None
