"""TCL186: a recurrent layer is called in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.site import Site
from tclint.semantics.syntax import blocks_of, nodes
from tclint.torch_facts.dynamo_settings import RECURRENT

from ..lib.wording import consequence, dropped, loop_ids

_LAYERS: Final = {
    f"{package}.{name}.__call__": name
    for package in ("torch.nn", "torch.nn.modules.rnn")
    for name in ("LSTM", "GRU", "RNN")
}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
_SPLITS_SINCE: Final = (2, 15)
"""Up to then the whole function runs eagerly, whatever is before the layer."""
_WAY_OUT = "outside of compiled code, cuDNN runs it at full speed"


class RecurrentLayer(Rule[Call]):
    """Compiled code calls `nn.LSTM`, `nn.GRU` or `nn.RNN`."""

    code = "TCL186"
    name = "recurrent-layer"
    summary = "A recurrent layer breaks the graph"
    instead = (
        "Compile the parts before and after the layer, and call it between them: cuDNN runs it "
        "at full speed"
    )
    on = Call
    called = ("__call__",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0014", "GB0148", "GB4841", "GB7000")
    settings = (RECURRENT,)

    def check(self, event: Call) -> Finding | None:
        """Report the layer's call."""
        name = _LAYERS.get(event.function)
        if name is None or event.site.has_setting(RECURRENT):
            return None
        touched = _touched_before(event.site, event.call)
        what = f"Dynamo does not trace `nn.{name}`"
        ids: tuple[str, ...] = ("GB0014",)
        if event.site.settings.target_torch < _SPLITS_SINCE:
            message = f"{what}{dropped(event.site)}"
        elif touched is not None:
            message, ids = f"{what}, and stops where it is first used", ("GB4841", "GB0148")
        else:
            message, ids = f"{what}{consequence(event.site)}", loop_ids(event.site, "GB0148")
        return Finding(
            message,
            Advice(_WAY_OUT),
            node=touched,
            related=(event.call,) if touched is not None else (),
            gb_ids=ids,
            removed_by_settings=(RECURRENT,),
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
    asked = (part for statement in before for part in nodes(statement))
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
