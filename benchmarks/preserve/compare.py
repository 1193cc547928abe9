"""Hold a fixed program against the one that was found.

Neither this module nor what it imports knows tclint: it also runs where only torch is installed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.preserve.children import ChildError, TooLongError, at_most, in_child
from benchmarks.preserve.devices import Devices
from benchmarks.preserve.drive import COMPILED, LOST, SCRIPT, Events, observed, uses
from benchmarks.preserve.inputs import Labelled
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
# Dtypes that torch only stores, and tensors whose elements share memory.
_NOT_COVERED = re.compile(r"Float8|more than one element of the written-to tensor")
_SUBCLASS = re.compile(Labelled.__name__)
_NEGATIVE_ZERO = re.compile(r"-0\.0(?![\d])")
_OTHER_DEVICE = "tensors to be on the same device"
_ORDINARY = ("float32", "plain", "float64", "negative", "zero")
Seen = Mapping[str, Events]


_OWN_ERRORS = ("AssertionError", "ValueError")
"""What programs raise themselves; compiled code may raise another one instead."""
_FORMATTING = "Unknown format code"
"""What text raises whose number is none: compiled code does not make the text of its output."""
_ASKS = "is_compiling()"
_RUNS_AGAIN = 2
"""How often the program as found runs again before what differs is said to be the fix's doing."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A program's text after fixing, the rules whose fixes were applied, and what failed."""

    text: str
    codes: str = ""
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A program, and its text after safe fixes and after all of them."""

    program: Program
    safe: Fixed
    unsafe: Fixed

    @property
    def guarded(self) -> bool:
        """Whether a fix lets the program ask if it is being compiled."""
        return any(_ASKS in one.text for one in (self.safe, self.unsafe))


@dataclass(slots=True)
class Verdict:
    """What the fixes of a program change that they may not change.

    ``unstable`` are the uses that differ from one run to the next of the program as found.
    """

    differences: list[Difference] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)


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
    for use in (name for name in _ORDINARY if name in one):
        before = dict(one[use])
        for name, value in other[use]:
            last = name if name in before else name.partition(":")[0]
            if _crashes(value) and _raised(before.get(last)) is None:
                return use, f"{name}: {value[1]}: {value[2]}"
    return None


def _raised(value: Any) -> str | None:
    return value[1] if isinstance(value, tuple) and value and value[0] == "raised" else None


def _crashes(value: Any) -> bool:
    """Whether no fix may bring this error; of other devices the notes speak."""
    return _raised(value) in _CRASHES and _OTHER_DEVICE not in value[2]


def _events_differ(use: str, one: Events, other: Events) -> str | None:
    if use.startswith(COMPILED):
        one, other = _values(one), _values(other)
        if other == [LOST] and any(_raised(value) in _OWN_ERRORS for _, value in one):
            return None  # a check that compiled code leaves to the device failed there
    ends = [place for place, (_, value) in enumerate(one) if _is_free(use, value)]
    ends += [place for place, (_, value) in enumerate(other) if _is_not_covered(value)]
    until = min(ends, default=None)
    one, other = one[:until], other[:until]
    if use.startswith(COMPILED):
        one, other = _any_error(one), _any_error(other)
    for (name, value), (other_name, other_value) in zip(one, other, strict=False):
        if name != other_name:
            return f"{name}: {str(value)[:120]} becomes {other_name}: {str(other_value)[:120]}"
        found = unlike(_covered(use, name, value), _covered(use, name, other_value), name)
        if found is not None:
            return found
    return None if len(one) == len(other) else "one of them does more"


def _covered(use: str, name: str, value: Any) -> Any:
    """A value without what a safe fix may change.

    That is the sign of a gradient's zeros, and the class where arguments are of a subclass.
    """
    if name.endswith("gradients"):
        value = _replaced(value, _NEGATIVE_ZERO, "0.0")
    return _replaced(value, _SUBCLASS, "Tensor") if use.endswith("tensor subclass") else value


def _replaced(value: Any, pattern: re.Pattern[str], by: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_replaced(one, pattern, by) for one in value)
    return pattern.sub(by, value) if isinstance(value, str) else value


