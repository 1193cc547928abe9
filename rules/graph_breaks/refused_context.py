"""TCL185: a `with` that Dynamo cannot enter."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ContextEntered

from ..lib.wording import consequence

_STACK = "contextlib.ExitStack"
_OUTSIDE = "enter it around the compiled function, or keep the block out of compiled code"
_OBJECTS: Final = frozenset(
    """
    threading.BoundedSemaphore threading.Condition threading.Lock threading.RLock
    threading.Semaphore torch.device
    """.split()
)
"""Measured on torch 2.13: with an object made before, the whole function runs eagerly."""
_CALLS: Final[dict[str, str]] = {
    name: gb_id
    for gb_id, names in {
        "GB0007": """
            decimal.localcontext torch._C._DisableTorchDispatch torch._dynamo.config.patch
            torch.jit.fuser torch.jit.optimized_execution
            torch.utils.checkpoint.set_checkpoint_early_stop unittest.mock.patch
        """,
        "GB0008": """
            torch.autograd.detect_anomaly torch.autograd.graph.save_on_cpu
            torch.autograd.graph.saved_tensors_hooks torch.autograd.set_detect_anomaly
            torch.autograd.set_multithreading_enabled torch.cuda.device_of
            torch.serialization.safe_globals
        """,
        "GB0059": "builtins.open open tempfile.NamedTemporaryFile",
        "GB0156": """
            concurrent.futures.ThreadPoolExecutor contextlib.redirect_stderr
            contextlib.redirect_stdout tempfile.TemporaryDirectory
        """,
        "GB0208": """
            torch.backends.cuda.sdp_kernel torch.backends.cudnn.flags torch.backends.mkldnn.flags
            torch.cuda.nvtx.range torch.random.fork_rng torch.sparse.check_sparse_tensor_invariants
        """,
        "GB0294": "numpy.errstate",
    }.items()
    for name in names.split()
}
"""With one that a call makes, all that follows runs eagerly."""
_INSTEAD: Final = {
    "torch.device": "pass `device=` to what is created inside",
    "torch.backends.cuda.sdp_kernel": "`torch.nn.attention.sdpa_kernel` is traced",
    "torch.random.fork_rng": "fork and seed around the compiled function",
    "contextlib.ExitStack": "write the managers out, or use `contextlib.nullcontext()` for none",
}


class RefusedContext(Rule[ContextEntered]):
    """Compiled code enters a context manager that Dynamo does not trace."""

    code = "TCL185"
    name = "refused-context"
    summary = "A context manager that Dynamo does not trace makes the function run eagerly"
    instead = "Enter the context around the compiled call"
    on = ContextEntered
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0142", "GB0066")

    def check(self, event: ContextEntered) -> Finding | None:
        """Look the manager up among those that were measured."""
        name, site = event.manager, event.site
        stacked = name == _STACK and _is_filled(event.statement)
        gb_id = _CALLS.get(name)
        if gb_id is None and name not in _OBJECTS and not stacked:
            return None
        end = consequence(site, always=True)
        ids = ("GB0066",) if stacked else ("GB0142", *((gb_id,) if gb_id else ()))
        message = f"Dynamo cannot enter `{name.removeprefix('builtins.')}`{end}"
        instead = Advice(_INSTEAD.get(name, _OUTSIDE))
        return Finding(message, instead, gb_ids=ids)


def _is_filled(statement: ast.With | ast.AsyncWith) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "enter_context"
        for inner in statement.body
        for node in ast.walk(inner)
    )
