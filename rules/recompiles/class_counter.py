"""TCL228: compiled code counts in an attribute of a class."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ClassWrite
from tclint.semantics.lattice import options
from tclint.semantics.values import Static

from .attributes import is_integer_literal


class ClassCounter(Rule[ClassWrite]):
    """Compiled code counts in an attribute that all instances of a class share."""

    code = "TCL228"
    name = "class-counter-in-region"
    summary = "Counting in a class attribute recompiles on each call"
    instead = "Count where the compiled function is called, or in a buffer of the instance"
    on = ClassWrite
    effects = (Effect.RECOMPILE,)

    def check(self, event: ClassWrite) -> Finding | None:
        """Look for an integer of the class that is counted."""
        if not event.site.facts.recurs:
            return None
        match event.site.statement:
            case ast.AugAssign(target=event.target, op=ast.Add() | ast.Sub(), value=step):
                pass
            case _:
                return None
        steps = options(event.site.value(step))
        counted = all(isinstance(v, Static) and v.type == "int" for v in steps)
        if not counted or not _starts_whole(event):
            return None
        name = event.site.text(event.target)
        return Finding(
            f"`{name}` is compiled in as a constant: each call with a new value recompiles",
            Advice("count where the compiled function is called, or in a buffer"),
        )


def _starts_whole(event: ClassWrite) -> bool:
    """True for ``calls = 0`` in the body of the class."""
    for statement in event.owner.node.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as start)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as start)
            ) if name == event.attribute:
                return is_integer_literal(start)
    return False
