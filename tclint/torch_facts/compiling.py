"""Functions and decorators that say what is compiled, what is not, and which it is just now.

Kept by hand: what they mean is in no signature. ``tests/test_torch_facts_elements.py`` looks
whether torch has them.
"""

from __future__ import annotations

from typing import Final

COMPILE: Final = frozenset({"torch.compile", "torch._dynamo.optimize"})
REORDERING: Final = frozenset(
    f"torch._dynamo.config.reorderable_logging_functions.{name}" for name in ("add", "update")
)
"""What makes Dynamo write the output of a function when the graph has run."""
DISABLED: Final = frozenset(
    {"torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo"}
)
"""What keeps a function out of compiled code."""
OPAQUE: Final = frozenset(
    f"{module}.{name}"
    for module in ("torch.compiler", "torch._dynamo")
    for name in ("assume_constant_result", "allow_in_graph")
)
"""What lets compiled code call a function that Dynamo does not look into."""
KERNELS: Final = frozenset(
    "numba.cuda.jit numba.jit numba.njit taichi.func taichi.kernel triton.jit warp.func "
    "warp.kernel".split()
)
"""What compiles a function's text for itself: Python runs none of it."""
OPERATOR: Final = "torch.library.custom_op"
"""What makes a decorator of that kind: it is given a name, not the function."""
COMPILING: Final = frozenset(
    {
        "torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling",
        "torch._dynamo.is_compiling", "torch._dynamo.external_utils.is_compiling",
        "torch._utils.is_compiling",
    }
)  # fmt: skip
"""Questions that are true in compiled code."""
COMPILING_NAMES: Final = frozenset(
    {"is_torchdynamo_compiling", "is_dynamo_compiling", "is_compiling"}
)
"""What projects call their own functions that ask so."""
NOT_COMPILING: Final = frozenset(
    {
        "torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export",
        "torch.compiler.is_exporting", "torch._C._get_tracing_state", "torchvision._is_tracing",
    }
)  # fmt: skip
"""Questions that are false in compiled code."""
VERSION_PARSERS: Final = frozenset(
    {
        "distutils.version.LooseVersion", "looseversion.LooseVersion", "packaging.version.Version",
        "packaging.version.parse", "pkg_resources.packaging.version.parse",
        "pkg_resources.parse_version", "torch.torch_version.TorchVersion",
    }
)  # fmt: skip
"""What makes a version of a string, to be compared with others."""
ASSERTS: Final = frozenset({"torch._assert", "torch._check"})
"""What raises where its first argument is false."""
SCRIPT: Final = frozenset({"torch.jit.script", "torch.jit.script_if_tracing"})
"""What gives a function for TorchScript that does the same."""
SCRIPTING: Final = SCRIPT | {"torch.jit.script_method", "torch.jit.export"}
UNSCRIPTED: Final = frozenset({"torch.jit.ignore", "torch.jit.unused"})
SCRIPT_MODULES: Final = frozenset({"torch.jit.ScriptModule", "torch.jit._script.ScriptModule"})

STEPPED_MODULES: Final = frozenset({"LightningModule"})
"""Modules whose trainer calls their steps: it compiles these where the module was compiled."""
COMPILED_STEPS: Final = ("training_step", "validation_step", "test_step", "predict_step")
TRAINING: Final = {
    "transformers": frozenset({"torch_compile", "torch_compile_backend", "torch_compile_mode"}),
    "composer": frozenset({"compile_config"}),
}
"""Packages whose ``Trainer`` compiles the ``forward`` of its model, by which settings."""
PREPARING: Final = {
    name: frozenset({"dynamo_backend", "dynamo_plugin"}) for name in ("prepare", "prepare_model")
}
"""Methods of accelerate's ``Accelerator`` that do so."""
PREPARERS: Final = {
    **dict.fromkeys(("accelerate.Accelerator", "accelerate.accelerator.Accelerator"), PREPARING),
    **dict.fromkeys(
        ("lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric"),
        ("setup", "setup_module"),
    ),
}
"""Classes, and their methods that give back what they are given, wrapped."""
TELLING: Final = {
    "transformers": frozenset({"TrainingArguments", "Seq2SeqTrainingArguments"}),
    "accelerate": frozenset({"Accelerator"}),
    "composer": frozenset({"Trainer"}),
}
"""What takes these settings."""
COMPILING_MODULES: Final = frozenset({"torchtune.training.compile_loss"})
"""Functions of packages that compile the module they are given, whatever it is."""
