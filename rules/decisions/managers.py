"""Context managers that Dynamo does not enter, measured one by one on torch 2.13.

A break inside or at such a `with` cannot be resumed: with an object made before (``OBJECTS``) the
whole function runs eagerly; with one made by the call (``CALLS``) all that follows does.
"""

from __future__ import annotations

from typing import Final

OBJECTS: Final = frozenset(
    """
    threading.BoundedSemaphore threading.Condition threading.Lock threading.RLock
    threading.Semaphore torch.device
    """.split()
)
CALLS: Final[dict[str, str]] = {
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
            torch.autograd.set_multithreading_enabled torch.serialization.safe_globals
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
INSTEAD: Final = {
    "torch.device": "give `device=` to what is made inside",
    "torch.backends.cuda.sdp_kernel": "`torch.nn.attention.sdpa_kernel` is traced",
    "torch.random.fork_rng": "fork and seed around the compiled function",
    "contextlib.ExitStack": "write the managers out, or use `contextlib.nullcontext()` for none",
}
