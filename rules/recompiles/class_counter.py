"""TCL228: compiled code counts in an attribute of a class."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ClassWrite
from tclint.semantics.lattice import options
from tclint.semantics.values import Static

from .attributes import is_integer

_CALLS = "[(torch.ones(3),) for _ in range(10)]"


class ClassCounter(Rule[ClassWrite]):
    """Compiled code counts in an attribute that all instances of a class share.

    ## What it does
    Reports `Net.calls += 1`, `type(self).calls += 1` and `self.__class__.calls += 1` in compiled
    code where the class sets the attribute to an integer.

    ## Why it hurts
    Dynamo compiles the value into the code, so that the next call finds another value and compiles
    again: 8 times in 12 calls on torch 2.13, then the function runs eagerly. Every instance that
    is compiled makes the others compile again, too.

    ## Fix safety
    None is offered: count where the compiled function is called, or in a buffer of the instance.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL228"
    name = "class-counter-in-region"
    summary = "counting in an attribute of a class compiles again on each call"
    on = ClassWrite
    effects = (Effect.RECOMPILE,)
    examples = (
        Untouched(
            """
class f(nn.Module):
    calls = 0

    def forward(self, x):
        f.calls += 1
        return x * 2
""",
            "is called",
            _CALLS,
            proves=("recompile",),
        ),
        Untouched(
            """
class f(nn.Module):
    calls = 0

    def forward(self, x):
        type(self).calls += 1
        return x * 2
""",
            "is called",
            _CALLS,
            proves=("recompile",),
            title="the class of the instance",
        ),
        Good(
            """
class f(nn.Module):
    last = None

    def forward(self, x):
        f.last = x.shape
        return x * 2
""",
            title="something that stays the same",
        ),
    )

    def check(self, event: ClassWrite) -> Finding | None:
        """Look for an integer of the class that is counted."""
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
            f"`{name}` is compiled in as a number: each call with another one compiles again",
            Decline("count it where the compiled function is called, or in a buffer"),
        )


def _starts_whole(event: ClassWrite) -> bool:
    """True for ``calls = 0`` in the body of the class."""
    for statement in event.owner.node.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as start)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as start)
            ) if name == event.attribute:
                return is_integer(start)
    return False
