"""TCL186: a recurrent layer is called in compiled code."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import Call

from ..decisions.wording import consequence, loop_ids

_LAYERS: Final = {
    f"{package}.{name}.__call__": name
    for package in ("torch.nn", "torch.nn.modules.rnn")
    for name in ("LSTM", "GRU", "RNN")
}
_WAY_OUT = (
    "`torch._dynamo.config.allow_rnn = True` lets Dynamo trace it, which unrolls the steps and can "
    "take long to compile; outside of compiled code cuDNN runs it as fast as ever"
)


class RecurrentLayer(Rule[Call]):
    """`nn.LSTM`, `nn.GRU` or `nn.RNN` is called where Dynamo traces.

    ## What it does
    Reports calls of recurrent layers in compiled code. The cells (`nn.LSTMCell`) are traced.

    ## Why it hurts
    Dynamo does not trace these layers by default: the graph ends before the call.

    ## Fix safety
    Not fixed: the setting is the whole program's.

    ## References
    - [Graph break GB0014](https://meta-pytorch.org/compile-graph-break-site/gb/gb0014.html)
    """

    code = "TCL186"
    name = "recurrent-layer"
    summary = "a recurrent layer breaks the graph"
    on = Call
    called = ("__call__",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0014", "GB7000")
    examples = (
        Untouched(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 3)

    def forward(self, x):
        y, _ = self.rnn(x * 2)
        return y + 1
""",
            reason="allow_rnn",
            proves=("GB0014",),
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 3)

    def forward(self, x):
        return self.cell(x * 2) + 1
""",
            title="a cell",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the layer's call."""
        name = _LAYERS.get(event.function)
        if name is None:
            return None
        return Finding(
            f"Dynamo does not trace `nn.{name}`{consequence(event.site)}",
            Decline(_WAY_OUT),
            gb_ids=loop_ids(event.site, "GB0014"),
        )
