"""TCL514: FSDP with flat parameters, which is not compiled at all."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from ..lib.facts.wrapped_modules import FSDP, told, wrapped_after, wrapped_before


class FsdpFlatParameters(Rule[CompileCall]):
    """`FullyShardedDataParallel` flattens the parameters of a compiled module."""

    code = "TCL514"
    name = "fsdp-flat-parameters"
    summary = "FSDP without `use_orig_params=True` is not compiled at all"
    instead = "Pass `use_orig_params=True`"
    on = CompileCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0053",)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for the wrapper, inside or outside."""
        wrapper = wrapped_before(event, FSDP) or wrapped_after(event, FSDP)
        if wrapper is None or len(wrapper.args) > 1:
            return None
        given = (told(event.site, wrapper) or {}).get("use_orig_params")
        if given is not None and not (isinstance(given, ast.Constant) and given.value is False):
            return None
        return Finding(
            "Without `use_orig_params=True` Dynamo skips modules that FSDP wraps: nothing is "
            "compiled",
            fix=_kept(wrapper, given),
            node=wrapper,
            confidence=Confidence.HIGH,
        )


def _kept(wrapper: ast.Call, given: ast.expr | None) -> Repair | Decline:
    if given is not None and all(keyword.arg != "use_orig_params" for keyword in wrapper.keywords):
        return Advice("a dict says `use_orig_params=False`: change it there")
    return Repair(
        "Keep the original parameters",
        (AddArgument(wrapper, "True", keyword="use_orig_params"),),
        Change.BEHAVIOUR,
        changes="the optimizer gets the parameters of the module instead of flat ones",
    )
