"""A proof for a terminal: what was fixed, the step before and after, the losses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tclint.report.rounded import rounded
from tclint.run.proof import Proof
from tclint.run.report import words


def render(proof: Proof, root: Path) -> str:
    """The proof."""
    return "\n".join(_lines(proof, root)) + "\n"


def _lines(proof: Proof, root: Path) -> Iterator[str]:
    fixes = proof.fixed.fixes
    yield f"with {len(fixes)} fix{'es' if len(fixes) != 1 else ''}:"
    for fix in fixes:
        yield f"  {words.fixed_place(fix, root)}  {fix.diagnostic.code}  {fix.message}"
    before, after, speedup = proof.before.step, proof.after.step, proof.speedup
    yield (
        f"step {rounded(before.value, 4)} -> {rounded(after.value, 4)} ms "
        f"({words.speed(proof)}, {speedup.low:.3g} to {speedup.high:.3g}) · "
        f"graph breaks {proof.before.breaks} -> {proof.after.breaks} · {proof.losses}"
    )
