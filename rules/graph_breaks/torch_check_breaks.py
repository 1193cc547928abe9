"""TCL166: `torch._check*` in a form that Dynamo does not trace."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.lattice import options
from tclint.semantics.values import Tensor

from ..proofs.messages import formats_dynamically
from ..repairs.torch_checks import assert_tensor, check_literally

_TENSOR_CHECKS = frozenset({"torch._check_tensor_all", "torch._check_tensor_all_with"})
_WITH_TYPE = frozenset({"torch._check_with", "torch._check_tensor_all_with"})


class TorchCheckBreaks(Rule[Call]):
    """A `torch._check` function is called in a form that Dynamo does not trace.

    ## What it does
    Reports `torch._check_tensor_all(tensor)`, `torch._assert(tensor, message)`, and
    `torch._check*` functions whose message is a function that formats sizes or tensors
    (`lambda: f"bad {x.shape}"`). A condition on sizes with a constant message is traced, and even
    tells Dynamo something.

    ## Why it hurts
    The first two read their tensor on the host. A message that formats sizes would have to be
    kept as code, which Dynamo does not do. The graph ends there; one such helper in transformers
    gave 86 breaks in five models.

    ## Fix safety
    Eager code keeps the call as it is: safe. Compiled code gets `torch._assert_async`, an operator
    of the graph, or the same check with the literal parts of its message. Where the check of a
    tensor fails, compiled code raises RuntimeError, on a GPU when the device gets there.

    ## References
    - [Graph break GB0124](https://meta-pytorch.org/compile-graph-break-site/gb/gb0124.html)
    - [Graph break GB9158](https://meta-pytorch.org/compile-graph-break-site/gb/gb9158.html)
    """

    code = "TCL166"
    name = "torch-check-breaks"
    summary = "a `torch._check` that reads a tensor or formats sizes breaks the graph"
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124", "GB0033", "GB9158")
    examples = (
        Bad(
            "\ndef f(x):\n    torch._check_tensor_all(x >= 0)\n    return x * 2\n",
            fixed="""
def f(x):
    if torch.compiler.is_compiling():
        torch._assert_async((x >= 0).all(), "check failed: x >= 0")
    else:
        torch._check_tensor_all(x >= 0)
    return x * 2
""",
            proves=("GB0124",),
            fails_on="(-torch.ones(4, 3),)",
            title="a tensor",
        ),
        Untouched(
            "\ndef f(x):\n    try:\n        torch._check_tensor_all(x >= 0)\n"
            "    except RuntimeError:\n        return x\n    return x * 2\n",
            reason="may get another exception",
            proves=("GB0124",),
            title="caught",
        ),
        Bad(
            "\ndef f(x):\n    torch._assert(x.min() >= 0, 'negative')\n    return x * 2\n",
            fixed="""
def f(x):
    if torch.compiler.is_compiling():
        torch._assert_async(x.min() >= 0, 'negative')
    else:
        torch._assert(x.min() >= 0, 'negative')
    return x * 2
""",
            proves=("GB0033",),
            fails_on="(-torch.ones(4, 3),)",
            title="an assertion",
        ),
        Good(
            "\ndef f(x):\n    torch._check(x.shape[0] == 4, lambda: 'bad')\n    return x * 2\n",
            title="a constant message",
        ),
        Good(
            "\ndef f(x, n=3):\n    torch._check_value(n == 3, lambda: f'bad {n}')\n"
            "    return x * 2\n",
            title="a message that formats a constant",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Judge the condition, then the message."""
        if event.function == "torch._assert" and _is_tensor(event, 0):
            return Finding(
                "`torch._assert` reads its tensor on the host",
                assert_tensor(event.site, event.call, 0),
                gb_ids=("GB0033",),
            )
        if not event.function.startswith("torch._check"):
            return None
        place = 1 if event.function in _WITH_TYPE else 0
        if event.function in _TENSOR_CHECKS and _is_tensor(event, place):
            return Finding(
                f"`{event.function}` reads its tensor on the host",
                assert_tensor(event.site, event.call, place),
                gb_ids=("GB0124",),
            )
        message = event.call.args[place + 1 : place + 2]
        if (
            message
            and isinstance(message[0], ast.Lambda)
            and formats_dynamically(event.site, message[0])
        ):
            return Finding(
                f"the message of `{event.function}` formats what is only known when it runs",
                check_literally(event.site, event.call, place),
                gb_ids=("GB9158",),
            )
        return None


def _is_tensor(event: Call, place: int) -> bool:
    values = event.arguments[place : place + 1]
    return bool(values) and all(isinstance(kind, Tensor) for kind in options(values[0]))
