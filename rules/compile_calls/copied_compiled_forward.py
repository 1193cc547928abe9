"""TCL417: a copy of a model whose method was replaced by a compiled one runs the original."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site
from tclint.semantics.values import Function

from .behind import is_below

_COPYING: Final = frozenset({"copy.deepcopy", "torch.optim.swa_utils.AveragedModel"})


class CopiedCompiledForward(Rule[CompileCall]):
    """A model is copied after one of its methods was replaced by a compiled one."""

    code = "TCL417"
    name = "copied-compiled-forward"
    summary = "A copy of a model with a compiled `forward` computes with the original's weights"
    instead = "Copy first, then compile each model by itself"
    worth = Worth.HIGH
    measured = "the copy's results are wrong (torch 2.13)"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for copies of the model below `model.forward = torch.compile(model.forward)`."""
        site, call = event.site, event.call
        match site.statement, call:
            case (
                ast.Assign(targets=[ast.Attribute(value=owner, attr=stored)], value=value),
                ast.Call(args=[ast.Attribute(value=given, attr=method), *_]),
            ) if value is call and stored == method:
                pass
            case _:
                return None
        model = site.text(owner)
        if site.text(given) != model or not (
            method == "forward" or isinstance(event.target, Function)
        ):
            return None
        copied = next(_copies(site, model, call), None)
        if copied is None:
            return None
        return Finding(
            f"`{site.text(copied)}` copies the compiled `{method}`, which computes with the first "
            "weights",
            fix=Advice(f"copy the model first, or compile it in place with `{model}.compile()`"),
            node=copied,
            confidence=Confidence.HIGH,
            related=(call,),
        )


def _copies(site: Site, model: str, call: ast.expr) -> Iterator[ast.Call]:
    """The calls that copy a model, behind the one that compiles its method."""
    for node in ast.walk(site.body.scope):
        match node:
            case ast.Call(func=func, args=[ast.Name() | ast.Attribute() as given, *_]) if (
                site.dotted(func) in _COPYING
                and site.text(given) == model
                and is_below(site, given, call)
            ):
                yield node
