"""TCL701: an input is changed in place under CUDA graphs."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import Call
from tclint.semantics.values import Tensor

from ..proofs.inputs import is_input
from .modes import records_graphs

# These end in an underscore and write no element.
_HARMLESS: Final = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_"})
_MODE: Final = '@torch.compile(mode="reduce-overhead")\n'


class InputMutatedUnderCudaGraphs(Rule[Call]):
    """Compiled code that is to become a CUDA graph changes one of its inputs in place.

    ## What it does
    Reports in-place methods (`x.add_(1)`, `cache.index_copy_(...)`) on a parameter of a function
    that is compiled with `mode="reduce-overhead"` or `mode="max-autotune"`.

    ## Why it hurts
    A CUDA graph works on copies of its inputs, so that torch records none where an input is
    changed: "skipping cudagraphs due to mutated inputs". A function of 20 products and softmaxes
    on an H200 took 0.18 ms as a graph, and 0.85 ms after `x.add_(1)` was put in front: what it
    takes without the mode. Buffers and parameters of a module may be changed.

    ## Fix safety
    None is offered: whoever calls may need the change. Return the new value, make the tensor a
    buffer, or call `torch._dynamo.mark_static_address` on it once.

    ## References
    - [CUDAGraph Trees](https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html)
    """

    code = "TCL701"
    name = "input-mutated-under-cuda-graphs"
    summary = "a changed input keeps compiled code from becoming a CUDA graph"
    on = Call
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(f"\n{_MODE}def f(x):\n    x.add_(1)\n    return torch.softmax(x @ x.T, dim=-1)\n"),
        Good(
            f"\n{_MODE}def f(x):\n    y = x + 1\n    y.mul_(2)\n    x = y @ y.T\n"
            "    return x.relu_()\n",
            title="what it made itself",
        ),
        Good(
            "\nclass Count(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            '        self.register_buffer("n", torch.zeros(()))\n\n'
            "    def forward(self, x):\n        self.n.add_(1)\n        return x * self.n\n"
            '\n\nf = torch.compile(Count(), mode="reduce-overhead")\n',
            title="a buffer",
        ),
        Good("\n@torch.compile\ndef f(x):\n    return x.clone().add_(1)\n", title="without graphs"),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at in-place methods of parameters."""
        site, name = event.site, event.function.rpartition(".")[2]
        region = site.region
        if region is None or not records_graphs(region.mode):
            return None
        if not isinstance(event.owner, Tensor):
            return None
        if not name.endswith("_") or name.endswith("__") or name in _HARMLESS:
            return None
        source = event.call.func.value if isinstance(event.call.func, ast.Attribute) else None
        if not isinstance(source, ast.Name) or not is_input(site, source):
            return None
        return Finding(
            f"`{source.id}` is an input that is changed in place: torch skips CUDA graphs, which "
            f'`mode="{region.mode}"` asks for',
            confidence=Confidence.MEDIUM if event.owner.assumed else None,
        )
