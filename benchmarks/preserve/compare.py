"""Hold a fixed program against the one that was found."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmarks.preserve.children import SECONDS, ChildError, TooLongError, at_most, in_child
from benchmarks.preserve.drive import SCRIPT, Events, Parameter, observed
from benchmarks.preserve.engine import Judged, judged
from benchmarks.preserve.programs import Program
from benchmarks.preserve.seen import unlike

# An unsafe fix may change numbers, as it says; it may not break the program.
_CRASHES = (
    "TypeError",
    "AttributeError",
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "IndexError",
    "KeyError",
    "ModuleNotFoundError",
    "SyntaxError",
    "RuntimeError",
)
_ORDINARY = ("float32", "plain", "float64", "negative", "zero")
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
Seen = Mapping[str, Events]


@dataclass(frozen=True, slots=True)
class Difference:
    """What a fix changed: by which rules, in which use, and how."""

    kind: str
    codes: str
    use: str
    what: str


def difference(one: Seen, other: Seen) -> tuple[str, str] | None:
    """The first use in which two runs differ, and how."""
    for use, events in one.items():
        told = _events_differ(use, events, other[use])
        if told is not None:
            return use, told
    return None


def crash(one: Seen, other: Seen) -> tuple[str, str] | None:
    """The first ordinary use in which only the other run raises what no fix may raise."""
    for use in _ORDINARY:
        before = dict(one[use])
        for name, value in other[use]:
            raised = _raised(value)
            if raised in _CRASHES and name in before and _raised(before[name]) is None:
                return use, f"{name}: {raised}: {value[2]}"
            if raised in _CRASHES and name not in before:
                last = name.partition(":")[0]
                if _raised(before.get(last)) is None:
                    return use, f"{name}: {raised}: {value[2]}"
    return None


def _raised(value: Any) -> str | None:
    return value[1] if isinstance(value, tuple) and value and value[0] == "raised" else None


def _events_differ(use: str, one: Events, other: Events) -> str | None:
    for (name, value), (other_name, other_value) in zip(one, other, strict=False):
        if _never_worked(use, value):
            return None
        if name != other_name:
            return f"{name}: {str(value)[:120]} becomes {other_name}: {str(other_value)[:120]}"
        found = unlike(value, other_value, name)
        if found is not None:
            return found
    return None if len(one) == len(other) else "one of them does more"


def _never_worked(use: str, value: Any) -> bool:
    """What TorchScript does not take: fixes there are free."""
    return use == SCRIPT and _raised(value) is not None


def differences(program: Program, seen: Judged) -> list[Difference]:
    """What the fixes of a program change that they may not change; each text in its own child.

    Raises:
        ChildError: the program as found does not end.
    """
    found = [
        Difference("error", arm.codes, "fix", error)
        for arm in (seen.safe, seen.unsafe)
        for error in arm.errors
    ]

    @functools.cache
    def look(text: str) -> Seen:
        return _looked(program, text)

    # What differs from one run to the next of the program as found says nothing about fixes.
    told = [*_told(seen, look)]
    if told and difference(look(seen.found.text), _looked(program, seen.found.text)) is None:
        found += told
    return found


def doubtful(programs: Sequence[Program], seen: Sequence[Judged]) -> list[bool]:
    """Which programs to look at closely: all run in one child, which costs a third of the time."""

    def differ(program: Program, arms: Judged) -> bool:
        look = functools.cache(
            lambda text: observed(text, program.parameters, module=program.module)
        )
        try:
            with at_most(SECONDS):
                return bool(arms.safe.errors or arms.unsafe.errors or [*_told(arms, look)])
        except TooLongError:
            return True

    def run() -> list[bool]:
        return [differ(*pair) for pair in zip(programs, seen, strict=True)]

    try:
        found: list[bool] = in_child(run, SECONDS * len(programs))
    except ChildError:
        return [True for _ in programs]
    return found


def _told(seen: Judged, look: Callable[[str], Seen]) -> Iterator[Difference]:
    for kind, arm, how in (("safe", seen.safe, difference), ("unsafe", seen.unsafe, crash)):
        if arm.text == seen.found.text or (kind == "unsafe" and arm.text == seen.safe.text):
            continue
        before = look(seen.found.text)
        try:
            told = how(before, look(arm.text))
        except ChildError as error:
            told = ("all", f"the fixed program {error}")
        if told:
            yield Difference(kind, arm.codes, *told)


def _looked(program: Program, text: str) -> Seen:
    found: Seen = in_child(lambda: observed(text, program.parameters, module=program.module))
    return found


def differences_of(program: Program, text: str) -> list[Difference]:
    """What fixing another text of a program changes."""
    return differences(replace(program, text=text), judged([text])[0])


def warm() -> None:
    """Load, before anything is forked, what torch loads at first use."""
    torch.set_num_threads(1)
    observed(_WARMING, [Parameter("V"), Parameter("V", declared=False)], module=True)
    judged([_WARMING])
    gc.collect()
    gc.freeze()
