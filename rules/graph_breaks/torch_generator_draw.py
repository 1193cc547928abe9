"""TCL190: a draw in compiled code from a generator of one's own."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.lattice import options
from tclint.semantics.values import Object, Value

from ..lib.wording import consequence, loop_ids

_WAY_OUT = (
    "draw before the compiled function is called and pass the numbers in, or leave `generator` out:"
    " `torch.manual_seed` before the call makes the graph's own draws reproducible"
)
_PACKAGES = ("torch.utils.", "torch.distributed.")


class TorchGeneratorDraw(Rule[Call]):
    """Compiled code draws random numbers from a `torch.Generator`."""

    code = "TCL190"
    name = "torch-generator-draw"
    former_names = ("own-generator",)
    summary = "A draw from a `torch.Generator` breaks the graph"
    instead = (
        "Draw before the compiled call and pass the numbers in, or leave the generator out and "
        "seed with `torch.manual_seed`"
    )
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0055", "GB7000")

    def check(self, event: Call) -> Finding | None:
        """Look at what `generator=` holds; one that may be None is somebody's choice."""
        given = _generator(event.call)
        if given is None or not _draws(event.function):
            return None
        kinds = [*options(event.site.value(given))]
        if not any(map(_is_generator, kinds)):
            return None
        return Finding(
            f"`{event.function.removeprefix('torch.Tensor.')}` draws from a `torch.Generator`"
            f"{consequence(event.site)}",
            Advice(_WAY_OUT),
            gb_ids=loop_ids(event.site, "GB0055"),
            confidence=None if all(map(_is_generator, kinds)) else Confidence.LOW,
        )


def _generator(call: ast.Call) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == "generator"), None)


def _draws(function: str) -> bool:
    return function.startswith("torch.") and not function.startswith(_PACKAGES)


def _is_generator(value: Value) -> bool:
    return isinstance(value, Object) and value.name == "torch.Generator"
