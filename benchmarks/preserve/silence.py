"""Where ``check`` names no graph break, is there none? Programs held against Dynamo's own record.

A program is asked as found, after its safe fixes and after its unsafe ones. Only breaks count that
a rule exists for: Dynamo gives each kind of break a number, and rules name theirs.
"""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmarks.preserve.children import ChildError, in_child
from benchmarks.preserve.drive import NAME, Parameter, loaded
from benchmarks.preserve.engine import Judged, judged
from benchmarks.preserve.inputs import argument
from benchmarks.preserve.programs import programs
from benchmarks.preserve.shrink import shrunk
from tclint.lint.pages import page_of
from tclint.lint.registry import load_rules
from tclint.lint.rule import PRELUDE
from tclint.verify.oracles import CountingBackend, watch

SECONDS = 30
MOST_UNANSWERED = 0.01
"""How many of the texts without a finding may tell nothing: one in a hundred."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A text that defines ``f``, and the arguments of its calls: kinds of them, or their source."""

    name: str
    text: str
    arguments: tuple[Parameter, ...] | str


@dataclass(frozen=True, slots=True)
class Silent:
    """A break that nobody was told of."""

    subject: Subject
    arm: str
    text: str
    gb_id: str
    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A text without a finding that told nothing: its child crashed or was not done in time."""

    subject: Subject
    arm: str
    why: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What subjects came to: texts that were asked, those without a finding, silent breaks.

    ``beyond`` are the breaks of kinds that no rule names; of ``unanswered`` nothing is known.
    """

    asked: int = 0
    quiet: int = 0
    silent: tuple[Silent, ...] = ()
    beyond: tuple[Silent, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()

    def and_(self, other: Heard) -> Heard:
        """What these and other subjects came to."""
        return Heard(
            self.asked + other.asked,
            self.quiet + other.quiet,
            self.silent + other.silent,
            self.beyond + other.beyond,
            self.unanswered + other.unanswered,
        )

    @property
    def is_credible(self) -> bool:
        """Whether so few texts told nothing that no silence among the others means something."""
        return len(self.unanswered) <= self.quiet * MOST_UNANSWERED

    def lines(self, subjects: int) -> Iterator[str]:
        """The figures."""
        yield f"programs                          {subjects}"
        yield f"different texts of them           {self.asked}"
        yield f"without a graph-break finding     {self.quiet}"
        yield f"breaks in these, a rule exists    {len(self.silent)}"
        yield f"breaks in these, no rule          {len(self.beyond)}"
        yield f"of these without an answer        {len(self.unanswered)}"


ABOUT = """\
The examples of all rules and programs of the grammar, before fixes, after safe and after unsafe
ones. Where `check` reports no graph break, the program is compiled and called, and Dynamo's record
shows whether the graph breaks.
"""


def examples() -> Iterator[Subject]:
    """The examples of all rules that leave compiling to others."""
    for rule in load_rules():
        for number, one in enumerate(page_of(rule).examples, 1):
            if "compile(" not in one.code and "torch.compile" not in one.code:
                yield Subject(f"{rule.code} example {number}", PRELUDE + one.code, one.inputs)


def generated(count: int, seed: int, start: int = 0) -> Iterator[Subject]:
    """Programs of the grammar."""
    for one in programs(count, seed, start):
        yield Subject(f"program {one.number}", one.text, one.parameters)


def heard(subjects: Sequence[Subject]) -> Heard:
    """Ask about some subjects, checked and fixed together."""
    total = Heard()
    for subject, seen in zip(subjects, judged([one.text for one in subjects]), strict=True):
        total = total.and_(_heard(subject, seen))
    return total


def _heard(subject: Subject, seen: Judged) -> Heard:
    arms = {"found": seen.found, "fixed": seen.safe, "fixed unsafely": seen.unsafe}
    texts = {arm.text: (name, arm) for name, arm in reversed(arms.items())}
    quiet = [(name, arm) for name, arm in texts.values() if not arm.breaks]
    silent: list[Silent] = []
    unanswered: list[Unanswered] = []
    for name, arm in quiet:
        try:
            found = _breaks(subject, arm.text)
        except ChildError as error:
            unanswered.append(Unanswered(subject, name, str(error)))
            continue
        silent += [Silent(subject, name, arm.text, *one) for one in found]
    known = {gb_id for rule in load_rules() for gb_id in rule.gb_ids}
    return Heard(
        len(texts),
        len(quiet),
        tuple(one for one in silent if one.gb_id in known),
        tuple(one for one in silent if one.gb_id not in known),
        tuple(unanswered),
    )


def _breaks(subject: Subject, text: str) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = in_child(lambda: _compiled(subject, text), SECONDS)
    return found


def _compiled(subject: Subject, text: str) -> list[tuple[str, int, str]]:
    """What breaks when a text that runs eagerly is compiled and called (child process only)."""
    logging.disable(logging.WARNING)
    if not _runs(subject, text, lambda f: f):
        return []
    torch._dynamo.reset()
    with watch() as trace:
        _runs(subject, text, lambda f: torch.compile(f, backend=CountingBackend()))
    own = [one for one in trace.breaks if not one.by_torch]
    return [(one.gb_id or "", one.row, one.reason.split("\n")[0]) for one in own]


def _runs(subject: Subject, text: str, treat: Callable[[Any], Any]) -> bool:
    torch.manual_seed(0)
    try:
        target = loaded(text)
        function = treat(target() if isinstance(target, type) else target)
        for given in _calls(subject.arguments, sys.modules[NAME]):
            result = function(*given)
            if isinstance(result, types.GeneratorType):
                return False
    except Exception:  # noqa: BLE001 (what does not run is not asked about)
        return False
    return True


def _calls(arguments: tuple[Parameter, ...] | str, module: types.ModuleType) -> list[Any]:
    if isinstance(arguments, str):
        value = eval(arguments, dict(vars(module)))
        return value if isinstance(value, list) else [value]
    return [
        [argument(one.kind, "plain", call, place) for place, one in enumerate(arguments)]
        for call in range(2)
    ]


def small(one: Silent) -> Silent:
    """The same silence in as few statements as show it."""

    def again(text: str) -> list[Silent]:
        try:
            found = heard([replace(one.subject, text=text)])
        except SyntaxError:
            return []
        return [
            other
            for other in (*found.silent, *found.beyond)
            if other.gb_id == one.gb_id and (other.arm == "found") == (one.arm == "found")
        ]

    text = shrunk(one.subject.text, lambda text: bool(again(text)))
    return next(iter(again(text)), one)


def shown_unanswered(one: Unanswered) -> str:
    """A text that told nothing, on one line."""
    return f"### no answer: {one.subject.name}, {one.arm}: {one.why}"


def shown(one: Silent) -> Iterator[str]:
    """A break that nobody was told of, in its program."""
    lines = one.text.splitlines()
    place = lines[one.row - 1].strip() if 0 < one.row <= len(lines) else "elsewhere"
    yield f"### silent: {one.subject.name}, {one.arm}, {one.gb_id}"
    yield f"{one.reason}: `{place}`"
    yield "```python"
    yield one.text.removeprefix(PRELUDE).strip()
    yield "```"
