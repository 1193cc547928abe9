"""Stacks of another thread, which goes on while they are looked at."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tclint.recorder.site.tclint_recorder import samples
from tclint.recorder.site.tclint_recorder.recording import Recording
from tclint.recorder.site.tclint_recorder.stacks import Stacks


class Waiting(threading.Thread):
    """A thread that is deep in its own calls until it is let go."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.frames: list[FrameType] = []
        self.there, self.over = threading.Event(), threading.Event()

    def run(self) -> None:
        self.deeper(20)

    def deeper(self, levels: int) -> None:
        self.frames.append(sys._getframe())
        if levels:
            self.deeper(levels - 1)
        else:
            self.there.set()
            self.over.wait()


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    thread = Waiting()
    thread.start()
    assert thread.there.wait(60)
    yield thread
    thread.over.set()
    thread.join()


def test_no_frame_of_another_thread_is_held_between_two_instructions(waiting: Waiting) -> None:
    # Between any two the other thread may go on, and what its functions held would stay alive.
    assert waiting.ident is not None
    stacks = Stacks()
    held = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = True
        held.append([sys.getrefcount(one) for one in waiting.frames])
        return trace

    trace(sys._getframe(), "line", None)
    before = sys.gettrace()
    sys.settrace(trace)
    number = stacks.number_in(waiting.ident)
    sys.settrace(before)
    assert number == 0 and len(held) > 20
    assert all(one == held[0] for one in held)


def test_a_stack_is_told_from_the_outside_in_and_has_one_number(waiting: Waiting) -> None:
    assert waiting.ident is not None
    stacks = Stacks()
    assert [stacks.number_in(waiting.ident) for _ in range(3)] == [0, 0, 0]
    (places,) = stacks.places()
    names = [place["function"] for place in places]
    assert names.count("deeper") == 21 and names[-1] == "wait"
    assert {place["row"] for place in places if place["function"] == "deeper"} == {
        33,
        36,
    }


def test_a_thread_s_own_stack_is_the_same_whoever_asks() -> None:
    stacks = Stacks()
    stacks.number(sys._getframe())
    stacks.number_in(threading.get_ident())
    own, asked = stacks.places()
    assert [place["function"] for place in asked[: len(own)]] == [
        place["function"] for place in own
    ]
    assert [place["function"] for place in asked[len(own) :]] == ["number_in", "_walked"]


def test_a_thread_that_is_gone_has_no_stack(waiting: Waiting) -> None:
    waiting.over.set()
    waiting.join()
    stacks = Stacks()
    assert waiting.ident is not None and stacks.number_in(waiting.ident) == 0
    assert stacks.places() == [[]]


def test_only_the_innermost_calls_of_a_very_deep_stack_are_kept() -> None:
    def deeper(levels: int) -> list[list[dict[str, Any]]]:
        if levels:
            return deeper(levels - 1)
        stacks = Stacks()
        stacks.number(sys._getframe())
        return stacks.places()

    (places,) = deeper(500)
    assert len(places) == 400 and {place["function"] for place in places} == {"deeper"}


def test_who_ends_a_program_does_not_wait_for_the_next_look(tmp_path: Path) -> None:
    look = samples._Look(Recording(str(tmp_path)), 3_600_000_000_000, 10)
    while not look.hits:
        pass
    assert look.stopped()
    assert len(look.hits) == 1
