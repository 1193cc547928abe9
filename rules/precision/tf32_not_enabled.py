"""TCL620: a training script multiplies in full float32."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule, SpentIn
from tclint.regexes import regex
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes, start_of

from ..lib.facts.devices import may_be_on_gpu
from ..lib.facts.training_loops import differentiates, is_test

# Whoever says one of these has thought about precision, or leaves it to a framework that asks.
_PRECISE: Final = regex(
    r"float32_matmul_precision|tf32|fp32_precision|autocast|bfloat16|float16|float64|half\(|double\("
    r"|\bamp\b|precision|mixed|accelerator|fp16|bf16|fp8|fabric|lightning|deepspeed|transformers",
    re.IGNORECASE,
)
_COMPILED: Final = regex(r"step|optim|backward", re.IGNORECASE)
# Most of the time of such models goes into products of matrices.
_MULTIPLIES: Final = regex(r"attention|transformer", re.IGNORECASE)


class Tf32NotEnabled(Rule[TrainingCall]):
    """A training script runs its matmuls in full float32."""

    code = "TCL620"
    name = "tf32-not-enabled"
    former_names = ("full-float32-products",)
    summary = "A training script never lets its matmuls use TF32"
    instead = (
        'Call `torch.set_float32_matmul_precision("high")` once at the start, and compare the '
        "results of a short run"
    )
    worth = Worth.HIGH
    measured = "31% to 57% of a training step in 2 cases (H200)"
    on = TrainingCall
    spent_in = SpentIn.FLOAT32_MATMUL
    on_gpu = True
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Asked of the file's first `backward`."""
        site, text = event.site, event.site.module.file.text
        if differentiates(event.call) is None or is_test(site, event.loop):
            return None
        if _PRECISE.search(text) or _first_backward(site) is not event.call:
            return None
        multiplies = _holds_products(site) and may_be_on_gpu(site)
        if not multiplies and not _compiles(site):
            return None
        certain = multiplies and _is_script(site)
        return Finding(
            "Float32 matmuls do not use TF32, which is several times as fast",
            confidence=Confidence.MEDIUM if certain else Confidence.LOW,
        )


def _first_backward(site: Site) -> ast.Call | None:
    runs = [
        node
        for node in nodes(site.module.tree)
        if isinstance(node, ast.Call) and differentiates(node) is not None
    ]
    return min(runs, key=start_of, default=None)


def _holds_products(site: Site) -> bool:
    """True where the code, not its texts, names attention or a transformer."""
    for node in nodes(site.module.tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.ClassDef(name=name):
                if _MULTIPLIES.search(name):
                    return True
    return False


def _compiles(site: Site) -> bool:
    """True for `torch.compile(model)` and `model.compile()`, but not for an optimizer's step."""
    for node in nodes(site.module.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="compile") as func, args=args):
                if site.dotted(func) == "torch.compile":
                    return not any(_COMPILED.search(ast.unparse(given)) for given in args)
                if not args and site.dotted(owner) != "re":
                    return True
    return False


def _is_script(site: Site) -> bool:
    """True for a file that runs by itself, so that no other sets the precision for it."""
    return any(
        isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
        for node in site.module.tree.body
    ) or any(isinstance(node, (ast.For, ast.While)) for node in site.module.tree.body)
