"""TCL163: Python's `any`, `all`, `sorted` over tensors."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorBranch

from ..decisions.wording import consequence, loop_ids, short

_IDS = {
    "any": ("GB0170",),
    "all": ("GB0170",),
    "sorted": ("GB0207", "GB0059"),
    "max": ("GB0193",),
    "min": ("GB0193",),
}
_INSTEAD = {
    "any": "`torch.stack([...]).any()` gives the answer as a tensor, for `torch.where`",
    "all": "`torch.stack([...]).all()` gives the answer as a tensor, for `torch.where`",
    "sorted": "`torch.sort(torch.stack([...]))` sorts on the device",
    "max": "without `key=` and `default=` it is traced",
    "min": "without `key=` and `default=` it is traced",
}


class PythonReductionOverTensors(Rule[TensorBranch]):
    """Python's own `any`, `all` or `sorted` goes through tensors and asks each for its value.

    ## What it does
    Reports builtin `any()` and `all()` over tensors, `sorted()` of tensors without a key, and
    `max()` and `min()` of a sequence of tensors with `key=` or `default=`, in compiled code.
    Plain `max(a, b)`, `max([a, b])` and `sum()` are traced.

    ## Why it hurts
    Each tensor is a question to the device: the graph ends there. `any` over a generator sends
    the whole function to eager. `tensor.any()` is one operator.

    ## Fix safety
    Not fixed: what the answer is for decides what can take its place.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    - [Graph break GB0207](https://meta-pytorch.org/compile-graph-break-site/gb/gb0207.html)
    """

    code = "TCL163"
    name = "python-reduction-over-tensors"
    summary = "builtin `any`, `all` or `sorted` over tensors breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0207", "GB0059", "GB0193", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    if any(row.sum() > 3 for row in y):\n"
            "        y = y + 1\n    return y\n",
            reason="torch.stack",
            proves=("GB0170", "host-sync"),
        ),
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    return sorted([y.sum(), y.max()])\n",
            reason="torch.sort",
            proves=("GB0207",),
            title="sorted",
        ),
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    return max([y, y[:2]], key=lambda t: t.shape[0])\n",
            reason="without `key=`",
            proves=("GB0193",),
            title="the largest by a key",
        ),
        Good(
            "\ndef f(x):\n    y = max([x.sum(), x.max()])\n"
            "    return sorted([x, x[:2]], key=len)[0] * y if any([1, 0]) else y\n",
            title="no value of a tensor is asked for",
        ),
    )

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the builtin's call."""
        site, call = event.site, event.node
        ids = _IDS.get(event.kind)
        if ids is None or not isinstance(call, ast.Call):
            return None
        if event.kind in ("max", "min") and not call.keywords:
            return None
        generator = isinstance(event.test, ast.GeneratorExp) and event.kind in ("any", "all")
        end = consequence(site, always=generator)
        return Finding(
            f"`{event.kind}` goes through the tensors of `{short(site, event.test)}`{end}",
            Decline(_INSTEAD[event.kind]),
            gb_ids=loop_ids(site, *ids),
        )
