"""Hear from Dynamo where compiled code broke, recompiled or fell back."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.utils import clear_compilation_metrics, get_compilation_metrics

_OF_ANY_BACKEND = ("fullgraph", "dynamic")
BREAK_ID = re.compile(r"/(gb\d+)\.html")


@dataclass(slots=True)
class Compilation:
    """What torch.compile did while it was watched."""

    graphs: int = 0
    operators: int = 0
    reasons: list[str] = field(default_factory=list)
    recompiles: int = 0

    @property
    def gb_ids(self) -> set[str]:
        """The ids of all graph breaks, such as ``GB0124``."""
        return {found.upper() for text in self.reasons for found in BREAK_ID.findall(text)}

    def backend(self, module: torch.fx.GraphModule, _inputs: list[Any]) -> Callable[..., Any]:
        """A backend that counts graphs and their operators, and runs them as they are."""
        self.graphs += 1
        self.operators += sum(node.op.startswith("call_") for node in module.graph.nodes)
        return module.forward


@contextmanager
def _reasons() -> Iterator[list[str]]:
    """Why the graph breaks in this block.

    Heard where Dynamo says it, and not in its log: as soon as anybody listens to that, it writes
    down each guard and graph.
    """
    found: list[str] = []
    real = torch._logging.trace_structured

    def hear(
        name: str,
        metadata_fn: Callable[[], Any] = dict,
        *,
        payload_fn: Callable[[], Any] = lambda: None,
        **others: Any,
    ) -> None:
        if name == "artifact" and metadata_fn().get("name") == "dynamo_graph_break_reason":
            found.append(str(payload_fn()).partition("\nTraceback (most recent call last)")[0])
        real(name, metadata_fn, payload_fn=payload_fn, **others)

    torch._logging.trace_structured = hear
    try:
        yield found
    finally:
        torch._logging.trace_structured = real


@contextmanager
def watch() -> Iterator[Compilation]:
    """Watch all compilation inside the block, from a clean start."""
    torch._dynamo.reset()
    clear_compilation_metrics()
    warner = logging.getLogger("torch._dynamo")
    if warner.level != logging.ERROR:  # for good: a thousand loggers look up theirs after a change
        warner.setLevel(logging.ERROR)
    try:
        with _reasons() as reasons:
            seen = Compilation(reasons=reasons)
            yield seen
    finally:
        seen.recompiles = sum(bool(m.recompile_reason) for m in get_compilation_metrics())


@contextmanager
def compile_with(backend: Callable[..., Any]) -> Iterator[None]:
    """Let ``torch.compile`` check its arguments as ever, but build with ``backend``.

    Compilers for the machine are slow and not always there; what breaks does not depend on them.
    """
    real = torch.compile

    def compile_(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda decorated: compile_(decorated, **options)
        kept = {name: options[name] for name in _OF_ANY_BACKEND if name in options}
        if kept != options:
            checked = real(model, **options)
            if options.get("backend", "inductor") != "inductor":
                return checked
        return real(model, backend=backend, **kept)

    torch.compile = compile_
    try:
        yield
    finally:
        torch.compile = real
