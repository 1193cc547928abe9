"""TCL161: a random number decides which code runs."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorBranch

from ..decisions.draws import draws
from ..decisions.wording import at_most_medium, consequence, loop_ids, short
from ..repairs.rate_first import ask_rate_first, find_comparison, is_guarded

_KINDS = ("if", "ternary", "and", "or", "not", "compare", "while")
_WAY_OUT = (
    "skipping work at random needs Python to know the number; compute the layer and choose with "
    "`torch.where(keep, layer(x), x)`"
)


class RandomBranch(Rule[TensorBranch]):
    """A layer is skipped, or a path is taken, when a random number says so.

    ## What it does
    Reports branches in compiled code on a tensor that `torch.rand` or its kin drew there, and on
    numbers of `random.uniform`, `random.randint` and `random.randrange`: LayerDrop, stochastic
    depth written with `if`. `random.random` and numpy's numbers break the graph where they are
    drawn (TCL180, TCL181). Behind `rate != 0.0 and` the confidence is low.

    ## Why it hurts
    Dynamo does not know the number while tracing, so the graph ends at the `if`. LayerDrop stands
    in the loop over the layers, where the whole function runs eagerly: a model whose `layerdrop`
    is `0.0` is not compiled for a number that is never needed.

    ## Fix safety
    `self.layerdrop != 0.0` is asked first: no random number is below a rate of zero, so eager code
    does the same, and what the comparison says of other rates, or of None, it still says. That is
    safe where the number is drawn before, and unsafe where the comparison itself draws it: with a
    rate of zero it is not drawn any more. Models that are compiled with a positive rate break as
    before.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    - [Graph break GB7000](https://meta-pytorch.org/compile-graph-break-site/gb/gb7000.html)
    """

    code = "TCL161"
    name = "random-branch"
    summary = "a branch on a random number (LayerDrop) breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB7000")
    examples = (
        Bad(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.layerdrop = 0.0

    def forward(self, x):
        for layer in self.layers:
            if self.training:
                p = torch.rand([])
                if p < self.layerdrop:
                    continue
            x = layer(x)
        return x
""",
            fixed="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.layerdrop = 0.0

    def forward(self, x):
        for layer in self.layers:
            if self.training:
                p = torch.rand([])
                if self.layerdrop != 0.0 and p < self.layerdrop:
                    continue
            x = layer(x)
        return x
""",
            proves=("GB0170", "GB7000"),
            title="LayerDrop",
        ),
        Untouched(
            """
import random


def f(x):
    p = random.uniform(0, 1)
    return x * 2 if p < 0.5 else x
""",
            reason="torch.where",
            proves=("GB0170",),
            title="a number of Python's",
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            x = torch.where(torch.rand([]) < 0.1, x, layer(x))
        return x
""",
            title="chosen on the device",
        ),
    )

    def check(self, event: TensorBranch) -> Finding | None:
        """Report tests of nothing but random numbers."""
        site, test = event.site, event.test
        if event.kind not in _KINDS or not draws(site, test):
            return None
        found = find_comparison(site, test)
        guarded = found is not None and is_guarded(site, found)
        confidence = at_most_medium(event) if event.sometimes else None
        return Finding(
            f"`{short(site, test)}` lets a random number decide what runs{consequence(site)}",
            Decline(_WAY_OUT) if found is None or guarded else ask_rate_first(site, found),
            gb_ids=loop_ids(site, "GB0170"),
            confidence=Confidence.LOW if guarded else confidence,  # a model may have no rate
        )
