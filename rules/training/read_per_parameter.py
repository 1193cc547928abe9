"""TCL521: a number is read from each parameter, or a norm is computed for each, in turn."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.regexes import regex
from tclint.semantics.events import ParameterLoop
from tclint.semantics.site import Site
from tclint.semantics.syntax import names_in, nodes, start_of

from ..lib.facts.devices import may_be_on_gpu
from ..lib.facts.tensor_lists import Names, is_over_tensors, loop_names
from ..lib.facts.training_loops import called, own_nodes, runs_every_time
from ..lib.wording import lines

_OF_EACH_STEP: Final = regex(r"clip|grad|norm", re.IGNORECASE)


class ReadPerParameter(Rule[ParameterLoop]):
    """A loop reads a number from each parameter, or computes the norm of each for their total."""

    code = "TCL521"
    name = "read-per-parameter"
    summary = "A loop over parameters waits for the device, or launches a norm, for each of them"
    instead = "Compute all norms at once with `torch.nn.utils.get_total_norm`, and read the total"
    worth = Worth.MEDIUM
    measured = "5% to 20% of a training step in 8 cases (H200)"
    on = ParameterLoop
    effects = (Effect.HOST_SYNC, Effect.LAUNCH_OVERHEAD)
    outside_regions = True

    def check(self, event: ParameterLoop) -> Finding | None:
        """Look for `.item()` in a loop, and for a list of norms that is stacked."""
        site, loop, names = event.site, event.loop, loop_names(event.loop)
        if names is None or not is_over_tensors(site, names.iterable) or not may_be_on_gpu(site):
            return None
        if isinstance(loop, ast.For):
            reads = _reads(site, loop, names)
            if not reads:
                return None
            read, *others = reads
            return Finding(
                f"`{site.text(read)}` makes the CPU wait once for each parameter{lines(others)}",
                Advice(
                    "compute all norms at once with `torch.nn.utils.get_total_norm`, and read the "
                    "total"
                ),
                node=read,
                confidence=_confidence(event),
                related=tuple(others),
            )
        if _is_norm(loop.elt, names) and _is_stacked(site, loop):
            return Finding(
                "The norm of each parameter is a kernel of its own, launched one after the other",
                Decline("`get_total_norm` needs torch 2.6, and its last bits may differ"),
                effect=Effect.LAUNCH_OVERHEAD,
                confidence=_confidence(event),
            )
        return None


def _reads(site: Site, loop: ast.For, names: Names) -> list[ast.expr]:
    """What reads from a parameter that has a gradient: `.item()`, and `if` of a norm."""
    known, norms = set(names.bound), set[str]()
    reads: list[ast.expr] = []
    for node in sorted(own_nodes(loop), key=start_of):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if known & names_in(value):
                known.add(name)
                if not _is_number(value) and (_has_norm(value) or norms & names_in(value)):
                    norms.add(name)
                else:
                    norms.discard(name)
            case ast.Call(func=ast.Attribute(value=owner, attr="item"), args=[]):
                if known & names_in(owner) and _for_each(site, node, loop):
                    reads.append(node)
            case ast.If(test=ast.Compare(left=left, comparators=[right]) as test):
                if norms & (names_in(left) | names_in(right)) and _for_each(site, node, loop):
                    reads.append(test)
            case ast.If(test=test) if _is_asked(test, known) and _for_each(site, node, loop):
                reads.append(test)
    return reads


def _is_number(node: ast.expr) -> bool:
    """True for what is read already."""
    return any(called(part) in ("item", "float", "tolist") for part in nodes(node))


def _has_norm(node: ast.expr) -> bool:
    return any(called(part) in ("norm", "vector_norm") for part in nodes(node))


def _is_asked(test: ast.expr, known: set[str]) -> bool:
    """True for `if torch.isnan(p.grad).any()`, whose answer the device has."""
    return any(
        called(part) in ("isnan", "isfinite", "isinf")
        and bool(known & names_in(part))
        and "item" not in map(called, nodes(test))
        for part in nodes(test)
    )


def _for_each(site: Site, node: ast.AST, loop: ast.For) -> bool:
    """True where nothing but a gradient that is missing leaves a parameter out."""
    inner = node
    for outer in site.ancestors(node):
        if outer is loop:
            return True
        if (
            isinstance(outer, ast.If)
            and inner is not outer.test
            and "grad" not in ast.unparse(outer.test)
        ):
            return False
        inner = outer
    return False


def _is_norm(element: ast.expr, names: Names) -> bool:
    match element:
        case ast.Call(func=ast.Attribute(value=inner, attr="to" | "cuda")):
            return _is_norm(inner, names)
        case ast.Call():
            return called(element) in ("norm", "vector_norm") and bool(
                names.bound & names_in(element)
            )
    return False


def _is_stacked(site: Site, loop: ast.ListComp | ast.GeneratorExp) -> bool:
    outer = site.parent(loop)
    return isinstance(outer, ast.Call) and called(outer) in ("stack", "tensor", "cat")


def _confidence(event: ParameterLoop) -> Confidence:
    """High in a step, medium where a name says that it is about gradients."""
    if event.body is not None and runs_every_time(event.site, event.loop, event.body):
        return Confidence.HIGH
    info = event.site.body.function
    return Confidence.MEDIUM if info and _OF_EACH_STEP.search(info.name) else Confidence.LOW
