"""Rewrites that are carried out apart give what carrying them out together gives."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")

from hypothesis import given, settings
from hypothesis import strategies as st

from tclint.diagnostics import Decline
from tclint.fix import edits
from tclint.fix.apart import apart
from tclint.fix.conflicts import apply_edits
from tclint.fix.obstacle import ObstacleError
from tclint.fix.snippet import cut
from tclint.lint.repair import placed
from tclint.lint.rewrite import AddArgument, Insert, Local, Repair, Replace, anchor
from tclint.source.file import SourceFile

SIMPLE = ["a = f(1)", "b = g(a)  # end", "c = a; d = f(b)", "e = (\n    f(2)\n)", "pass"]
ABOVE = st.sampled_from(["", "", "\n", "# above\n", "\n# above\n", "\n\n", "# one\n\n# two\n"])
INSERTED = ["new()", "\n\ndef helper():\n    return 1", "# why\nnew()"]


def _indented(text: str, by: str = "    ") -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


def _compound(body: str, head: str, ending: str) -> str:
    return f"{head}\n{_indented(body)}{ending}"


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    heads = ["def m(x):", "class A:", "if q:", "for i in f(3):", "@d\ndef n():", "with h():"]
    endings = ["", "", "    # deeper\n", "\n    # deeper\n\n"]
    return st.builds(_compound, inner, st.sampled_from(heads), st.sampled_from(endings))


def _block(statement: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    line = st.builds(str.__add__, ABOVE, statement)
    return st.lists(line, min_size=1, max_size=4).map("".join)


PROGRAMS = _block(
    st.recursive(
        st.sampled_from(SIMPLE).map("{}\n".format),
        lambda inner: _blocks(_block(inner)),
        max_leaves=9,
    )
)


def _rewrites(draw: Callable[[st.SearchStrategy[Any]], Any], tree: ast.Module) -> list[Local]:
    nodes = [*ast.walk(tree)]
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    made: dict[int, Local] = {}
    for _ in range(draw(st.integers(2, 4))):
        kind = draw(st.sampled_from(["insert", "insert", "call", "argument", "moved", "statement"]))
        if kind == "insert" or not calls:
            anchor = draw(st.sampled_from(statements))
            template = draw(st.sampled_from(INSERTED))
            made[id(anchor)] = Insert(anchor, template, after=draw(st.booleans()))
        elif kind == "statement":
            one = draw(st.sampled_from(statements))
            made[id(one)] = Replace(one, draw(st.sampled_from(["", "if w:\n    $s"])), {"s": one})
        elif kind == "moved":
            call, other = draw(st.sampled_from(calls)), draw(st.sampled_from(calls))
            made[id(call)] = Replace(call, "h($p)", {"p": other})
        else:
            call = draw(st.sampled_from(calls))
            wanted = AddArgument(call, "k", keyword="key") if kind == "argument" else None
            made[id(call)] = wanted or Replace(call, "$p.t()", {"p": call.func})
    return [*made.values()]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_apart_gives_what_together_gives(data: st.DataObject) -> None:
    text = data.draw(PROGRAMS)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    file = SourceFile.from_text(Path("m.py"), text)
    rewrites = _rewrites(data.draw, tree)
    done = edits.edits_for(file, tree, placed(Repair("Do it", tuple(rewrites))))
    try:
        together = sorted(edits._local_edits(file, tree, rewrites))
    except ObstacleError:
        assert isinstance(done, Decline) or len(apart(file, tree, rewrites)) > 1
        return
    assert not isinstance(done, Decline)
    assert apply_edits(file, done) == apply_edits(file, together)


def test_what_lies_between_is_not_read() -> None:
    between = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(50))
    text = f"import torch\n\n\n{between}def g(x):\n    y = 1\n    return x.item()\n"
    tree = ast.parse(text)
    call = next(n for n in ast.walk(tree) if isinstance(n, ast.Call))
    rewrites: list[Local] = [
        Insert(tree.body[0], "\n\ndef h(): ...", after=True),
        Replace(call, "h()"),
    ]
    file = SourceFile.from_text(Path("m.py"), text)
    groups = apart(file, tree, rewrites)
    assert groups == [rewrites[:1], rewrites[1:]]
    rows = [len(cut(file, tree, [*map(anchor, group)]).text.splitlines()) for group in groups]
    assert rows == [1, 1]


def test_an_insertion_stands_where_it_stood_when_all_was_compared_at_once() -> None:
    text = "import torch\n\n\nclass A:\n    y = f(1)\n"
    tree = ast.parse(text)
    call = next(n for n in ast.walk(tree) if isinstance(n, ast.Call))
    rewrites = (Insert(tree.body[0], "\n\ndef h(): ...", after=True), Replace(call, "h()"))
    file = SourceFile.from_text(Path("m.py"), text)
    done = edits.edits_for(file, tree, placed(Repair("Do it", rewrites)))
    assert not isinstance(done, Decline)
    first = done[0]
    assert (first.span.start.row, first.content) == (4, "def h(): ...\n\n\n")
    assert [*done] == sorted(edits._local_edits(file, tree, rewrites))
