"""Branches on a tensor: which of the repairs fits."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair
from tclint.semantics.events import TensorBranch

from ..decisions.tests import is_only_output
from .buffers import choose_buffer
from .masked import drop_guard
from .where import choose

_OUTPUT: Final = (
    "an `if` that is there only for output belongs under `if not torch.compiler.is_compiling`"
)
_OPERATOR: Final = "Python's operator asks for the truth; `&`, `|` and `torch.logical_not` do not"


def repair_branch(event: TensorBranch, decided: ast.If | None) -> Repair | Decline:
    """Rewrite what the tensor decides; ``decided`` is the statement, where it is one."""
    site = event.site
    if decided is not None:
        if is_only_output(site, decided):
            return Decline(_OUTPUT)
        special = drop_guard(site, decided) or choose_buffer(site, decided)
        if special is not None:
            return special
    fix = choose(site, event.node)
    if isinstance(fix, Repair) or event.kind in ("if", "ternary"):
        return fix
    return Decline(_OPERATOR)
