"""Write the graphs of a target as scripts of their own, as torch's minifier does (child only)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch._dynamo.repro.after_dynamo import generate_dynamo_fx_repro_string
from torch.fx import GraphModule  # noqa: TC002 - beside the other half of torch

from tclint.verify.probe import load_state
from tclint.verify.snapshot import outcome
from tclint.verify.subject import Making, Workshop


def capture(making: Making, desk: Path, backend: str, folder: Path) -> list[str]:
    """Write one script for each graph of the first call, with random inputs of the real shapes."""
    written: list[str] = []

    def keep(graph: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        text = generate_dynamo_fx_repro_string(graph, example_inputs, backend, check_accuracy=True)
        path = folder / f"{_stem(making)}_graph_{len(written)}.py"
        path.write_text(text, encoding="utf-8")
        written.append(str(path))
        forward: Callable[..., Any] = graph.forward
        return forward

    subject = Workshop(making, keep).make(backend=keep)
    load_state(subject, desk)
    outcome(subject.call_compiled)
    return written


def _stem(making: Making) -> str:
    return "".join(c if c.isalnum() else "_" for c in making.target.text)
