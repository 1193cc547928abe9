"""The optimizer that a variable of a function holds."""

from __future__ import annotations

import ast

from tclint.records import record
from tclint.semantics.site import Site
from tclint.torch_facts import canonical, optimizers


@record(frozen=True)
class Made:
    """The call that made it and its class; ``accepts`` are its parameters, ``given`` the call's."""

    call: ast.Call
    name: str
    accepts: frozenset[str]
    given: frozenset[str | None]


def maker(site: Site, name: str) -> ast.Call | None:
    """The call whose result is the variable's only value: in the function, or in the file."""
    values = [one.value for one in site.flow.made(name)] or [site.module.assigned.get(name)]
    made = values[0] if len(values) == 1 else None
    return made if isinstance(made, ast.Call) else None


def optimizer_of(site: Site, name: str) -> Made | None:
    """What is known of an optimizer of torch in a variable."""
    call = maker(site, name)
    dotted = canonical(site.dotted(call.func) or "") if call else ""
    facts = optimizers().get(dotted)
    if call is None or facts is None:
        return None
    return Made(call, dotted, frozenset(facts.parameters), frozenset(k.arg for k in call.keywords))
