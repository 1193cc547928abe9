"""Does a `try` see that compiled code fails otherwise?"""

from __future__ import annotations

from tclint.diagnostics import Decline
from tclint.semantics.site import Site

_CAUGHT = Decline(
    "the surrounding `try` would catch RuntimeError from compiled code instead of AssertionError"
)


def caught(site: Site) -> Decline | None:
    """Why an assert inside a `try` is left alone; None outside of one."""
    return _CAUGHT if any(attempt.handlers for attempt in site.facts.tries) else None
