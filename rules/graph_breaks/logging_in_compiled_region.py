"""TCL121: logging in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import SideEffectCall

from ..output.repair import describe, gb_ids, repair_output


class LoggingInCompiledRegion(Rule[SideEffectCall]):
    """Something is logged where Dynamo traces.

    ## What it does
    Reports calls of a logger's methods, `isEnabledFor` included, and of the functions of the
    `logging` module in compiled code.

    ## Why it hurts
    Dynamo traces no logger: it ends the graph before the call, **even when the level is off** and
    nothing would be written. Inside a loop or a `try` the whole function falls back to eager. A
    tensor as argument makes the CPU wait for the device again and again while the record is made:
    70 host syncs for one `logger.info("%s", tensor)` on an H200.
    `torch._dynamo.config.reorderable_logging_functions` does not help, it works for `print` only.

    ## Fix safety
    By default the call goes under `if not torch.compiler.is_compiling():`. Eager code does what it
    did, compiled code logs nothing. An `if` that is there only for the call, and whose test would
    break the graph too, goes under the guard as a whole. The fix is unsafe when the arguments do
    more than compute, because compiled code then leaves that out as well. The option
    `side-effects` can choose `trace-time` (log once per compilation; unsafe unless all arguments
    are literals) or `remove` (unsafe) instead.

    ## References
    - [Graph break GB0291](https://meta-pytorch.org/compile-graph-break-site/gb/gb0291.html)
    - [Graph break GB4841](https://meta-pytorch.org/compile-graph-break-site/gb/gb4841.html)
    """

    code = "TCL121"
    name = "logging-in-compiled-region"
    summary = "A logger call in compiled code breaks the graph, even when its level is off"
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0291", "GB4841")
    examples = (
        Bad(
            """
def f(x):
    y = x * 2
    logger.debug("shape %s", y.shape)
    return y + 1
""",
            fixed="""
def f(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        logger.debug("shape %s", y.shape)
    return y + 1
""",
            proves=("GB0291",),
            title="a level that is off",
        ),
        Bad(
            """
def f(x):
    y = x * 2
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("y is there")
    return y + 1
""",
            fixed="""
def f(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("y is there")
    return y + 1
""",
            proves=("GB0291",),
            title="asking for the level breaks as well",
        ),
        Bad(
            """
def f(x):
    y = x * 2
    logging.info("half way")
    return y + 1
""",
            fixed="""
def f(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        logging.info("half way")
    return y + 1
""",
            proves=("GB4841",),
            title="the module's functions",
        ),
        Untouched(
            """
def f(x):
    y = x * 2
    chatty = logger.isEnabledFor(logging.DEBUG)
    return y + chatty
""",
            reason="the call's value is used",
            proves=("GB0291",),
        ),
        Good(
            """
def f(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        logger.debug("y %s", y)
    return y + 1
"""
        ),
    )

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report loggers' methods and the functions of ``logging``."""
        if event.sink not in {"logger", "logging"}:
            return None
        own = "GB0291" if event.sink == "logger" else "GB4841"
        return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, own))
