"""TCL222: a list grows from call to call."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ContainerGrown
from tclint.semantics.lattice import options
from tclint.semantics.values import Sequence

from .emptied import emptied_elsewhere, emptied_here, inherits, only_records

_CALLS = "[(torch.ones(3),) for _ in range(10)]"
_LISTS: Final = frozenset({"list", "deque"})
_DECLINED: Final = Decline("who reads the list is not known: return the value, or keep a tensor")


class GrowingList(Rule[ContainerGrown]):
    """A list that outlives the call gets a member on each call of compiled code.

    ## What it does
    Reports `self.history.append(x)`, `extend` and `insert` on lists that `__init__` makes, and on
    lists of the file, in compiled code. A list that the same function makes anew or clears is
    silent; one that another method empties is reported with low confidence, as is a module that
    hands its input on and only records, and one whose class inherits from others of the project.

    ## Why it hurts
    Dynamo guards on the length of a list that it changes, so that the next call finds a longer one
    and compiles again: 8 times in 10 calls on torch 2.13, and from then on the function runs
    eagerly. What is collected also keeps its tensors, and with gradients their graphs, in memory.

    ## Fix safety
    None is offered. Return what is collected, append it outside of compiled code, or write it into
    a buffer of fixed size.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL222"
    name = "growing-list-in-forward"
    summary = "a list that grows from call to call compiles again on each"
    on = ContainerGrown
    effects = (Effect.RECOMPILE,)
    examples = (
        Untouched(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        y = x * 2
        self.history.append(y.mean())
        return y
""",
            "return the value",
            _CALLS,
            proves=("recompile",),
        ),
        Untouched(
            """
SEEN = []


def f(x):
    SEEN.append(x.shape)
    return x * 2
""",
            "return the value",
            _CALLS,
            proves=("recompile",),
            title="a list of the file",
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        self.history = []
        self.history.append(x * 2)
        return x * 2
""",
            _CALLS,
            title="made anew on each call",
        ),
    )

    def check(self, event: ContainerGrown) -> Finding | None:
        """Report lists that nothing empties in the same call."""
        kinds = options(event.site.value(event.container))
        lists = [kind for kind in kinds if isinstance(kind, Sequence) and kind.type in _LISTS]
        if not event.method or not lists or emptied_here(event):
            return None
        name = event.site.text(event.container)
        return Finding(
            f"`{name}` grows on each call: its new length compiles again, eight times, then the "
            "function runs eagerly",
            _DECLINED,
            confidence=_confidence(event),
        )


def _confidence(event: ContainerGrown) -> Confidence:
    if emptied_elsewhere(event) or only_records(event.site) or inherits(event):
        return Confidence.LOW
    explicit = event.site.region is not None and event.site.region.explicit
    return Confidence.HIGH if explicit else Confidence.MEDIUM
