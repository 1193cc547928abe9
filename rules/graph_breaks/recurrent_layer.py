"""TCL186: a recurrent layer is called in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.site import Site
from tclint.semantics.syntax import blocks_of
from tclint.torch_facts.dynamo_settings import RECURRENT

from ..lib.wording import consequence, loop_ids, renumbered

_LAYERS: Final = {
    f"{package}.{name}.__call__": name
    for package in ("torch.nn", "torch.nn.modules.rnn")
    for name in ("LSTM", "GRU", "RNN")
}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
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
        touched = _touched_before(event.site, event.call)
        return Finding(
            f"Dynamo does not trace `nn.{name}`{consequence(event.site)}",
            Decline(_WAY_OUT),
            node=touched,
            related=(event.call,) if touched is not None else (),
            gb_ids=loop_ids(event.site, renumbered(event.site, "GB0014", (2, 15), "GB0148")),
            goes_with=(RECURRENT,),
        )


def _touched_before(site: Site, call: ast.Call) -> ast.Attribute | None:
    """What asks the layer for something before it is called: Dynamo stops there already."""
    layer = ast.dump(call.func)
    before: list[ast.stmt] = []
    inner: ast.AST = call
    for outer in site.ancestors(call):
        if isinstance(outer, _FUNCTIONS):
            before[:0] = _simple_ones(outer.body, inner)
            break
        for block in blocks_of(outer):
            before[:0] = _simple_ones(block, inner)
        inner = outer
    asked = (part for statement in before for part in ast.walk(statement))
    return next(
        (
            part
            for part in asked
            if isinstance(part, ast.Attribute) and ast.dump(part.value) == layer
        ),
        None,
    )


def _simple_ones(block: list[ast.stmt], inner: ast.AST) -> list[ast.stmt]:
    """The statements of a block before one of it that run whenever that one does."""
    if inner not in block:
        return []
    earlier = block[: block.index(inner)]
    return [one for one in earlier if isinstance(one, _SIMPLE)]
