"""TCL225: compiled code counts in a variable of the file."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import GlobalsDeclared
from tclint.semantics.lattice import options
from tclint.semantics.values import Static

_CALLS = "[(torch.ones(3),) for _ in range(10)]"


class GlobalCounter(Rule[GlobalsDeclared]):
    """Compiled code counts in a global variable.

    ## What it does
    Reports `global CALLS` with `CALLS += 1` in compiled code.

    ## Why it hurts
    Dynamo compiles the value of a global integer into the code, so that the next call finds another
    value and compiles again: 8 times in 10 calls on torch 2.13, then the function runs eagerly.

    ## Fix safety
    None is offered: count where the compiled function is called.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL225"
    name = "global-counter-in-region"
    summary = "counting in a global variable compiles again on each call"
    on = GlobalsDeclared
    effects = (Effect.RECOMPILE,)
    examples = (
        Untouched(
            """
CALLS = 0


def f(x):
    global CALLS
    CALLS += 1
    return x * 2
""",
            "is called",
            _CALLS,
            proves=("recompile",),
        ),
        Good(
            """
LAST = None


def f(x):
    global LAST
    LAST = x.shape
    return x * 2
""",
            title="something that stays the same",
        ),
    )

    def check(self, event: GlobalsDeclared) -> Finding | None:
        """Look for a declared name that is counted."""
        name = next((n for n in event.names if _is_counted(event, n)), None)
        if name is None:
            return None
        return Finding(
            f"`{name}` is compiled in as a number: each call with another one compiles again",
            Decline("count it where the compiled function is called"),
            confidence=Confidence.HIGH,
        )


def _is_counted(event: GlobalsDeclared, name: str) -> bool:
    for store in event.site.stores(name):
        match event.site.parent(store):
            case ast.AugAssign(op=ast.Add() | ast.Sub(), value=step):
                values = (*options(event.site.value(store)), *options(event.site.value(step)))
                if all(isinstance(v, Static) and v.type == "int" for v in values):
                    return True
    return False
