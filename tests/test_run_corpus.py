"""The corpus of runs: its list, and how a report is held against the truth."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.runs.__main__ import Checked, Found, summary
from benchmarks.runs.listed import COMPILE, LINE, SCRIPTS

LOOP = Checked("evaluation", LINE, "evaluate()", 8, 4.0, 3.6)
FUSED = Checked("fused", LINE, "step()", 12, 1.0, 1.1)
COMPILED = Checked("compile", COMPILE, "model(x)", 5, 3.0, 2.5)
FOUND = Found("a", "training", "", 10.0, "a.py:8", 8, "", 1.02, changes=(LOOP, FUSED, COMPILED))


def test_the_list_has_scripts_of_many_kinds_and_most_are_public() -> None:
    names = [one.name for one in SCRIPTS]
    assert len({*names}) == len(names) >= 20
    assert sum(one.public for one in SCRIPTS) >= 14
    assert sum(one.cuda is not None for one in SCRIPTS) >= 12
    assert all(len(one.commit) == 40 for one in SCRIPTS if one.public)


def test_a_report_that_names_the_dearest_line_first_is_right() -> None:
    told = summary([FOUND])
    assert told["first_named_is_first"] == [1, 1]
    assert told["prices_within"] == [2, 2]
    assert told["shares_sum"] == [1, 1]
    assert told["compiling_within"] == [1, 1]


def test_a_report_that_names_another_line_or_price_is_wrong() -> None:
    other = replace(FOUND, first_row=12, shares=0.8, changes=(replace(LOOP, said=1.0), FUSED))
    told = summary([other])
    assert told["first_named_is_first"] == [0, 1]
    assert told["prices_within"] == [1, 2]
    assert told["shares_sum"] == [0, 1]


def test_a_line_that_is_not_named_counts_as_nothing() -> None:
    told = summary([replace(FOUND, changes=(replace(LOOP, said=None),))])
    assert told["prices_within"] == [0, 1]


def test_nothing_is_false_where_a_change_saves_a_tenth() -> None:
    assert summary([replace(FOUND, nothing=True)])["nothing_though_something"] == ["a"]
    small = replace(LOOP, saves=0.2, said=None)
    quiet = replace(FOUND, nothing=True, first_row=0, changes=(small,))
    assert summary([quiet])["nothing_though_something"] == []
    assert summary([quiet])["first_named_is_first"] == [1, 1]
