"""Lists and dicts that are filled under another name, or by a function of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from .dynamo import breaks
from .flag_programs import of_flag, results_of

HELPERS = """
def add(to, value):
    to.append(value)


def add_below(to, value):
    add(to, value)


def add_rows(*, of, to):
    for row in of.unbind(0):
        to.append(row)


def put(to, key, value):
    to[key] = value


def add_to_another(to, value):
    to = []
    to.append(value)


def add_deep(to, value):
    if value.dim() > 1:
        add_deep(to, value[0])
        return
    to.append(value)
"""
PROGRAMS = {
    "either of two": """
        pos, neg = [], []
        (pos if flag else neg).append(x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "the first that holds something": """
        pos = []
        (pos or pos).append(x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a name for either of two": """
        pos, neg = [], []
        to = pos if flag else neg
        to.append(x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "either of two, named before": """
        pos, neg = [], []
        to = pos if flag else neg
        pos.append(x)
        if to[0].sum() > 3:
            x = x + 1
        """,
    "one key of two": """
        both = {"a": [], "b": []}
        both["a" if flag else "b"].append(x)
        if both["a"][0].sum() > 3:
            x = x + 1
        """,
    "a list of a dict with two names": """
        one = {"a": []}
        other = one
        other["a"].append(x)
        if one["a"][0].sum() > 3:
            x = x + 1
        """,
    "a method with a name": """
        pos = []
        to = pos.append
        to(x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "each of two": """
        pos, neg = [], []
        for to in (pos, neg):
            to.append(x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a name that is bound anew": """
        now = []
        first = now
        now.append(x)
        now = []
        now.append(4)
        if first[0].sum() > 3:
            x = x + 1
        """,
    "a function": """
        pos = []
        add(pos, x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a function below a function": """
        pos = []
        add_below(pos, x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a function with names": """
        pos = []
        add_rows(to=pos, of=x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a function and a dict": """
        held = {}
        put(held, "a", x)
        if held["a"].sum() > 3:
            x = x + 1
        """,
    "a function that calls itself": """
        pos = []
        add_deep(pos, x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a function called for two lists": """
        pos, sizes = [], []
        add(sizes, 4)
        add(pos, x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
    "a function that is known from before": """
        pos, neg = [], []
        add(neg, x)
        add(pos, x)
        if pos[0].sum() > 3:
            x = x + 1
        """,
}
WHOLE = {
    "a number beside it": """
        pos, sizes = [], []
        to = pos if flag else pos
        to.append(x)
        sizes.append(4)
        if sizes[0] > 3:
            x = x + 1
        """,
    "a name that is bound anew": """
        now = []
        now.append(x)
        now = []
        now.append(4)
        if now[0] > 3:
            x = x + 1
        """,
    "a name that was bound anew before": """
        sizes = []
        other = sizes
        sizes = [4]
        other.append(x)
        if sizes[0] > 3:
            x = x + 1
        """,
    "the last round's list": """
        now = [x]
        for _ in range(2):
            last = now
            now = []
            last.append(x)
        now.append(4)
        if now[0] > 3:
            x = x + 1
        """,
    "another item of a dict": """
        held = {"n": 4, "a": []}
        held["a" if flag else "b"].append(x)
        if held["n"] > 3:
            x = x + 1
        """,
    "a function of numbers": """
        pos, sizes = [], []
        add(pos, x)
        add(sizes, x.shape[0])
        if sizes[0] > 1:
            x = x + 1
        """,
    "a function that fills a list of its own": """
        sizes = [4]
        add_to_another(sizes, x)
        if sizes[0] > 3:
            x = x + 1
        """,
    "a copy": """
        sizes = [4]
        other = list(sizes)
        other.append(x)
        if sizes[0] > 3:
            x = x + 1
        """,
}


def program(body: str) -> str:
    return of_flag(HELPERS, body)


def found(folder: Path, body: str) -> list[str]:
    return [result.diagnostic.code for result in results_of(folder, program(body))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_put_there_is_known(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, PROGRAMS[name]) == ["TCL160"]


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_else_is_there(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, WHOLE[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROGRAMS, *(f"whole: {name}" for name in WHOLE)])
def test_dynamo_agrees(name: str) -> None:
    torch = pytest.importorskip("torch")
    text = PROGRAMS.get(name) or WHOLE[name.removeprefix("whole: ")]
    assert breaks(program(text), torch.ones(2, 3), True) is (name in PROGRAMS)
