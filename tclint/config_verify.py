"""The tables ``[[tool.tclint.verify]]``: programs to verify, how, and within which budget."""

from __future__ import annotations

from typing import Any, Final

from tclint.records import record

PHASES: Final = ("forward", "backward", "step")
TARGET_PATTERN: Final = r"^.+:[\w.]+$"


@record(frozen=True)
class Budget:
    """What a target may cost; None sets no limit, except that no break is allowed by default."""

    max_graph_breaks: int | None = None
    max_recompiles: int | None = None
    max_syncs: int | None = None
    min_speedup: float | None = None
    max_cold_start: float | None = None


@record(frozen=True)
class VerifyTarget:
    """A program for ``tclint verify``: ``pkg.mod:factory``, and what reports call it.

    What is None is as the command line says.
    """

    target: str
    name: str
    mode: str | None = None
    backend: str | None = None
    phase: str | None = None
    device: str | None = None
    inputs: tuple[str, ...] = ()
    budget: Budget = Budget()


VERIFY_KEYS: Final[dict[str, dict[str, Any]]] = {
    "target": {
        "type": "string",
        "pattern": TARGET_PATTERN,
        "description": "`package.module:factory` or `path/file.py:factory`.",
    },
    "name": {"type": "string", "description": "What reports call it."},
    "mode": {"type": "string", "description": "The torch.compile mode to time."},
    "backend": {"type": "string", "description": "The torch.compile backend to time."},
    "phase": {
        "type": "string",
        "enum": list(PHASES),
        "description": "What one call does: forward, forward and backward, or a training step.",
    },
    "device": {"type": "string", "description": "Where to move the target, `cuda` for one."},
    "inputs": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Random inputs for factories that return a module alone, such as "
        "`float32[8, 3, 32, 32]` or `int64[8]<10`.",
    },
    "max-graph-breaks": {"type": "integer", "minimum": 0, "description": "Breaks allowed."},
    "max-recompiles": {"type": "integer", "minimum": 0, "description": "Recompiles allowed."},
    "max-syncs": {
        "type": "integer",
        "minimum": 0,
        "description": "Waits for the GPU allowed in one compiled call.",
    },
    "min-speedup": {"type": "number", "minimum": 0, "description": "Speedup required."},
    "max-cold-start": {
        "type": "number",
        "minimum": 0,
        "description": "Seconds that the first compiled call may take.",
    },
}
"""JSON schemas of the keys of one table."""

_BUDGET: Final = tuple(key for key in VERIFY_KEYS if key[:4] in {"max-", "min-"})


def verify_target(values: dict[str, Any]) -> VerifyTarget:
    """Make the record of checked values."""
    budget = {key.replace("-", "_"): values[key] for key in _BUDGET if key in values}
    rest = {key: value for key, value in values.items() if key not in _BUDGET}
    rest["name"] = rest.get("name", rest["target"])
    rest["inputs"] = tuple(rest.get("inputs", ()))
    return VerifyTarget(**rest, budget=Budget(**budget))


def plain_target(item: VerifyTarget) -> dict[str, Any]:
    """The table that a record was made of."""
    limits = {key: getattr(item.budget, key.replace("-", "_")) for key in _BUDGET}
    values = {key: getattr(item, key) for key in VERIFY_KEYS if key not in _BUDGET}
    values["inputs"] = list(item.inputs) or None
    return {key: value for key, value in (values | limits).items() if value is not None}
