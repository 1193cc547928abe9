"""The child of ``tclint verify``, where everything that it will import is there already."""

from __future__ import annotations

import importlib
import runpy

from torch._logging import _internal

from tests.quiet_torch import quieten

for _name in (
    "torch._dynamo.backends.inductor",
    "torch._inductor.async_compile",
    "torch._inductor.codegen.cpp_wrapper_gpu",
    "torch._inductor.codegen.cuda_combined_scheduling",
    "torch._inductor.compile_fx",
    "torch._inductor.fx_passes.fuse_attention",
    "torch._inductor.fx_passes.mkldnn_fusion",
    "torch.distributed",
    "setuptools",
):
    importlib.import_module(_name)
quieten()

if __name__ == "__main__":
    # Where torch writes its log stands in the environment, which is another than at its import.
    _internal.LOG_TRACE_HANDLER = None
    _internal._init_logs()
    runpy.run_module("tclint.verify.worker", run_name="__main__", alter_sys=True)
