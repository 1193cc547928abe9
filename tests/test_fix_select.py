"""The search for fixes that pass together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from tclint.confirm.select import NOT_TRIED, Problem, Search
from tclint.report.fixes.outcome import Ground, Reason

WRONG = Reason(Ground.DIFFERENT, "results differ")
Tried = list[frozenset[int]]


def _attempt(
    fails: Callable[[frozenset[int]], bool], tried: Tried, most: int = 1000
) -> Callable[[frozenset[int]], Sequence[Problem[int]] | None]:
    """Trials without compiling; sets that were tried before cost nothing."""

    def attempt(keys: frozenset[int]) -> Sequence[Problem[int]] | None:
        if keys not in tried:
            if len(tried) == most:
                return None
            tried.append(keys)
        return [Problem(WRONG)] if fails(keys) else []

    return attempt


def test_fixes_that_pass_take_one_trial() -> None:
    tried: Tried = []
    search = Search(_attempt(lambda _: False, tried))
    assert search.keep(range(50)) == frozenset(range(50))
    assert (len(tried), search.dropped) == (1, {})


@given(st.sets(st.integers(0, 40)))
def test_exactly_the_culprits_are_dropped(culprits: set[int]) -> None:
    search = Search(_attempt(lambda keys: bool(keys & culprits), []))
    assert search.keep(range(41)) == frozenset(range(41)) - culprits
    assert search.dropped == dict.fromkeys(culprits, WRONG)


def test_one_culprit_among_many_is_found_in_few_trials() -> None:
    tried: Tried = []
    Search(_attempt(lambda keys: 37 in keys, tried)).keep(range(64))
    assert len(tried) <= 2 * 6 + 2


@given(st.sets(st.frozensets(st.integers(0, 9), min_size=1, max_size=3), max_size=4))
def test_what_is_kept_passes(wrong_together: set[frozenset[int]]) -> None:
    def fails(keys: frozenset[int]) -> bool:
        return any(group <= keys for group in wrong_together)

    search = Search(_attempt(fails, []))
    kept = search.keep(range(10))
    assert not fails(kept)
    assert kept | search.dropped.keys() == frozenset(range(10))


def test_fix_that_needs_a_later_one_gets_a_second_chance() -> None:
    def fails(keys: frozenset[int]) -> bool:
        return 3 in keys or (0 in keys and 2 not in keys)

    search = Search(_attempt(fails, []))
    assert search.keep(range(4)) == {0, 1, 2}
    assert search.dropped == {3: WRONG}


def test_blame_saves_trials() -> None:
    tried: Tried = []

    def attempt(keys: frozenset[int]) -> Sequence[Problem[int]]:
        tried.append(keys)
        return [Problem(WRONG, frozenset({5, 9}))] if keys & {5, 9} else []

    search = Search(attempt)
    assert search.keep(range(20)) == frozenset(range(20)) - {5, 9}
    assert len(tried) == 2


def test_nothing_is_kept_that_was_not_tried() -> None:
    search = Search(_attempt(lambda keys: 0 in keys, [], most=2))
    assert search.keep(range(8)) == frozenset()
    assert set(search.dropped.values()) == {NOT_TRIED}
