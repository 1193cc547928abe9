"""TCL190: a draw in compiled code from a generator of one's own."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.lattice import options
from tclint.semantics.values import Object, Value

from ..decisions.wording import consequence, loop_ids

_WAY_OUT = (
    "draw before the compiled function is called and pass the numbers in, or leave `generator` out:"
    " `torch.manual_seed` before the call makes the graph's own draws reproducible"
)
_PACKAGES = ("torch.utils.", "torch.distributed.")


class OwnGenerator(Rule[Call]):
    """`generator=` in compiled code.

    ## What it does
    Reports functions of torch that draw from a `torch.Generator`, made before or passed in:
    `torch.randn(..., generator=g)`, `t.normal_(generator=g)`, `torch.multinomial(...)`.

    ## Why it hurts
    A graph cannot hold a generator: it ends before each such draw. Without the argument, the draw
    is part of the graph.

    ## Fix safety
    There is no fix: without its generator, the code draws other numbers.

    ## References
    - [Graph break GB0055](https://meta-pytorch.org/compile-graph-break-site/gb/gb0055.html)
    """

    code = "TCL190"
    name = "own-generator"
    summary = "a draw from a `torch.Generator` breaks the graph"
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0055", "GB7000")
    examples = (
        Untouched(
            "\ngenerator = torch.Generator()\n\n\ndef f(x):\n"
            "    return x + torch.randn(3, generator=generator)\n",
            reason="draw before the compiled function is called and pass the numbers in",
            proves=("GB0055",),
        ),
        Untouched(
            "\nclass f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.source = torch.Generator()\n\n    def forward(self, x):\n"
            "        return x + torch.empty(3).normal_(generator=self.source)\n",
            reason="draw before the compiled function is called and pass the numbers in",
            proves=("GB0055",),
            title="in place",
        ),
        Good(
            "\ndef noise(x, generator=None):\n"
            "    return torch.rand(3, generator=generator) > 2.0\n\n\n"
            "def f(x):\n    return torch.where(noise(x), x + 1, x)\n",
            title="no generator",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at what `generator=` holds; one that may be None is somebody's choice."""
        given = _generator(event.call)
        if given is None or not _draws(event.function):
            return None
        kinds = [*options(event.site.value(given))]
        if not any(map(_is_generator, kinds)):
            return None
        return Finding(
            f"`{event.function.removeprefix('torch.Tensor.')}` draws from a generator of its own"
            f"{consequence(event.site)}",
            Decline(_WAY_OUT),
            gb_ids=loop_ids(event.site, "GB0055"),
            confidence=None if all(map(_is_generator, kinds)) else Confidence.LOW,
        )


def _generator(call: ast.Call) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == "generator"), None)


def _draws(function: str) -> bool:
    return function.startswith("torch.") and not function.startswith(_PACKAGES)


def _is_generator(value: Value) -> bool:
    return isinstance(value, Object) and value.name == "torch.Generator"