def _values(events: Events) -> Events:
    """What compiled code has to keep: results, gradients and state, but no output."""
    return [
        (name, value)
        for name, value in events
        if name.startswith(("call ", "state_dict", LOST[0])) and not name.endswith("output")
    ]


def _any_error(events: Events) -> Events:
    """Compiled code may raise another error than the program does."""
    return [(name, ("raised", "an error", "") if _raised(v) else v) for name, v in events]


def _is_not_covered(value: Any) -> bool:
    """Errors that may come and go, as the documentation says of safe fixes."""
    return _raised(value) is not None and _NOT_COVERED.search(value[2]) is not None


def _is_free(use: str, value: Any) -> bool:
    """What fixes are free in: what TorchScript does not take, what only a message raised."""
    raised = _raised(value)
    if _is_not_covered(value):
        return True
    if use.startswith(COMPILED):
        is_own = raised in _OWN_ERRORS and not value[2].startswith(_FORMATTING)
        return value == LOST[1] or (raised is not None and not is_own)
    return use == SCRIPT and raised is not None


def verdict(case: Case, devices: Devices) -> Verdict:
    """What the fixes of a program change; each text in its own child.

    Raises:
        ChildError: the program as found does not end.
    """
    found = Verdict(
        [
            Difference("error", fixed.codes, "fix", error)
            for fixed in (case.safe, case.unsafe)
            for error in fixed.errors
        ]
    )

    @functools.cache
    def look(text: str) -> Seen:
        return _looked(case, text, devices)

    if [*_told(case, look)]:
        before = look(case.program.text)
        for _ in range(_RUNS_AGAIN):
            again = _looked(case, case.program.text, devices)
            found.unstable += [u for u, e in before.items() if _events_differ(u, e, again[u])]
        found.differences += _told(case, look, found.unstable)
    return found


def doubtful(cases: Sequence[Case], devices: Devices) -> list[bool]:
    """Which programs to look at closely: many run in one child, which costs a third of the time."""
    found: list[bool] = []
    while len(found) < len(cases):
        rest = cases[len(found) :]
        try:
            found += in_child(
                functools.partial(_doubts, rest, devices),
                devices.seconds * len(rest),
                devices.patience,
            )
        except ChildError:
            found += [True for _ in rest]
    return found


def _doubts(cases: Sequence[Case], devices: Devices) -> list[bool]:
    """The doubts about programs up to the first after which the device answers no more."""
    found: list[bool] = []
    for case in cases:
        found.append(_doubt(case, devices))
        if not devices.answer():
            break
    return found


def _doubt(case: Case, devices: Devices) -> bool:
    @functools.cache
    def look(text: str) -> Seen:
        seen = _observed(case, text, devices, ())
        if [LOST] in seen.values():
            raise ChildError("the device answers no more")
        return seen

    try:
        with at_most(devices.seconds):
            return bool(case.safe.errors or case.unsafe.errors or [*_told(case, look)])
    except (TooLongError, ChildError):
        return True


def _told(
    case: Case, look: Callable[[str], Seen], unstable: Sequence[str] = ()
) -> Iterator[Difference]:
    found, safe, unsafe = case.program.text, case.safe, case.unsafe
    for kind, fixed, how in (("safe", safe, difference), ("unsafe", unsafe, crash)):
        if fixed.text == found or (kind == "unsafe" and fixed.text == safe.text):
            continue
        before = {use: events for use, events in look(found).items() if use not in unstable}
        try:
            told = how(before, look(fixed.text))
        except ChildError as error:
            told = ("all", f"the fixed program {error}")
        if told:
            yield Difference(kind, fixed.codes, *told)


def _looked(case: Case, text: str, devices: Devices) -> Seen:
    """What all uses show, in as many children as it takes."""
    program, seen = case.program, dict[str, Events]()
    wanted = uses(program.parameters, module=program.module, devices=devices, guarded=case.guarded)
    while len(seen) < len(wanted):
        seen |= in_child(
            functools.partial(_observed, case, text, devices, tuple(seen)),
            devices.seconds,
            devices.patience,
        )
    return seen


def _observed(case: Case, text: str, devices: Devices, known: Sequence[str]) -> Seen:
    program = case.program
    return observed(
        text,
        program.parameters,
        module=program.module,
        devices=devices,
        guarded=case.guarded,
        known=known,
    )
