"""TCL224: a module remembers the size of its last input."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import options
from tclint.semantics.values import SymInt

_SIZES = "[(torch.ones(n),) for n in range(3, 13)]"


class SizeKeptOnModule(Rule[ModuleWrite]):
    """A module keeps the size of an input in an attribute, and reads it on the next call.

    ## What it does
    Reports `self.n = x.shape[0]` in compiled methods behind an `if` that reads `self.n`: caches
    that are built anew when the input is longer than before.

    ## Why it hurts
    Dynamo compiles the number into the code and guards on it. Each call with another size changes
    the attribute, so that it compiles again: 8 times in 10 sizes on torch 2.13, then the function
    runs eagerly. An attribute that is only written compiles once more.

    ## Fix safety
    None is offered: build what depends on the size for the largest one in `__init__`, or on each
    call, where inductor fuses it with what follows.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL224"
    name = "size-kept-on-module"
    summary = "an attribute that holds the last input's size compiles again for each size"
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)
    examples = (
        Untouched(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.longest = 0
        self.places = torch.arange(0)

    def forward(self, x):
        n = x.shape[0]
        if n > self.longest:
            self.longest = n
            self.places = torch.arange(n, device=x.device)
        return x + self.places[:n]
""",
            "largest one",
            _SIZES,
            proves=("recompile",),
        ),
        Good(
            """
class f(nn.Module):
    def forward(self, x):
        return x + torch.arange(x.shape[0], device=x.device)
""",
            "(torch.ones(4),)",
            title="made on each call",
        ),
    )

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report sizes that are kept and read again."""
        if not any(isinstance(kind, SymInt) for kind in options(event.value)):
            return None
        if event.augmented or not _is_plain(event) or not _is_read(event) or _is_set_once(event):
            return None
        name = event.site.text(event.target)
        return Finding(
            f"`{name}` keeps a size of the last input: each new size changes it, and compiles "
            "again",
            Decline("build what depends on it for the largest one, or on each call"),
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
