"""What a finding about output says."""

from __future__ import annotations

from tclint.semantics.events import SideEffectCall

from .evaluation import may_show_tensor


def describe(event: SideEffectCall) -> str:
    """Name the call and all that it costs where it stands."""
    site = event.site
    text = f"`{site.text(event.call.func)}` breaks the graph"
    if site.region is not None and site.region.fullgraph:
        text = f"`{site.text(event.call.func)}` cannot be compiled with `fullgraph=True`"
    elif site.facts.drops_frame:
        inside = "a loop" if site.facts.loops else "a `try`"
        function = f"`{site.function.name}`" if site.function else "the function"
        text += f" inside {inside}, so all of {function} runs in eager"
    if may_show_tensor(site, event.call):
        text += ", and the CPU waits for the tensor that it shows"
    return text


def gb_ids(event: SideEffectCall, own: str) -> tuple[str, ...]:
    """What Dynamo prints: the call's own graph break, and the loop's around it."""
    return (own, "GB7000") if event.site.facts.loops else (own,)
