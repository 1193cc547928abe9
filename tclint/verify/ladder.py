"""The ablation ladder: the target through ever more of the compiler, to see where it goes wrong."""

from __future__ import annotations

from pathlib import Path

import torch
import torch._inductor.config

from tclint.verify.layers import LADDER
from tclint.verify.probe import Judge, load_state, run
from tclint.verify.results import Rung
from tclint.verify.snapshot import Raised
from tclint.verify.subject import Making, Workshop


def climb(making: Making, desk: Path, backend: str, *, whole: bool) -> Rung:
    """Compile with one backend and compare with eager, in a process of its own (child only)."""
    shop = Workshop(making, backend)
    if whole:
        shop.compile_whole()
    subject = shop.make(backend=backend)
    load_state(subject, desk)
    # A rung that draws in another order is not at fault.
    with torch._inductor.config.patch(fallback_random=True):
        compiled = run(subject, subject.call_compiled, calls=1)
    fresh = shop.make()
    load_state(fresh, desk)
    eager = run(fresh, fresh.call_eager, calls=1)
    for results in (compiled, eager):
        # Inductor has generators of its own.
        del results["random state"]
    layer = LADDER[backend]
    raised = compiled["call 1"]
    if isinstance(raised, Raised) and not isinstance(eager["call 1"], Raised):
        headline = next(iter(raised.message.strip().splitlines()), "")
        return Rung(backend, layer, f"raises {raised.kind.rpartition('.')[2]}: {headline}", False)
    found = Judge(shop, desk, eager, calls=1)(compiled)
    said = f"{found.verdict}: {found.detail}" if found.detail else found.verdict
    return Rung(backend, layer, said, found.equal is not False)
