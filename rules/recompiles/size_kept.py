"""TCL224: a module remembers the size of its last input."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import options
from tclint.semantics.values import SymInt


class SizeKeptOnModule(Rule[ModuleWrite]):
    """A module stores the size of an input in an attribute and reads it on the next call."""

    code = "TCL224"
    name = "size-kept-on-module"
    summary = "An attribute that holds the last input's size recompiles for each new size"
    instead = (
        "Build what depends on the size in `__init__` for the largest size, or build it on each "
        "call"
    )
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report sizes that are kept and read again."""
        if not any(isinstance(kind, SymInt) for kind in options(event.value)):
            return None
        if event.augmented or not _is_plain(event) or not _is_read(event) or _is_set_once(event):
            return None
        name = event.site.text(event.target)
        return Finding(
            f"`{name}` stores a size of the last input: each new size changes it and recompiles",
            Advice("build what depends on the size for the largest one, or on each call"),
            confidence=Confidence.MEDIUM,
        )


def _is_plain(event: ModuleWrite) -> bool:
    """False for what a choice or a minimum bounds: it soon stays the same."""
    match getattr(event.site.statement, "value", None):
        case ast.Name() | ast.Subscript():
            return True
        case ast.Call(func=ast.Name(id="len" | "max" | "int") | ast.Attribute(attr="size")):
            return True
    return False


def _is_read(event: ModuleWrite) -> bool:
    """True when a condition reads what the call before left there."""
    written = event.site.statement.lineno
    nodes = ast.walk(event.site.body.scope)
    tests = (n.test for n in nodes if isinstance(n, ast.If) and n.lineno < written)
    return any(
        isinstance(node, ast.Attribute) and node.attr == event.attribute
        for test in tests
        for node in ast.walk(test)
    )


def _is_set_once(event: ModuleWrite) -> bool:
    """True below `if self.size is None`: the second size changes nothing any more."""
    for outer in event.site.ancestors(event.site.statement):
        match outer:
            case ast.If(
                test=ast.Compare(
                    left=ast.Attribute(attr=name), ops=[ast.Is()], comparators=[ast.Constant(None)]
                ),
                body=body,
            ) if name == event.attribute and event.site.statement in body:
                return True
    return False
