"""A worker that measures nothing: the same answer for the same target, after a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from tclint.fleet.units import BREAKS, WHOLE, BreakLine, Measured, failed
from tclint.verify.worker import serve

MOMENT = 0.05
ANY = Measured(WHOLE, torch="2.13.0", device="cpu", graphs=1, verdict="identical")


def answer(target: str) -> Measured:
    """What becomes of a target, by its name."""
    number = blake2b(target.encode(), digest_size=2).digest()[0]
    if number % 7 == 0:
        return failed("crash", f"crashed with SIGSEGV at {target}:{number}")
    if number % 3 == 0:
        line = BreakLine("models/a.py", number, "GB0124", "Unsupported Tensor.item() call")
        return replace(ANY, outcome=BREAKS, breaks=(line,) * (number % 4 + 1))
    return ANY


class Stub:
    """Knows the request of a fleet's worker."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        del say

    def measure(self, request: dict[str, Any]) -> Measured:
        time.sleep(MOMENT)
        return answer(request["unit"]["target"])


if __name__ == "__main__":
    serve(Stub)
