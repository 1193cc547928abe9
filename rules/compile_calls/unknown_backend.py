"""TCL402: a backend that torch does not have."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from .arguments import names_for, rename, text, version_of
from .nearest import Nearest, nearest

FUSERS = frozenset(
    {"aot_nvfuser", "aot_ts_nvfuser", "nnc", "nvfuser", "nvprims_nvfuser", "prims_nvfuser"}
)
OTHERS_REMOVED = frozenset({"ansor", "fx2trt", "ofi"})
FROM_PACKAGES = frozenset(
    {"hidet", "hpu_backend", "ipex", "neuron", "neuronx", "npu", "onnxrt", "openvino"}
    | {"openvino_fx", "qaic", "tensorrt", "torch_tensorrt", "tt"}
)
REGISTER = ("torch._dynamo.register_backend", "torch._dynamo.backends.registry.register_backend")


class UnknownCompileBackend(Rule[CompileCall]):
    """A backend that torch does not have."""

    code = "TCL402"
    name = "unknown-compile-backend"
    summary = "A backend that torch does not have makes `torch.compile` raise"
    instead = "Use a backend that torch has; `inductor` is the default"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Compare the backend with those that torch brings along."""
        backend = text(event, "backend")
        known = names_for(event).backends
        if backend is None or backend in known | FROM_PACKAGES or _registers(event):
            return None
        node = event.keywords.get("backend")
        if backend in FUSERS | OTHERS_REMOVED:
            meant: Nearest | None = Nearest("inductor", clear=backend in FUSERS)
            ending = ""
        else:
            close = nearest(backend, known)
            meant = close if close and close.clear else None
            ending = "" if meant else " unless a package registers it"
        return Finding(
            f'"{backend}" is not a backend of {version_of(event)}: torch.compile raises{ending}',
            fix=rename(event, node, meant),
            node=node,
            confidence=Confidence.HIGH if meant else Confidence.LOW,
            instead=f'Use "{meant.name}"' if meant else "",
        )


def _registers(event: CompileCall) -> bool:
    """True when the file registers backends of its own."""
    module = event.site.module
    decorators = (d for f in module.functions.values() for d in f.decorators)
    return any(name in REGISTER for name in (*decorators, *module.imports.values()))
