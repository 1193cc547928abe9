"""TCL120: `print` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import SideEffectCall

from ..output.repair import describe, gb_ids, repair_output


class PrintInCompiledRegion(Rule[SideEffectCall]):
    """Something is printed where Dynamo traces.

    ## What it does
    Reports `print` and writes to `sys.stdout` or `sys.stderr` in compiled code.

    ## Why it hurts
    A graph cannot write to the terminal: Dynamo ends it before the call and starts another one
    after it. Inside a loop or a `try` the whole function falls back to eager. Printing a tensor
    also makes the CPU wait for the device in eager code, and not only once: 14 host syncs for one
    `print(tensor)` on an H200.

    ## Fix safety
    The option `side-effects` picks one of these:

    - `guard` (default) puts the call under `if not torch.compiler.is_compiling():`. Eager code
      does what it did, compiled code prints nothing. Prints next to each other share one. It is
      unsafe when the arguments do more than compute, because compiled code then leaves that out as
      well, and when `file=` is not the terminal, because the file is then not written.
    - `graph-print` prints from inside the graph with `torch._higher_order_ops.print` (torch 2.11
      and newer; a private name). It is unsafe for shapes and lists, whose text may differ.
    - `trace-time` prints once per compilation. It is unsafe unless all arguments are literals.
    - `reorder` only shows the setting that makes Dynamo print after the graph has run.
    - `remove` deletes the call and is always unsafe.

    ## References
    - [Graph break GB0059](https://meta-pytorch.org/compile-graph-break-site/gb/gb0059.html)
    """

    code = "TCL120"
    name = "print-in-compiled-region"
    summary = "`print` in compiled code breaks the graph"
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0059",)
    examples = (
        Bad(
            """
def f(x):
    y = x * 2
    print("y", y)
    return y + 1
""",
            fixed="""
def f(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        print("y", y)
    return y + 1
""",
            proves=("GB0059",),
            title="a tensor is printed",
        ),
        Bad(
            """
def f(x):
    for step in range(3):
        x = x * 2
        print(step)
    return x
""",
            fixed="""
def f(x):
    for step in range(3):
        x = x * 2
        if not torch.compiler.is_compiling():
            print(step)
    return x
""",
            proves=("GB0059", "GB7000"),
            title="in a loop: nothing is compiled",
        ),
        Bad(
            """
def f(x, log=None):
    print("shape", x.shape)
    print("norm", x.norm(), file=log)
    return x * 2
""",
            fixed="""
def f(x, log=None):
    if not torch.compiler.is_compiling():
        print("shape", x.shape)
    print("norm", x.norm(), file=log)
    return x * 2
""",
            unsafe="""
def f(x, log=None):
    if not torch.compiler.is_compiling():
        print("shape", x.shape)
        print("norm", x.norm(), file=log)
    return x * 2
""",
            proves=("GB0059",),
            title="a file that compiled code would no longer write",
        ),
        Untouched(
            """
def f(x):
    y = x * 2
    done = [print(row) for row in range(2)]
    return y + len(done)
""",
            reason="the call is inside a comprehension",
            proves=("GB0059",),
        ),
        Untouched(
            """
def f(x):
    if torch.compiler.is_compiling():
        print("compiled")
    return x * 2
""",
            reason="only compiled code comes here",
            proves=("GB0059",),
        ),
        Good(
            """
VERBOSE = False

def f(x):
    y = x * 2
    if VERBOSE:
        print("y", y)
    return y + 1
""",
            title="Dynamo never gets to a print below a flag that is off",
        ),
    )

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report prints and writes to the standard streams."""
        if event.sink not in {"print", "stdout"}:
            return None
        own = "GB0059" if event.sink == "print" else "GB0156"
        return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, own))
