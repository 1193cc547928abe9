"""TCL507: an optimizer that updates by many small kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change, Confidence, Effect, Worth
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule, SpentIn
from tclint.semantics.events import OptimizerInit
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.torch_facts.lifetimes import FIRST, since

from ..lib.facts.devices import may_be_on_gpu

_FUSED: Final = frozenset({"torch.optim.Adam", "torch.optim.AdamW", "torch.optim.SGD"})
_MEASURED: Final = frozenset({"torch.optim.Adam", "torch.optim.AdamW"})
# Whoever gives one of these has chosen an implementation.
_CHOICES: Final = frozenset({"fused", "foreach", "capturable", "differentiable", None})


class UnfusedStep(Rule[OptimizerInit]):
    """An optimizer of a model on a device is neither fused nor compiled."""

    code = "TCL507"
    name = "unfused-step"
    former_names = ("unfused-step-of-compiled-model",)
    summary = "An optimizer runs eagerly, with many kernels instead of one"
    instead = "Pass `fused=True` where all parameters are floating point and gradients are dense"
    worth = Worth.MEDIUM
    measured = "8% to 10% of a training step in 3 of 4 cases (H200)"
    on = OptimizerInit
    spent_in = SpentIn.OPTIMIZER
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True

    def check(self, event: OptimizerInit) -> Finding | None:
        """Look for an optimizer that nobody has chosen an implementation for."""
        if event.optimizer not in _FUSED or event.compiled_step:
            return None
        given = set(_given(event))
        compiles = _compiles(event.site)
        if given & _CHOICES or len(event.call.args) > 2 or _is_in_test(event.site):
            return None
        if not compiles and not may_be_on_gpu(event.site):
            return None
        # What was measured is Adam: a plain step of SGD has little to fuse.
        certain = event.optimizer in _MEASURED
        return Finding(
            "The step of this optimizer is neither compiled nor fused: a kernel for each operation",
            fix=Repair(
                "Update all parameters at once",
                (AddArgument(event.call, "True", keyword="fused"),),
                Change.BEHAVIOUR,
                changes="last bits may differ, and sparse gradients and parameters that are not "
                "floating-point raise",
            ),
            confidence=Confidence.MEDIUM if certain else Confidence.LOW,
            worth=None if certain else Worth.HINT,
            since=max(FIRST, since(event.optimizer, "fused") or FIRST),
        )


def _given(event: OptimizerInit) -> Iterator[str | None]:
    """The names of what the call passes; None for what nobody can see."""
    for keyword in event.call.keywords:
        if keyword.arg is None:
            yield from _keys(event.site, keyword.value)
        else:
            yield keyword.arg


def _keys(site: Site, spread: ast.expr) -> Iterator[str | None]:
    """The keys of a dict that is written out, and of those that are added where it has a name."""
    match spread:
        case ast.Dict(keys=keys):
            yield from map(_text, keys)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            yield from (keyword.arg for keyword in keywords)
        case ast.Name(id=name):
            made = site.flow.value(spread)
            yield from _keys(site, made) if isinstance(made, (ast.Dict, ast.Call)) else [None]
            for load in site.loads(name):
                yield from _added(site, load)
        case _:
            yield None


def _text(key: ast.expr | None) -> str | None:
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _added(site: Site, load: ast.Name) -> Iterator[str | None]:
    """What a use of a dict adds to it; None where that cannot be seen."""
    outer = site.parent(load)
    match outer, site.parent(outer) if outer is not None else None:
        case ast.Subscript(slice=ast.Constant(value=str() as key)), _:
            yield key
        case ast.Attribute(attr="setdefault"), ast.Call(args=[key, *_]):
            yield _text(key)
        case ast.keyword(arg=None) | ast.Compare(), _:
            return
        case ast.Attribute(attr="get" | "pop" | "items" | "keys"), _:
            return
        case _:
            yield None


def _is_in_test(site: Site) -> bool:
    """True in a function that test runners collect by its name."""
    scope = site.body.scope
    return isinstance(scope, ast.FunctionDef) and scope.name.startswith("test_")


def _compiles(site: Site) -> bool:
    """True in a file that calls `torch.compile`, or decorates with it."""
    return "compile" in site.module.file.text and any(
        isinstance(node, ast.Attribute)
        and node.attr == "compile"
        and site.dotted(node) == "torch.compile"
        for node in nodes(site.module.tree)
    )
