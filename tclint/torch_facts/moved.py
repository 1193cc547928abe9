"""Names of torch that have a better one: deprecated, or private where a public one exists.

Deprecated ones warn with torch 2.13 (run one by one); private ones were compared with the public
function, which calls them or does the same.

Kept by hand: that two functions do the same is nowhere written down.
"""

from __future__ import annotations

from typing import Final

from tclint.records import record

Version = tuple[int, int]


@record(frozen=True)
class Moved:
    """``new`` is there from ``since`` on, and first takes ``device``, or as the keyword.

    ``positional`` are the parameters that the old one takes by position. ``warns`` is true when
    using it warns. ``same`` says that the new one is the same function, or does nothing else;
    ``lacks`` are arguments of the old one that it does not have. ``scripts`` is true when
    TorchScript takes the old one and not the new one.
    """

    new: str
    since: Version
    device: str = ""
    positional: tuple[str, ...] = ()
    warns: bool = False
    same: bool = False
    lacks: frozenset[str] = frozenset()
    scripts: bool = False


_AUTOCAST: Final = ("enabled", "dtype", "cache_enabled")
_SCALER: Final = ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled")
AUTOCAST_NAMES: Final[dict[str, Moved]] = {
    **{
        f"torch.{device}.amp.autocast": Moved(
            "torch.amp.autocast", (2, 4), device, _AUTOCAST, warns=True
        )
        for device in ("cuda", "cpu")
    },
    **{
        f"torch.{device}.amp.GradScaler": Moved(
            "torch.amp.GradScaler", (2, 4), device, _SCALER, warns=True
        )
        for device in ("cuda", "cpu")
    },
    **{
        f"torch.cuda.amp.{name}": Moved(f"torch.amp.{name}", (2, 4), "cuda", warns=True)
        for name in ("custom_fwd", "custom_bwd")
    },
    "torch.is_autocast_cpu_enabled": Moved(
        "torch.is_autocast_enabled", (2, 4), "cpu", warns=True, same=True, scripts=True
    ),
    **{
        f"torch.get_autocast_{old}_dtype": Moved(
            "torch.get_autocast_dtype", (2, 4), device, warns=True, same=True
        )
        for old, device in (("gpu", "cuda"), ("cpu", "cpu"))
    },
    **{
        f"torch.set_autocast_{old}_dtype": Moved(
            "torch.set_autocast_dtype", (2, 4), device, ("dtype",), warns=True, same=True
        )
        for old, device in (("gpu", "cuda"), ("cpu", "cpu"))
    },
    "torch.set_autocast_cpu_enabled": Moved(
        "torch.set_autocast_enabled", (2, 4), "cpu", ("enabled",), warns=True, same=True
    ),
}
_LACKING: Final = {
    "disable": frozenset({"wrapping"}),
    "substitute_in_graph": frozenset({"is_embedded_type"}),
}
COMPILER_NAMES: Final[dict[str, Moved]] = {
    **{
        f"torch._dynamo.{name}": Moved(
            f"torch.compiler.{name}", since, same=True, lacks=_LACKING.get(name, frozenset())
        )
        for name, since in {
            "allow_in_graph": (2, 1),
            "assume_constant_result": (2, 1),
            "disable": (2, 1),
            "is_compiling": (2, 3),
            "list_backends": (2, 1),
            "reset": (2, 1),
            "set_stance": (2, 6),
            "substitute_in_graph": (2, 5),
        }.items()
    },
    "torch._dynamo.external_utils.is_compiling": Moved(
        "torch.compiler.is_compiling", (2, 3), same=True
    ),
    "torch._utils.is_compiling": Moved(
        "torch.compiler.is_compiling", (2, 3), warns=True, same=True
    ),
    "torch._inductor.cudagraph_mark_step_begin": Moved(
        "torch.compiler.cudagraph_mark_step_begin", (2, 2), same=True
    ),
    "torch._dynamo.optimize": Moved("torch.compile", (2, 0)),
    "torch._dynamo.explain": Moved("torch._dynamo.explain", (2, 1), warns=True),
}
CHECKPOINTS: Final = frozenset(
    {"torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"}
)
CAPTURES: Final = frozenset({"torch.cuda.graph", "torch.cuda.graphs.graph"})
CONFIGS: Final = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")
RELEASED: Final = frozenset(
    {
        *(f"torch.compiler.{name}" for name in (
            "cudagraph_mark_warmup_incomplete", "get_default_backend", "nonstrict_trace",
            "precompile", "PrecompileError", "set_default_backend", "set_stance",
        )),
        *(f"torch._dynamo.{name}" for name in (
            "allow_c_slot", "bytecode_debugger", "comprehension_graph_break", "nonstrict_trace",
            "override_cudagraphs", "override_optimization_hint",
        )),
        "torch._inductor.compile_to_python", "torch._inductor.load_from_python",
    }
)  # fmt: skip
"""Functions of the compiler that came with a release which `lifetimes` names."""
_WATCHED: Final = frozenset({*AUTOCAST_NAMES, *COMPILER_NAMES, *CHECKPOINTS, *CAPTURES, *RELEASED})
_SETTINGS: Final = tuple(f"{config}." for config in CONFIGS)
_LEADING: Final = frozenset(
    name[:end]
    for name in (*_WATCHED, *_SETTINGS)
    for end, letter in enumerate(f"{name}.")
    if letter == "."
)


def is_watched(name: str) -> bool:
    """True for names that a rule may have something to say about, settings among them."""
    return name in _WATCHED or name.startswith(_SETTINGS)


def leads_to_watched(name: str) -> bool:
    """True for a watched name, and for what one is a part of (``torch._dynamo``)."""
    return name in _LEADING or is_watched(name)
