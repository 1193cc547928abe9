"""The CTC loss, which has no shape in compiled code, as a custom operator.

A `with torch.backends.cudnn.flags(...)` around it goes into the helper that the operator runs: so
compiled code enters it, too. Eager code computes what it did.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..facts.purity import is_pure
from .names import is_taken
from .written_operator import (
    Operator,
    Parameter,
    call_of,
    can_be_written,
    indented,
    registered,
    switch,
    written,
)

_MESSAGE: Final = "Call the loss as a custom operator"
_CHANGES: Final = (
    "compiled code runs the loss on its own, without autocast and second derivatives; lengths have "
    "to be tensors"
)
LOSS: Final = "torch.nn.functional.ctc_loss"
_FLAGS: Final = "torch.backends.cudnn.flags"
_HELPER: Final = "_ctc_loss"
_TENSORS: Final = ("log_probs", "targets", "input_lengths", "target_lengths")
_NUMBERS: Final = (
    ("blank", "int", "0"),
    ("reduction", "str", '"mean"'),
    ("zero_infinity", "bool", "False"),
)
_NAMES: Final = (*_TENSORS, *(name for name, _, _ in _NUMBERS))
_SHAPE: Final = 'log_probs.new_empty(input_lengths.shape if reduction == "none" else ())'


def ctc_as_operator(site: Site, call: ast.AST | None) -> Repair | None:
    """Write a helper that computes the loss, register it as an operator, and call the helper."""
    if not isinstance(call, ast.Call) or site.dotted(call.func) != LOSS:
        return None
    flags, top = flags_around(site, call), _statement_before(site)
    torch = (site.spell("torch.Tensor") or "").removesuffix(".Tensor")
    if top is None or not torch or not _has_tensors(site, call):
        return None
    if len(flags) > 1 or not all(move_freely(site, one, call) for one in flags):
        return None
    operator = _operator(site, torch)
    if is_taken(site, operator.helper) or not can_be_written(site, operator):
        return None
    helper = _helper(site, operator, call, flags)
    text = "\n".join(["", "", *helper, "", "", written(operator)])
    rewrites: list[Rewrite] = [Insert(top, text, after=True), Replace(call.func, operator.helper)]
    rewrites += [Replace(one, "$inner", {"inner": one.body[0]}) for one in flags]
    return Repair(_MESSAGE, tuple(rewrites), Change.BEHAVIOUR, _CHANGES)


def ctc_in(statement: ast.With | ast.AsyncWith) -> ast.expr | None:
    """The call in ``with ...: loss = ctc_loss(...)``."""
    match statement.body:
        case [ast.Assign(value=value) | ast.Return(value=ast.expr() as value)]:
            return value
    return None


def flags_around(site: Site, call: ast.Call) -> list[ast.With | ast.AsyncWith]:
    """The settings of cuDNN that a loss is computed under."""
    return [
        outer
        for outer in site.ancestors(call)
        if isinstance(outer, (ast.With, ast.AsyncWith))
        and any(_is_flags(site, item.context_expr) for item in outer.items)
    ]


def _is_flags(site: Site, manager: ast.expr) -> bool:
    return isinstance(manager, ast.Call) and site.dotted(manager.func) == _FLAGS


def move_freely(site: Site, around: ast.With | ast.AsyncWith, call: ast.Call) -> bool:
    """True where the flags are constants, and matter for nothing but the loss."""
    manager = around.items[0].context_expr
    if len(around.items) > 1 or around.items[0].optional_vars or not isinstance(manager, ast.Call):
        return False
    given = [keyword.value for keyword in manager.keywords]
    return (
        ctc_in(around) is call
        and not manager.args
        and all(isinstance(value, ast.Constant) for value in given)
        and all(is_pure(site, value) for value in arguments_of(call).values())
    )


def arguments_of(call: ast.Call) -> dict[str, ast.expr]:
    """The arguments by name; what is not written out has none."""
    named = {one.arg: one.value for one in call.keywords if one.arg is not None}
    return dict(zip(_NAMES, call.args, strict=False)) | named


def _has_tensors(site: Site, call: ast.Call) -> bool:
    """True where what is given is written out, and its lengths are tensors, not lists."""
    given = arguments_of(call)
    plain = not any(isinstance(one, ast.Starred) for one in call.args)
    plain = plain and all(one.arg in _NAMES for one in call.keywords)
    return plain and all(
        name in given and all(isinstance(kind, Tensor) for kind in options(site.value(given[name])))
        for name in _TENSORS
    )


def _statement_before(site: Site) -> ast.stmt | None:
    """The statement of the file after which a helper of this function can be written."""
    body, line = site.module.tree.body, site.statement.lineno
    above = [one for one in body if (one.end_lineno or one.lineno) < line]
    return above[-1] if above else None


def _operator(site: Site, torch: str) -> Operator:
    kind = f"{torch}.Tensor"
    tensors = tuple(Parameter(name, kind, "", name) for name in _TENSORS)
    numbers = tuple(Parameter(*one, one[0]) for one in _NUMBERS)
    named = registered(site, _HELPER)
    both = (*tensors, *numbers)
    return Operator(_HELPER, both, (_TENSORS[0],), (_SHAPE,), (), torch, named)


def _helper(
    site: Site, operator: Operator, call: ast.Call, flags: list[ast.With | ast.AsyncWith]
) -> list[str]:
    """What eager code runs, and the operator, too."""
    declared = [one.bare for one in operator.parameters]
    computed = call_of(f"return {site.text(call.func)}(", _NAMES, ")")
    for one in flags:
        computed = [f"with {site.text(one.items[0].context_expr)}:", *indented(computed)]
    lines = [*switch(operator).splitlines(), *computed]
    return [*call_of(f"def {operator.helper}(", declared, "):"), *indented(lines)]
