"""TCL320: a Python range or a numpy array indexes a tensor."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorIndex

from ..numpy_numbers.positions import is_varying, use_arange

_COPIED = "is copied to the device on every call, and the CPU waits"


class RangeAsIndex(Rule[TensorIndex]):
    """A tensor is indexed by `range(n)`, `list(range(n))` or `np.arange(n)`.

    ## What it does
    Reports subscripts of tensors that hold a range, as in `log_p[range(n), target]`. A tuple that
    is the whole index names one place (`x[tuple(range(2))]` is `x[0, 1]`) and is left alone.

    ## Why it hurts
    In eager mode the numbers are made on the host, copied to the device, and the CPU waits for the
    copy: on an H200, picking one element of each of 1,024 rows took 190 µs with `range(n)`, 161
    with `list(range(n))`, 32 with `np.arange(n)` and 24 with `torch.arange(n, device=...)`, the
    only one without a sync. Compiled code holds every number of a Python range as a constant:
    each new length compiles again, up to the limit of eight, and then the function runs eagerly.
    `torch.arange` and `np.arange` compile twice.

    ## Fix safety
    `torch.arange` gives the same positions. The fix is safe for one length that cannot be
    negative (a size, a `len()`, a constant) and a tensor that is a plain name or attribute. It is
    unsafe for other lengths, since `torch.arange(-1)` raises where `range(-1)` is empty, and for a
    parameter that is only believed to be a tensor: nothing declares it, or asks for its shape.

    ## References
    - [torch.arange](https://docs.pytorch.org/docs/stable/generated/torch.arange.html)
    """

    code = "TCL320"
    name = "range-as-index"
    summary = "a Python range as an index is copied to the device, and compiles per length"
    on = TensorIndex
    effects = (Effect.RECOMPILE, Effect.HOST_SYNC)
    examples = (
        Bad(
            """
def f(log_p, target):
    return -log_p[range(log_p.shape[0]), target].mean()
""",
            inputs="[(torch.rand(n, 3), torch.zeros(n, dtype=torch.long)) for n in (4, 5, 6, 7)]",
            fixed="""
def f(log_p, target):
    return -log_p[torch.arange(log_p.shape[0], device=log_p.device), target].mean()
""",
            proves=("recompile",),
        ),
        Bad(
            """
def f(log_p: torch.Tensor, target):
    n = len(target)
    return -log_p[list(range(n)), target].mean()
""",
            inputs="[(torch.rand(n, 3), torch.zeros(n, dtype=torch.long)) for n in (4, 5, 6, 7)]",
            fixed="""
def f(log_p: torch.Tensor, target):
    n = len(target)
    return -log_p[torch.arange(n, device=log_p.device), target].mean()
""",
            proves=("recompile",),
            title="a list of a range",
        ),
        Bad(
            """
def f(log_p, target):
    return -log_p[range(log_p.shape[0] - 1), target[1:]].mean()
""",
            inputs="[(torch.rand(n, 3), torch.zeros(n, dtype=torch.long)) for n in (4, 5, 6, 7)]",
            unsafe="""
def f(log_p, target):
    return -log_p[torch.arange(log_p.shape[0] - 1, device=log_p.device), target[1:]].mean()
""",
            proves=("recompile",),
            title="a length that may be negative",
        ),
        Bad(
            """
def f(log_p):
    return -log_p[range(3)]
""",
            unsafe="""
def f(log_p):
    return -log_p[torch.arange(3, device=log_p.device)]
""",
            inputs="(torch.rand(4, 3),)",
            title="what may be no tensor",
        ),
        Untouched(
            """
def f(x, target):
    return x.log_softmax(1)[range(x.shape[0]), target].mean()
""",
            reason="evaluated twice",
            inputs="[(torch.rand(n, 3), torch.zeros(n, dtype=torch.long)) for n in (4, 5, 6, 7)]",
            proves=("recompile",),
        ),
        Good(
            """
def f(log_p):
    return -log_p[tuple(range(2))] + log_p[tuple(range(log_p.dim()))]
""",
            inputs="(torch.rand(4, 3),)",
            title="a tuple is an index for each dimension",
        ),
        Good(
            """
def f(log_p, target):
    return -log_p.gather(1, target[:, None]).mean()
""",
            inputs="(torch.rand(4, 3), torch.zeros(4, dtype=torch.long))",
        ),
    )

    def check(self, event: TensorIndex) -> Finding | None:
        """Report the first range among the indices."""
        ranges = [(node, kind) for node, kind in event.items if kind != "list"]
        if not ranges:
            return None
        node, kind = ranges[0]
        site = event.site
        varying = kind != "numpy" and is_varying(site, node)
        if event.tensor.device == "cpu" and not varying:
            return None  # an index of a tensor on the host stays there
        also = ", and each new length compiles again" if varying else ""
        return Finding(
            f"`{site.text(node)}` {_COPIED}{also}",
            fix=use_arange(event, [node for node, _ in ranges]),
            node=node,
            effect=Effect.RECOMPILE if varying else Effect.HOST_SYNC,
        )
