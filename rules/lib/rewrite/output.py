"""What a finding about output says, and the guard that leaves the output to eager code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import SideEffectCall
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.syntax import asked_of
from tclint.semantics.values import DataScalar, Tensor

from ..facts.compiling import is_compiled_only
from ..facts.output_arguments import (
    binds_or_waits,
    may_show_tensor,
    shows_tensor,
    skipped_effects,
    written_files,
)
from .torch_name import torch_name

_IS_COMPILING = "torch.compiler.is_compiling"
_VERBS = {"print": "prints it", "stdout": "writes it", "warnings": "warns", "bar": "shows it"}
_LOG_METHODS = frozenset(
    "debug info warning warn error exception critical log isEnabledFor".split()
)
# What they change is there for all that comes: nothing that may be left out.
_CHANGING = frozenset(
    "setLevel addHandler removeHandler addFilter removeFilter basicConfig disable addLevelName "
    "captureWarnings setLoggerClass setLogRecordFactory".split()
)
_IDENTITY = (ast.Is, ast.IsNot)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def repair_output(event: SideEffectCall) -> Repair | Decline:
    """Put the statement, or the ``if`` that exists only for it, under a guard."""
    if event.sink in {"logger", "logging"} and event.method in _CHANGING:
        return Decline(
            f"`{event.method}` changes what is logged: call it before compiled code runs"
        )
    target = _decision_around(event) or _own_statement(event)
    if target is None:
        return Decline(_why_not_alone(event))
    if is_compiled_only(event.site, target):
        return Decline("only compiled code runs this: a guard would leave it out for good")
    obstacle = binds_or_waits(target)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(event.site, _IS_COMPILING)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    skipped = skipped_effects(event.site, target, lambda node: _is_output(event, node))
    changes = [f"no longer writes to {file}" for file in written_files(event.site, target)]
    changes += [f"no longer evaluates {skipped}"] if skipped else []
    moves_bar = event.sink == "bar" and event.method != "write"
    changes += ["no longer moves the bar"] if moves_bar else []
    return Repair(
        f"Skip it while compiling: compiled code no longer {_VERBS.get(event.sink, 'logs it')}",
        (*imports, Replace(target, f"if not {name}():\n    $output", {"output": target})),
        Change.BEHAVIOUR if changes else Change.SAME_BITS,
        f"compiled code {', and '.join(changes)}" if changes else "",
    )


def _own_statement(event: SideEffectCall) -> ast.Expr | None:
    """The statement that a call is; None also in a lambda, which is walked like a statement."""
    return None if isinstance(event.site.body.scope, ast.Lambda) else event.statement


def _why_not_alone(event: SideEffectCall) -> str:
    """Why a call that is no statement of its own cannot be moved or left out."""
    kinds = (ast.Lambda, *_COMPREHENSIONS, ast.stmt)
    outer = next(one for one in event.site.ancestors(event.call) if isinstance(one, kinds))
    if isinstance(outer, ast.Lambda):
        return "the call is inside a lambda"
    if isinstance(outer, _COMPREHENSIONS):
        return "the call is inside a comprehension"
    if isinstance(outer, ast.Expr):
        return "the call is part of a larger expression"
    return "the call's value is used"


def _decision_around(event: SideEffectCall) -> ast.If | None:
    """The outermost ``if`` that is there only for output and ends the graph by its own test.

    Guarding the call inside would leave that graph break.
    """
    site, found = event.site, None
    node: ast.AST | None = site.statement
    if node is event.statement:
        node = site.parent(site.statement)
    while isinstance(node, ast.If) and _is_only_output(event, node):
        if any(_breaks(event, leaf) for leaf in asked_of(node.test)):
            found = node
        node = site.parent(node)
    return found


def _is_only_output(event: SideEffectCall, node: ast.If) -> bool:
    """True for an ``if`` that is no ``elif``, has no ``else``, and only puts something out."""
    if node.orelse or event.site.text(node).startswith("elif"):
        return False
    return all(
        _is_output(event, statement.value)
        if isinstance(statement, ast.Expr)
        else isinstance(statement, ast.If) and _is_only_output(event, statement)
        for statement in node.body
    )


def _is_output(event: SideEffectCall, node: ast.AST) -> bool:
    """True for the event's call, and for prints, warnings and calls of the same logger."""
    if node is event.call:
        return True
    if not isinstance(node, ast.Call):
        return False
    if event.site.dotted(node.func) in {"print", "warnings.warn"}:
        return True
    mine, other = event.call.func, node.func
    if not isinstance(mine, ast.Attribute) or not isinstance(other, ast.Attribute):
        return False
    is_logger = event.sink in {"logger", "logging"} and other.attr in _LOG_METHODS
    return is_logger and ast.dump(mine.value) == ast.dump(other.value)


def _breaks(event: SideEffectCall, leaf: ast.expr) -> bool:
    if leaf is event.call:
        return True
    asked = [leaf]
    if isinstance(leaf, ast.Compare) and not any(isinstance(op, _IDENTITY) for op in leaf.ops):
        asked += [leaf.left, *leaf.comparators]
    return any(_is_data(event.site, part) for part in asked)


def _is_data(site: Site, node: ast.expr) -> bool:
    return any(isinstance(option, (Tensor, DataScalar)) for option in options(site.value(node)))


def describe(event: SideEffectCall) -> str:
    """Name the call and all that it costs where it stands."""
    site = event.site
    text = f"`{site.text(event.call.func)}` breaks the graph"
    if site.region is not None and site.region.fullgraph:
        text = f"`{site.text(event.call.func)}` cannot be compiled with `fullgraph=True`"
    elif site.facts.drops_frame:
        text += f" in {'a loop' if site.facts.loops else 'a `try`'}: the function runs eagerly"
    if may_show_tensor(site, event.call):
        text += f", and the CPU {'waits' if shows_tensor(site, event.call) else 'may wait'}"
    return text


def gb_ids(event: SideEffectCall, own: str) -> tuple[str, ...]:
    """What Dynamo prints: the call's own graph break, and the loop's around it."""
    return (own, "GB7000") if event.site.facts.loops else (own,)
