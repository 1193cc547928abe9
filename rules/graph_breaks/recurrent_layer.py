"""TCL186: a recurrent layer is called in compiled code."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.torch_facts.dynamo_settings import RECURRENT

from ..lib.wording import consequence, loop_ids, renumbered

_LAYERS: Final = {
    f"{package}.{name}.__call__": name
    for package in ("torch.nn", "torch.nn.modules.rnn")
    for name in ("LSTM", "GRU", "RNN")
}
_WAY_OUT = "outside of compiled code cuDNN runs it as fast as ever"


class RecurrentLayer(Rule[Call]):
    """Compiled code calls `nn.LSTM`, `nn.GRU` or `nn.RNN`."""

    code = "TCL186"
    name = "recurrent-layer"
    summary = "A recurrent layer breaks the graph"
    on = Call
    called = ("__call__",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0014", "GB0148", "GB7000")
    settings = (RECURRENT,)

    def check(self, event: Call) -> Finding | None:
        """Report the layer's call."""
        name = _LAYERS.get(event.function)
        if name is None or event.site.has_setting(RECURRENT):
            return None
        return Finding(
            f"Dynamo does not trace `nn.{name}`{consequence(event.site)}",
            Decline(_WAY_OUT),
            gb_ids=loop_ids(event.site, renumbered(event.site, "GB0014", (2, 15), "GB0148")),
            goes_with=(RECURRENT,),
        )
