"""Whether code expects that torch may lack a name."""

from __future__ import annotations

import ast

from tclint.semantics.events import NameUsed


def is_asked_for(event: NameUsed, name: str) -> bool:
    """Whether the code around a name expects that it may be missing."""
    if event.site.facts.tries:
        return True
    for outer in event.site.ancestors(event.expression):
        if isinstance(outer, (ast.If, ast.IfExp)):
            test = ast.unparse(outer.test)
            if name in test or "ersion" in test or "hasattr" in test:
                return True
    return False
