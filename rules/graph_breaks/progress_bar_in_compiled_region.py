"""TCL123: a progress bar in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import SideEffectCall

from ..lib.facts.output_arguments import arguments, binds_or_waits, skipped_effects
from ..lib.rewrite.output import IS_COMPILING, describe, gb_ids, repair_output
from ..lib.rewrite.torch_name import torch_name


class ProgressBarInCompiledRegion(Rule[SideEffectCall]):
    """Compiled code shows a progress bar."""

    code = "TCL123"
    name = "progress-bar-in-compiled-region"
    summary = "A progress bar in compiled code breaks the graph"
    instead = (
        "Put the bar around the loop that calls compiled code, and loop over the plain iterable "
        "inside"
    )
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007", "GB0008")

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report progress bars, and what is done with them."""
        if event.sink == "bar":
            return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, "GB0008"))
        if event.sink != "tqdm":
            return None
        return Finding(describe(event), _without_bar(event), gb_ids=gb_ids(event, "GB0007"))


def _without_bar(event: SideEffectCall) -> Repair | Decline:
    """Iterate without the bar while compiling."""
    site, call = event.site, event.call
    plain = _plain(event)
    obstacle = binds_or_waits(call)
    if isinstance(plain, Decline) or obstacle is not None:
        return plain if isinstance(plain, Decline) else Decline(str(obstacle))
    template, parts = plain
    options = [a for a in arguments(call) if a not in parts.values()]
    effects = filter(None, (skipped_effects(site, o, lambda _: False) for o in options))
    skipped = ", ".join(effects)
    spelled = torch_name(site, IS_COMPILING)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    return Repair(
        "Iterate without the bar while compiling",
        (*imports, Replace(call, f"({template} if {name}() else $bar)", {**parts, "bar": call})),
        Change.BEHAVIOUR if skipped else Change.SAME_BITS,
        f"compiled code no longer evaluates {skipped}" if skipped else "",
    )


def _plain(event: SideEffectCall) -> tuple[str, dict[str, ast.expr]] | Decline:
    """What the bar iterates over, as a template with its parts."""
    call = event.call
    outer = event.site.parent(call)
    if not isinstance(outer, (ast.For, ast.comprehension)) or outer.iter is not call:
        return Decline("the bar is used for more than one loop over it")
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        return Decline("the call unpacks its arguments")
    if event.method == "trange":
        parts: dict[str, ast.expr] = {f"bound{i}": a for i, a in enumerate(call.args)}
        return f"range({', '.join('$' + name for name in parts)})", parts
    named = [k.value for k in call.keywords if k.arg == "iterable"]
    iterable = next(iter((*call.args, *named)), None)
    if iterable is None:
        return Decline("the bar wraps nothing to iterate over")
    return "$iterable", {"iterable": iterable}
