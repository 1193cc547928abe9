"""The answer in one of the formats; each has a module, which is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tclint.run.ablate import Ablation
    from tclint.run.proof import Proof
    from tclint.run.session import Answer


def rendered(
    answer: Answer,
    output_format: str,
    proof: Proof | None = None,
    ablation: Ablation | None = None,
) -> str:
    """The report as ``text``, ``json``, ``markdown`` or ``html``, seen from the current folder."""
    name = "text" if output_format == "text" else f"as_{output_format}"
    module = import_module(f"tclint.run.report.{name}")
    told: str = module.render(answer, Path.cwd(), proof, ablation)
    return told
