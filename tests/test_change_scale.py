"""The scale of change: safe means same bits, and every other fix names its class and its note."""

from __future__ import annotations

import ast
import json
from dataclasses import replace

import pytest

from tclint.cache.encoding import Decoder, encoded
from tclint.diagnostics import Applicability, Change
from tclint.lint.repair import PlacedRepair, placed
from tclint.lint.rewrite import Repair, Replace
from tclint_rules.lib.judge.verdict import PROVED, Changes, Refused, combine

UNSAFE = [Change.ROUNDING, Change.PRECISION, Change.BEHAVIOUR]


def _repair(change: Change, changes: str, *, only_shown: bool = False) -> Repair:
    rewrites = (Replace(ast.parse("f()").body[0], "g()"),)
    return Repair("Call g", rewrites, change, changes, only_shown=only_shown)


def test_what_leaves_the_same_bits_is_safe_and_has_no_note() -> None:
    safe = placed(_repair(Change.SAME_BITS, ""))
    assert (safe.applicability, safe.note) == (Applicability.SAFE, "")
    with pytest.raises(ValueError, match="same-bits: 'something'"):
        _repair(Change.SAME_BITS, "something")


@pytest.mark.parametrize("change", UNSAFE)
def test_any_other_fix_is_unsafe_and_says_how_far_and_in_what(change: Change) -> None:
    unsafe = placed(_repair(change, "last bits differ"))
    assert unsafe.applicability is Applicability.UNSAFE
    assert unsafe.note == f"{change.value}: last bits differ"
    with pytest.raises(ValueError, match="'Call g' is "):
        _repair(change, "")


@pytest.mark.parametrize("change", UNSAFE)
def test_what_is_only_shown_is_never_applied(change: Change) -> None:
    shown = placed(_repair(change, "it is slower", only_shown=True))
    assert shown.applicability is Applicability.DISPLAY


@pytest.mark.parametrize("change", Change)
def test_the_cache_keeps_the_class(change: Change) -> None:
    repair = PlacedRepair("Call g", change, "" if change is Change.SAME_BITS else "things")
    read = Decoder({})._reader(PlacedRepair)(json.loads(json.dumps(encoded(repair))))
    assert read == repair
    assert read != replace(repair, only_shown=True)


def test_several_verdicts_are_as_bad_as_the_worst() -> None:
    rounds, wraps = Changes("rounds", Change.ROUNDING), Changes("wraps")
    assert combine([PROVED, rounds]) == rounds
    assert combine([rounds, Changes("narrows", Change.PRECISION)]) == Changes(
        "rounds; narrows", Change.PRECISION
    )
    assert combine([wraps, rounds]) == Changes("wraps; rounds", Change.BEHAVIOUR)
    assert combine([wraps, Refused("no")]) == Refused("no")
