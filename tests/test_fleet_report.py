"""Reports of fleets, and the differences between runs and arms."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.cli.fleeting import difference, rendered
from tclint.fleet.board import Board, Cause, board
from tclint.fleet.changes import Change, Kind, changes
from tclint.fleet.config import FleetError
from tclint.fleet.report.sections import sections
from tclint.fleet.session import Again
from tclint.fleet.store import UnitRow, open_store
from tclint.fleet.units import BREAKS, NOTHING, Measured, ModeSpeed, Unit, failed
from tests.fleet_help import BREAK, FLEET, WHOLE_ONE, run, without_torch, write_fleet

ARMS = FLEET + '[[arm]]\nname = "as found"\n[[arm]]\nname = "fixed"\nfixed = true\n'
BROKEN = replace(WHOLE_ONE, outcome=BREAKS, breaks=(BREAK,))


def judge(unit: Unit) -> Measured:
    if unit.target.endswith("two"):
        return failed("crash", "crashed with <b>SIGSEGV</b> | at a.py:1")
    if unit.fixed:
        return replace(WHOLE_ONE, breaks_before=1, fixes=("TCL101",))
    return BROKEN


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    without_torch(monkeypatch)
    file = write_fleet(tmp_path, ARMS)
    run(file, lambda unit: WHOLE_ONE)
    run(file, judge, Again(everything=True), "second")
    with open_store(tmp_path / "kept.sqlite") as store:
        return board(store)


def test_the_report_for_a_terminal(told: Board) -> None:
    text = rendered(told, "text")
    for line in (
        "run 2, second: started",
        "as found  2.13.0        2  0 (0%)      1       1        0     1       0",
        "fixed     2.13.0        2  1 (50%)      0       0        0     1       0",
        "worse  models/a.py:make_one  as found  one graph → 1 graph break (models/a.py:3 GB0124",
        "fixed                   1      1   1 → 0           1               0  TCL101 1",
        "as found  GB0124  TCL101        1       1  Unsupported Tensor.item() call",
        "models/a.py:make_one  1 break        1 → 0 breaks",
        "models/a.py:make_two  failed: crash  failed: crash",
    ):
        assert " ".join(line.split()) in " ".join(text.split())


def test_other_formats_say_the_same_and_escape_it(told: Board) -> None:
    markdown = rendered(told, "markdown")
    assert r"crashed with \<b\>SIGSEGV\</b\> \| at a.py:1" in markdown
    data = json.loads(rendered(told, "json"))
    assert data["totals"][1]["whole"] == 1
    assert data["worth"][0] == {
        "arm": "fixed", "targets": 1, "fixes": 1, "before": 1, "after": 0, "whole": 1,
        "unequal": 0, "rules": [["TCL101", 1]],
    }  # fmt: skip
    assert {one["kind"] for one in data["changes"]} == {"worse"}


def compared(old: Measured, new: Measured) -> list[tuple[str, str]]:
    pair = (UnitRow("t", "a", old),), (UnitRow("t", "a", new),)
    return [(one.kind.value, one.what) for one in changes(*pair)]


SLOW = replace(WHOLE_ONE, speeds=(ModeSpeed("default", 2.0, 2.0, 1.0, 0.9, 1.1),))
FAST = replace(WHOLE_ONE, speeds=(ModeSpeed("default", 2.0, 1.0, 2.0, 1.9, 2.1),))
UNSURE = replace(WHOLE_ONE, speeds=(ModeSpeed("default", 2.0, 1.0, 1.5, 1.0, 2.0),))
ELSEWHERE = replace(BREAK, gb_id="GB0001", reason="another")
MOVED = replace(BREAK, row=30)
MANY_NEW = (
    "one graph → 6 graph breaks (models/a.py:1, 2, 3 and 2 more GB0124 Unsupported Tensor.item()"
    " call; models/a.py:3 GB0001 another)"
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (WHOLE_ONE, WHOLE_ONE, []),
        (WHOLE_ONE, replace(WHOLE_ONE, seconds=9.0), []),
        (BROKEN, WHOLE_ONE, [("better", "1 graph break → one graph")]),
        (BROKEN, replace(BROKEN, breaks=(MOVED,)), []),
        (
            BROKEN,
            replace(BROKEN, breaks=(ELSEWHERE,)),
            [("other", "breaks elsewhere (models/a.py:3 GB0001 another)")],
        ),
        (
            BROKEN,
            replace(BROKEN, breaks=(BREAK, ELSEWHERE)),
            [("worse", "1 graph break → 2 graph breaks (models/a.py:3 GB0001 another)")],
        ),
        (
            WHOLE_ONE,
            replace(BROKEN, breaks=(*(replace(BREAK, row=n) for n in range(1, 6)), ELSEWHERE)),
            [("worse", MANY_NEW)],
        ),
        (WHOLE_ONE, failed("crash", "boom"), [("worse", "does not run any more: boom")]),
        (failed("crash", "boom"), BROKEN, [("better", "runs again")]),
        (failed("crash", "boom"), failed("crash", "bang"), []),
        (
            failed("crash", "boom"),
            failed("timeout", "late"),
            [("other", "fails in another way: timeout: late")],
        ),
        (
            WHOLE_ONE,
            replace(WHOLE_ONE, outcome=NOTHING, reason="it is skipped"),
            [("worse", "one graph → nothing compiled")],
        ),
        (
            WHOLE_ONE,
            replace(WHOLE_ONE, verdict="different", detail="by 3"),
            [("worse", "results differ: by 3")],
        ),
        (
            replace(WHOLE_ONE, recompiles=2),
            WHOLE_ONE,
            [("better", "recompiles never instead of 2 times")],
        ),
        (
            replace(WHOLE_ONE, exported=""),
            replace(WHOLE_ONE, exported="no"),
            [("worse", "cannot be exported: no")],
        ),
        (WHOLE_ONE, replace(WHOLE_ONE, exported="no"), []),
        (FAST, SLOW, [("worse", "default: the speedup is 0.90 to 1.10, was 1.90 to 2.10")]),
        (SLOW, FAST, [("better", "default: the speedup is 1.90 to 2.10, was 0.90 to 1.10")]),
        (FAST, UNSURE, []),
        (FAST, WHOLE_ONE, []),
    ],
)
def test_a_change_is_told_by_what_it_is(
    old: Measured, new: Measured, said: list[tuple[str, str]]
) -> None:
    assert compared(old, new) == said


def test_new_and_gone_targets_are_no_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = UnitRow("one", "a", WHOLE_ONE), UnitRow("two", "a", None)
    assert [(c.kind, c.target, c.what) for c in changes((one,), (two,))] == [
        (Kind.OTHER, "one", "is gone"),
        (Kind.OTHER, "two", "is new"),
    ]
    assert changes((two,), (replace(two, measured=WHOLE_ONE),)) == []


def test_two_arms_of_one_run_are_compared(tmp_path: Path, told: Board) -> None:
    with open_store(tmp_path / "kept.sqlite") as store:
        found, text = difference(store, "last:as found", ":fixed", "text")
        assert [(one.kind, one.arm) for one in found] == [(Kind.BETTER, "as found → fixed")]
        assert text.startswith("last:as found → :fixed: 0 worse, 1 better\n")
        assert difference(store, "1", "1", "text") == ([], "nothing changed\n")
        runs, _ = difference(store, "1", "2", "markdown")
        assert {one.kind for one in runs} == {Kind.WORSE}
        for wrong, said in (
            ("first", "'first' names no run"),
            ("7", "there is no run 7: the store has 1 to 2"),
            ("1:fix", "run 1 has no arm 'fix'; it has as found, fixed"),
        ):
            with pytest.raises(FleetError, match=said):
                difference(store, wrong, wrong, "text")
        with pytest.raises(FleetError, match="name an arm on both sides, or on none"):
            difference(store, "1", "2:fixed", "text")


def test_each_arm_tells_its_causes(told: Board) -> None:
    many = tuple(
        Cause(arm, f"GB{n:04}", "", "", 1, 1) for arm in ("as found", "fixed") for n in range(30)
    )
    (causes,) = (one for one in sections(replace(told, causes=many)) if one.title.startswith("Why"))
    assert Counter(row[0] for row in causes.rows) == {"as found": 20, "fixed": 20}
    assert causes.note == "20 rarer causes are left out"


def test_of_many_changes_the_report_shows_some_and_says_where_all_are(told: Board) -> None:
    many = tuple(Change(Kind.WORSE, f"t{n}", "as found", "is worse") for n in range(25))
    (shown,) = (s for s in sections(replace(told, changes=many)) if s.title.startswith("Changes"))
    assert len(shown.rows) == 20
    assert shown.note == "5 more: tclint fleet diff 1 2 lists them all"
