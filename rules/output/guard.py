"""Leaving a call out while compiling: eager code stays as it is, compiled code says nothing."""

from __future__ import annotations

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import SideEffectCall

from ..proofs.conditions import is_compiled_only
from .decision import decision_around, is_output
from .evaluation import binds_or_waits, skipped_effects, written_files
from .place import own_statement, why_not_alone
from .torch_name import torch_name

IS_COMPILING = "torch.compiler.is_compiling"
_VERBS = {"print": "prints it", "stdout": "writes it", "warnings": "warns"}


def guard(event: SideEffectCall) -> Repair | Decline:
    """Put the statement, or the ``if`` that exists only for it, under a guard."""
    target = decision_around(event) or own_statement(event)
    if target is None:
        return Decline(why_not_alone(event))
    if is_compiled_only(event.site, target):
        return Decline("only compiled code comes here: a guard would leave it out for good")
    obstacle = binds_or_waits(target)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(event.site, IS_COMPILING)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    skipped = skipped_effects(event.site, target, lambda node: is_output(event, node))
    changes = [f"no longer writes to {file}" for file in written_files(event.site, target)]
    changes += [f"no longer evaluates {skipped}"] if skipped else []
    return Repair(
        f"Skip it while compiling: compiled code no longer {_VERBS.get(event.sink, 'logs it')}",
        (*imports, Replace(target, f"if not {name}():\n    $output", {"output": target})),
        Applicability.UNSAFE if changes else Applicability.SAFE,
        f"compiled code {', and '.join(changes)}" if changes else "",
    )
