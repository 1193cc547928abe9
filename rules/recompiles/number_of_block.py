"""TCL227: equal blocks, compiled one by one, that differ in a number."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall
from tclint.semantics.values import Object

from .numbered_blocks import numbered

_PROGRAM = """
class Block(nn.Module):
    def __init__(self, place):
        super().__init__()
        self.place = place
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return {result}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i) for i in range(12)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


f = Net()
for block in f.blocks:
    block.compile()
"""
_INPUT = "(torch.ones(3),)"


class NumberOfBlock(Rule[CompileCall]):
    """Equal blocks are compiled one by one, and each works with its own number.

    ## What it does
    Reports `for block in model.blocks: block.compile()` (or `torch.compile(block)`) where the
    blocks are made by `[Block(i) for i in range(n)]`, keep `i` and use it in `forward`.

    ## Why it hurts
    Blocks of one class share one compiled function as long as its guards hold. An integer attribute
    is compiled in as a number, so that each block compiles again: with 12 blocks 8 times on torch
    2.13, and the others run eagerly. The same with `allow_unspec_int_on_nn_module` compiles once
    more, and not at all where `forward` does not use the number.

    ## Fix safety
    None is offered. Set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`, or decide in
    `__init__` what the number decides (`self.scale = 1.0 / (place + 1)`: floats are inputs of the
    graph), or compile the model whole.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL227"
    name = "number-of-block"
    summary = "blocks compiled one by one that use their number compile again for each"
    on = CompileCall
    effects = (Effect.RECOMPILE,)
    outside_regions = True
    examples = (
        Untouched(
            _PROGRAM.format(result="self.linear(x) * 2 if self.place > 3 else self.linear(x)"),
            "allow_unspec_int_on_nn_module",
            _INPUT,
            proves=("recompile",),
        ),
        Good(
            _PROGRAM.format(result="self.linear(x)")
            .replace("x = block(x)", "x = block(x).detach()")
            .replace("f = Net()", "f = Net().requires_grad_(False)"),
            _INPUT,
            title="the number is not used",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look at the class of what a loop compiles."""
        target = event.target
        if not event.site.facts.loops or not isinstance(target, Object) or target.cls is None:
            return None
        found = numbered(target.cls)
        if found is None:
            return None
        name = f"{target.cls.name}.{found.attribute}"
        return Finding(
            f"`{name}` is compiled in as a number, so that each block compiles again: eight times, "
            "then blocks run eagerly",
            Decline(
                "set `torch._dynamo.config.allow_unspec_int_on_nn_module`, or decide in `__init__` "
                "what the number decides"
            ),
            confidence=Confidence.MEDIUM,
        )
