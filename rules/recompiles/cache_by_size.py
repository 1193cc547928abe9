"""TCL223: a dict gets an entry for each size."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ContainerGrown

from .sizes import holds_size

_SIZES = "[(torch.ones(n),) for n in range(3, 13)]"
_DECOMPOSING: Final = frozenset({"torch.pinverse", "torch.svd", "torch.qr", "torch.inverse"})


class CacheBySize(Rule[ContainerGrown]):
    """A dict that outlives the call gets an entry for each size of a tensor.

    ## What it does
    Reports `self.cache[n] = ...` in compiled code where the key holds a size of a tensor. Where
    the function decomposes a matrix (`torch.linalg`, `pinverse`), it is silent: computing that
    anew on each call costs more.

    ## Why it hurts
    A key must be a number, so that the size becomes a constant of the graph and each new one
    compiles again: 8 times in 10 sizes on torch 2.13, then the function runs eagerly. The dict
    itself is guarded as well, and grows. Without the cache one graph with a symbolic size serves
    all: what inductor computes anew is fused into what follows.

    ## Fix safety
    None is offered: compute the value each time, or once for the largest size in `__init__`, and
    slice it.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL223"
    name = "cache-by-size"
    summary = "a dict that is filled by size compiles again for each size"
    on = ContainerGrown
    effects = (Effect.RECOMPILE,)
    examples = (
        Untouched(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x):
        n = x.shape[0]
        if n not in self.cache:
            self.cache[n] = torch.arange(n, device=x.device)
        return x + self.cache[n]
""",
            "slice it",
            _SIZES,
            proves=("recompile",),
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.arange(64), persistent=False)

    def forward(self, x):
        return x + self.places[: x.shape[0]]
""",
            "(torch.ones(4),)",
            title="made once",
        ),
    )

    def check(self, event: ContainerGrown) -> Finding | None:
        """Report entries whose key is a size."""
        if event.method or not holds_size(event.key) or _is_dear(event):
            return None
        name = event.site.text(event.container)
        return Finding(
            f"`{name}` gets an entry for each size: the key makes the size a constant, and each "
            "new one compiles again",
            Decline("compute the value each time, or once for the largest size and slice it"),
            confidence=Confidence.MEDIUM,
        )


def _is_dear(event: ContainerGrown) -> bool:
    """True where the function decomposes a matrix, which a graph would do again on each call."""
    calls = (n for n in ast.walk(event.site.body.scope) if isinstance(n, ast.Call))
    names = [event.site.dotted(call.func) or "" for call in calls]
    return any(name.startswith("torch.linalg.") or name in _DECOMPOSING for name in names)
