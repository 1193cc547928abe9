"""TCL410: a deep model compiled whole."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.options import Option
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.values import Object

from .repeated_blocks import Stack, stacks

MODEL = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return x + torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


"""


class WholeModelCompiled(Rule[CompileCall]):
    """A deep model of equal blocks, compiled whole.

    What it does:
        Reports `torch.compile(model)` where the model's `__init__` stacks 16 or more blocks of one
        class (the option `minimum-blocks`), all made the same way, in a `ModuleList` or
        `Sequential`.

    Why it hurts:
        The whole model becomes one graph in which every block is compiled again. Compiling the
        block instead does it once: with 64 small layers on an H200 (torch 2.11) the first call
        took 0.38 s instead of 8.06 s. It is a trade: without fusion across blocks, and with guards
        checked for each, a step took 7.3 ms instead of 3.2 ms. Regional compilation pays for
        development, tests and short runs, and for blocks that are large.

    Fix safety:
        Shown, never applied: whether cold start or steady state counts is for the author to say.

    References:
        PyTorch's tutorial on regional compilation; `torch.compiler.nested_compile_region` keeps one
        graph and still compiles the block once.
    """

    code = "TCL410"
    name = "whole-model-compiled"
    summary = "Compiling a deep model whole compiles each of its equal blocks again"
    on = CompileCall
    effects = (Effect.COLD_START,)
    outside_regions = True
    options = (Option("minimum-blocks", 16, "How many equal blocks make a model deep."),)
    examples: ClassVar = (
        Bad(
            code=MODEL + "model = Net(16)\nmodel = torch.compile(model)\nf = model\n",
            title="equal blocks",
        ),
        Good(
            f"{MODEL}model = Net(16)\nfor block in model.blocks:\n    block.compile()\nf = model\n",
            title="the block compiled",
        ),
        Good(code=MODEL + "model = Net(4)\nf = torch.compile(model)\n", title="a shallow model"),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look for a long stack in what is compiled."""
        if not isinstance(event.target, Object) or not event.target.is_module:
            return None
        deepest = max(stacks(event.target), key=lambda s: s.count, default=None)
        if deepest is None or deepest.count < self.option(event, "minimum-blocks"):
            return None
        return Finding(
            f"`{event.target.name.rpartition('.')[2]}` is compiled whole: each of its "
            f"{deepest.count} `{deepest.block}`s adds to the first call; compiling the block does "
            "it once (64 small layers on an H200: first call 8.06 s to 0.38 s, but each step "
            "3.2 ms to 7.3 ms)",
            fix=_repair(event, deepest),
            confidence=Confidence.MEDIUM,
        )


def _repair(event: CompileCall, stack: Stack) -> Repair | Decline:
    """Compile the blocks, and let the model itself stand where it was compiled."""
    site, call = event.site, event.call
    statement, whole = site.statement, getattr(site.statement, "value", None)
    match event.keywords.get("model"), call:
        case (
            [ast.Name() as model, _]
            | [None, ast.Call(func=ast.Attribute(ast.Name() as model, "compile"), args=[])]
            | [None, ast.Call(args=[ast.Name() as model])]
        ):
            pass
        case _:
            return Decline("the model has no name here: give it one, then compile its blocks")
    if whole is not call or site.body.names("block"):
        return Decline("the call is part of a larger expression, or `block` is a name already")
    arguments = ", ".join(f"{key}=${key}" for key in event.keywords if key != "model")
    loop = f"for block in {model.id}.{stack.attribute}:\n    block.compile({arguments})"
    parts = dict(event.keywords)
    match statement:
        case ast.Expr() | ast.Assign(targets=[ast.Name(id=model.id)]):
            rewrites: tuple[Rewrite, ...] = (Replace(statement, loop, parts),)
        case _:
            kept = Replace(call, "$model", {"model": model})
            rewrites = (Insert(statement, loop, parts), kept)
    return Repair(
        "Compile the block instead of the model",
        rewrites,
        Applicability.DISPLAY,
        changes="the first call gets faster, each later one may get slower",
    )
