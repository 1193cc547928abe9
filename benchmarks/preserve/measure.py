"""Fix stretches of programs and compare them; show what differs in a small program."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from benchmarks.preserve.children import ChildError
from benchmarks.preserve.compare import Case, Difference, verdict
from benchmarks.preserve.devices import CPU, Devices
from benchmarks.preserve.drive import Parameter, observed
from benchmarks.preserve.engine import Judged, judged
from benchmarks.preserve.page import described
from benchmarks.preserve.programs import Program, programs
from benchmarks.preserve.real import real_programs
from benchmarks.preserve.shrink import shrunk
from benchmarks.preserve.totals import Failure, Totals, compared

_WARMING = """\
import torch
from torch import nn


class f(nn.Module):
    def forward(self, x: torch.Tensor, y):
        print(x)
        z = torch.zeros(4).to(x.device) + x.sum() * x[0].item()
        z[z > 1] = 0
        return torch.where(z > 0, z, y) * x.numpy().sum()
"""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Programs with consecutive numbers; ``small``: whether failing ones are to be shrunk.

    ``real``: mutated functions of packages, instead of programs made from nothing. They are fixed
    for a ``torch``, or for the one that is installed.
    """

    seed: int
    start: int
    count: int
    small: bool = False
    real: bool = False
    torch: tuple[int, int] | None = None
    devices: Devices = CPU

    def judged(self) -> list[tuple[Program, Judged]]:
        """Its programs, those aside that are no Python, and their fixes."""
        made = [*(real_programs if self.real else programs)(self.count, self.seed, self.start)]
        return [*zip(made, judged([one.text for one in made], self.torch), strict=True)]


def measured(stretch: Stretch) -> Totals:
    """Fix and run the programs of a stretch."""
    made = stretch.judged()
    totals = compared([seen.case(program) for program, seen in made], stretch.devices)
    totals.fixes += _fixes(made)
    if stretch.small:
        totals.failures = [_small(one, stretch) for one in totals.failures]
    return totals


def _small(failure: Failure, stretch: Stretch) -> Failure:
    told = failure.difference

    def fails(text: str) -> bool:
        try:
            found = _differences(failure.case.program, text, stretch)
        except (ChildError, SyntaxError):
            return False
        return any(one.kind == told.kind and _raises(one) == _raises(told) for one in found)

    return replace(failure, text=shrunk(failure.case.program.text, fails))


def _case(program: Program, text: str, stretch: Stretch) -> Case:
    return judged([text], stretch.torch)[0].case(replace(program, text=text))


def _differences(program: Program, text: str, stretch: Stretch) -> list[Difference]:
    return verdict(_case(program, text, stretch), stretch.devices).differences


def _raises(one: Difference) -> bool:
    return "Error" in one.what


def shown(failure: Failure, stretch: Stretch) -> Iterator[str]:
    """A counterexample: the small program, what fixing does to it, and what differs then."""
    program, told = failure.case.program, failure.difference
    case = _case(program, failure.text, stretch)
    found = verdict(case, stretch.devices).differences
    yield from described(case, next((d for d in found if d.kind == told.kind), told))


def fixed(stretch: Stretch) -> tuple[int, Counter[tuple[str, str]], list[Case]]:
    """How many programs a stretch has, their fixes, and those that safe fixes change."""
    made = stretch.judged()
    cases = [seen.case(program) for program, seen in made if seen.safe.text != seen.found.text]
    return len(made), _fixes(made), cases


def _fixes(made: Sequence[tuple[Program, Judged]]) -> Counter[tuple[str, str]]:
    return Counter(
        (fix.diagnostic.code, fix.applicability.value)
        for _, seen in made
        for fix in seen.unsafe.fixes
    )


def warm() -> None:
    """Load, before anything is forked, what torch loads at first use."""
    torch.set_num_threads(1)
    observed(_WARMING, [Parameter("V"), Parameter("V", declared=False)], module=True)
    judged([_WARMING])
    gc.collect()
    gc.freeze()
