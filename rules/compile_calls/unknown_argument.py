"""TCL406: a keyword argument that torch.compile does not take."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.torch_facts.lifetimes import since

from .arguments import names_for, version_of
from .nearest import nearest

RENAMED = {"nopython": "fullgraph"}


class UnknownCompileArgument(Rule[CompileCall]):
    """A keyword argument that `torch.compile` does not take."""

    code = "TCL406"
    name = "unknown-compile-argument"
    summary = "A keyword that `torch.compile` does not take makes it raise"
    instead = "Use a keyword that `torch.compile` has: `nopython` is called `fullgraph`"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Compare the keywords with the signature; the first unknown one counts."""
        call = event.call
        if not isinstance(call, ast.Call) or event.site.dotted(call.func) != "torch.compile":
            return None
        known = names_for(event).arguments
        for keyword in (*event.keywords, *event.spread):
            if keyword not in known:
                return Finding(
                    f"torch.compile of {version_of(event)} takes no argument `{keyword}` "
                    "and raises TypeError",
                    fix=Advice(_advice(keyword, known)),
                    confidence=Confidence.HIGH,
                )
            first = since("torch.compile", keyword)
            if first is not None and first > event.site.settings.oldest_torch:
                return Finding(
                    f"torch.compile takes no argument `{keyword}` and raises TypeError",
                    fix=Advice("check the version first: older versions of torch lack it"),
                    before=first,
                )
        return None


def _advice(keyword: str, known: frozenset[str]) -> str:
    close = nearest(keyword, known)
    meant = RENAMED.get(keyword) or (close.name if close and close.clear else None)
    return f"did you mean `{meant}`?" if meant else "no argument has a similar name"
