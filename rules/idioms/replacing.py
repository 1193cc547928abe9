"""The repair that puts a call of torch in the place of a formula."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site

from ..lib.facts.fallbacks import KEPT, is_fallback
from ..lib.judge.saved_for_backward import judge_kept
from ..lib.judge.verdict import Changes, combine
from ..lib.rewrite.proved import NO_TORCH, repair_as_proved
from .def_use import without_leftovers


def replaced(
    site: Site,
    node: ast.expr,
    function: str,
    arguments: Mapping[str, ast.expr | str],
    differs: Changes,
    *,
    positional: int = 1,
    leaves: bool = False,
    keeps: Sequence[ast.expr] = (),
) -> Repair | Decline:
    """The repair that calls ``function`` in the place of ``node``.

    So many arguments go by position, the others by their names. A text is put as it is. What served
    only ``node`` goes with it, unless the caller, who knows more of it, ``leaves`` that. Autograd
    ``keeps`` some arguments of the call for the backward pass, of which it kept only copies before.
    """
    spelled = site.spell(function)
    if spelled is None:
        return NO_TORCH
    if is_fallback(site, node, function):
        return Decline(KEPT.format(function))
    parts = {name: part for name, part in arguments.items() if isinstance(part, ast.expr)}
    texts = {n: f"${n}" if isinstance(p, ast.expr) else p for n, p in arguments.items()}
    by_place, by_name = [*texts.values()][:positional], [*texts.items()][positional:]
    listed = [*by_place, *(f"{name}={text}" for name, text in by_name)]
    template = f"{spelled}({', '.join(listed)})"
    rewrite = Replace(node, template, parts)
    short = spelled.rpartition("torch.")[2] if spelled.startswith("torch.") else spelled
    kept = judge_kept(site, node, keeps, _variable(site, node))
    fix = repair_as_proved(combine([differs, kept]), f"Use `{short}`", (rewrite,))
    if isinstance(fix, Decline):
        return fix
    return fix if leaves else without_leftovers(site, fix, node, [node], parts.values())


def _variable(site: Site, node: ast.expr) -> str | None:
    """The variable that is given the value of ``node``, and nothing else."""
    match site.parent(node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None
