"""What is a tensor on some paths, and a number on the others, where a number is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from .dynamo import breaks
from .flag_programs import of_flag, results_of

HELPERS = """
def length_of(x, flag):
    if flag:
        return x.argmax()
    return 2


def first(x, size):
    return x[:size]
"""
PROGRAMS = {
    "an end of a slice": """
        size = 1
        if flag:
            size = x.argmax()
        x = x[:size]
        """,
    "a start, by a condition": """
        x = x[x.argmax() if flag else 0 :]
        """,
    "a step": """
        step = (x.argmin() + 1) if flag else 2
        x = x[::step]
        """,
    "a part of an index": """
        size = x.shape[0] if not flag else x.argmax()
        x = x.reshape(1, -1)[:, :size]
        """,
    "what a helper gives": """
        x = x[: length_of(x, flag)]
        """,
    "what a helper is given": """
        x = first(x, x.argmax() if flag else 2)
        """,
    "a size": """
        size = x.argmax() if flag else 2
        x = x.sum() + torch.zeros(size)
        """,
    "one of several sizes": """
        size = x.argmax() if flag else 2
        x = x.sum() + torch.zeros(2, size)
        """,
    "one of a tuple of sizes": """
        size = x.argmax() if flag else 2
        x = x.sum() + torch.zeros((2, size))
        """,
    "times that a loop runs": """
        times = x.argmax() if flag else 2
        for _ in range(times):
            x = x + 1
        """,
    "where a loop ends": """
        end = 3
        if flag:
            end = x.argmax()
        for _ in range(1, end):
            x = x + 1
        """,
    "an int": """
        size = x.argmax() if flag else 2
        x = x * int(size)
        """,
    "a float": """
        rate = x.mean() if flag else 0.5
        x = x * float(rate)
        """,
    "a bool": """
        rate = x.mean() if flag else 0.5
        x = x.relu() if bool(rate) else x
        """,
    "changed after it was chosen": """
        size = x.argmax() if flag else 2
        size = size + 1
        x = x[:size]
        """,
}
WHOLE = {
    "a size of the shape": """
        size = x.shape[0] if flag else 2
        x = x[:size]
        """,
    "computed with": """
        rate = x.mean() if flag else 0.5
        x = x * rate
        """,
    "a number by then": """
        size = x.argmax() if flag else 2
        size = 3
        x = x[:size]
        """,
    "asked for what it is": """
        size = x.argmax() if flag else 2
        if not isinstance(size, torch.Tensor):
            x = x[:size]
        """,
    "another way, which returns": """
        if flag:
            size = x.argmax()
            return x + size
        size = 2
        x = x[:size]
        """,
}


def program(body: str) -> str:
    return of_flag(HELPERS, body)


def found(folder: Path, body: str) -> list[str]:
    results = results_of(folder, program(body))
    assert not any(result.repair for result in results)
    return [result.diagnostic.code for result in results]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_reported(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, PROGRAMS[name]) in (["TCL106"], ["TCL102"])


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_else_is(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, WHOLE[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROGRAMS, *(f"whole: {name}" for name in WHOLE)])
def test_dynamo_agrees(name: str) -> None:
    torch = pytest.importorskip("torch")
    text = PROGRAMS.get(name) or WHOLE[name.removeprefix("whole: ")]
    assert breaks(program(text), torch.ones(4), True) is (name in PROGRAMS)


def test_the_one_among_the_sizes_is_named(tmp_path: Path) -> None:
    (result,) = results_of(tmp_path, program(PROGRAMS["one of a tuple of sizes"]))
    assert result.diagnostic.message.startswith("`size` may be a tensor, and is read as")


def test_what_a_caller_passes_is_likely_a_number(tmp_path: Path) -> None:
    body = "size = x.shape[0] if length is None else length\nx = x[:size]"
    assert results_of(tmp_path, program(body).replace("flag: bool", "length=None")) == ()
