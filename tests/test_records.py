"""A record compares, hashes and shows itself as a dataclass does that says the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pytest

from tclint.records import record

Decorator = Callable[..., Callable[[type], Any]]


def _classes(decorator: Decorator, **options: bool) -> list[Any]:
    """The same classes, with this decorator: of two fields, one, none, one left out, and so on."""

    @decorator(**options)
    class Two:
        one: int
        other: str = ""

    @decorator(**options)
    class One:
        one: int

    @decorator(**options)
    class Nothing:
        pass

    @decorator(**options)
    class Apart:
        one: int
        note: str = field(default="", compare=False)

    @decorator(**options)
    class Below(One):
        other: int = 0

    @decorator(**options)
    class Own:  # noqa: PLW1641
        one: int

        def __eq__(self, other: object) -> bool:
            return True

    return [Two, One, Nothing, Apart, Below, Own]


def _objects(classes: list[Any]) -> list[Any]:
    two, one, nothing, apart, below, own = classes
    return [
        two(1), two(1, "a"), two(2), one(1), one(2), nothing(), apart(1, "a"), apart(1, "b"),
        apart(2, "a"), below(1), below(1, 2), own(1), own(2), (1, ""), (1,), (), None,
    ]  # fmt: skip


@pytest.mark.parametrize("eq", [True, False])
def test_records_compare_as_dataclasses_do(*, eq: bool) -> None:
    records = _objects(_classes(record, eq=eq))
    others = _objects(_classes(dataclass, eq=eq, slots=True))
    assert _answers(records) == _answers(others)


def _answers(objects: list[Any]) -> list[list[tuple[bool, bool]]]:
    return [[(one == other, one != other) for other in objects] for one in objects]


def test_frozen_records_hash_as_they_compare() -> None:
    classes = _classes(record, frozen=True)[:5]
    objects = _objects([*classes, classes[0]])[:11]
    for one in objects:
        for other in objects:
            assert one != other or hash(one) == hash(other)
    two, _, _, apart, _ = classes
    assert hash(two(1, "a")) == hash(two(1, "a"))
    assert hash(apart(1, "a")) == hash(apart(1, "b"))
    assert len({two(1), two(1), two(2)}) == 2


def test_what_compares_and_may_change_does_not_hash() -> None:
    two = _classes(record)[0]
    with pytest.raises(TypeError):
        hash(two(1))
    assert hash(_classes(record, eq=False)[0](1))


def test_a_record_is_a_dataclass_with_slots() -> None:
    two = _classes(record, frozen=True)[0]
    assert [part.name for part in fields(two)] == ["one", "other"]
    assert replace(two(1), other="b") == two(1, "b")
    assert repr(two(1, "a")).endswith("Two(one=1, other='a')")
    assert not hasattr(two(1), "__dict__")
    match two(3, "c"):
        case two(one, other):
            assert (one, other) == (3, "c")


def test_records_in_order() -> None:
    two = _classes(record, frozen=True, order=True)[0]
    assert sorted([two(2), two(1, "b"), two(1, "a")]) == [two(1, "a"), two(1, "b"), two(2)]
    assert hash(two(1)) == hash(two(1))


def _made(decorator: Decorator) -> list[Any]:
    """Classes whose fields are set in each way that records know."""

    @decorator()
    class Fields:
        one: int
        two: list[int] = field(default_factory=list)
        three: dict[str, int] = field(init=False, default_factory=dict)
        four: str = field(init=False, default="four")
        five: object = None
        six: int = field(init=False, compare=False)

    @decorator()
    class Below(Fields):
        one: int = 7
        seven: int = 0

    class Plain(Below):
        def __init__(self, seven: int) -> None:
            super().__init__(seven, seven=seven)

    return [Fields, Below, Plain]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), {}),
        ((1,), {}),
        ((1, [2]), {}),
        ((1, [2], "x"), {}),
        ((1, [2], "x", 3), {}),
        ((1,), {"five": None}),
        ((1,), {"two": None, "five": 2}),
        ((), {"one": 1}),
        ((1,), {"one": 1}),
        ((1,), {"six": 1}),
        ((1,), {"unknown": 1}),
        ((1,), {"seven": 1}),
    ],
)
def test_records_are_made_as_dataclasses_are(
    arguments: tuple[object, ...], named: dict[str, object]
) -> None:
    for record_of, other in zip(_made(record), _made(lambda: dataclass(slots=True)), strict=True):
        assert _called(record_of, arguments, named) == _called(other, arguments, named)
        # the second object of a class is made by other code than the first
        assert _called(record_of, arguments, named) == _called(other, arguments, named)


def _called(cls: Any, arguments: tuple[object, ...], named: dict[str, object]) -> object:
    try:
        made = cls(*arguments, **named)
    except TypeError as error:
        return str(error).rpartition(".")[2]
    return [(part.name, getattr(made, part.name, "unset")) for part in fields(made)]


def test_objects_of_a_record_share_no_default_that_is_made_anew() -> None:
    cls = _made(record)[0]
    first, second = cls(1), cls(1)
    first.two.append(1)
    first.three["a"] = 1
    assert (second.two, second.three) == ([], {})


@pytest.mark.parametrize("decorator", [record, dataclass])
def test_what_follows_on_making_one_is_done_for_each(decorator: Decorator) -> None:
    @decorator()
    class Sum:
        one: int
        more: list[int] = field(default_factory=list)
        total: int = field(init=False)

        def __post_init__(self) -> None:
            self.total = self.one + sum(self.more)

    assert [Sum(1).total, Sum(1, [2, 3]).total, replace(Sum(1, [2]), one=4).total] == [1, 6, 6]
