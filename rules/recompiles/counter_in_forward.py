"""TCL220: a module counts its calls in an integer."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import options
from tclint.semantics.values import Static, SymInt

from .counters import count_in_buffer, counted
from .emptied import only_records

_CALLS = "[(torch.ones(3),) for _ in range(10)]"


def _module(start: str, body: str) -> str:
    """A module whose ``__init__`` runs ``start``; the statements of ``forward`` parted by ``|``."""
    lines = "\n".join(f"        {line}" for line in body.split("|"))
    return f"""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        {start}

    def forward(self, x):
{lines}
"""


_BUFFER = 'self.register_buffer("step", torch.tensor(0), persistent=False)'


class CounterInForward(Rule[ModuleWrite]):
    """An integer attribute of a module is counted up in compiled code.

    ## What it does
    Reports `self.step += 1`, `self.step -= 1` and `self.step = self.step + 1` of integers in
    compiled methods of modules; with low confidence where `forward` hands its input on, since
    such observers are seldom compiled.

    ## Why it hurts
    Dynamo compiles the value of an integer attribute into the code, so that the next call finds
    another value and compiles again: eight times on torch 2.13, and from then on the function
    runs eagerly. Floats are compiled twice, then they are inputs of the graph.

    ## Fix safety
    The attribute becomes a buffer that is not saved: `state_dict` keeps its keys, and copies and
    pickles keep the count. Where the number is used the sum is a new tensor, since autograd may
    still need the old one. Never safe, because who looks at the attribute from outside finds a
    tensor. Declined where the number decides a branch
    or is an index or a size, where another method uses it, and where `__init__` does not set it to
    a literal.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL220"
    name = "counter-in-forward"
    summary = "counting in an integer attribute compiles again on each call"
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)
    examples = (
        Bad(
            _module("self.step = 0", "self.step += 1|return x * 2"),
            _CALLS,
            unsafe=_module(_BUFFER, "self.step += 1|return x * 2"),
            proves=("recompile",),
        ),
        Bad(
            _module("self.step = 0", "self.step += 1|return x.float() / self.step"),
            _CALLS,
            unsafe=_module(_BUFFER, "self.step = self.step + 1|return x.float() / self.step"),
            proves=("recompile",),
            title="the number meets tensors",
        ),
        Untouched(
            _module("self.step = 0", "self.step += 1|return x if self.step > 3 else x * 2"),
            "decides a branch",
            _CALLS,
            proves=("recompile",),
            title="a warm-up",
        ),
        Good(
            _module("self.scale = 1.0", "self.scale *= 0.5|return x * 2"),
            "[(torch.ones(3),)]",
            title="a float",
        ),
    )

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report integers that are counted."""
        added = counted(event)
        if added is None or not _is_integer(event):
            return None
        name = event.site.text(event.target)
        return Finding(
            f"`{name}` is compiled in as a number: each call with another one compiles again",
            count_in_buffer(event),
            confidence=Confidence.LOW if only_records(event.site) else None,
        )


def _is_integer(event: ModuleWrite) -> bool:
    kinds = list(options(event.value))
    return all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type == "int")
        for kind in kinds
    )
