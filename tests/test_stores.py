"""Where a file writes what outlives a call: found by its words, as by looking at all of it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.semantics.interpreter import stores
from tclint.semantics.interpreter.stores import Store, Stores
from tclint.source.file import SourceFile

ROOT = Path(__file__).parent.parent
WRITING = """
import torch
seen, table = [], {}


class Net(torch.nn.Module):
    def __init__(self, **kwargs):
        self.count = 0
        self.kept = []
        self.__dict__.update(kwargs)

    def forward(self, x, *, state=None):
        self.count += 1
        keep(self.kept, x)
        fill(state=self.state)
        (lambda held: held.append(1))(self.held)
        y = [x for self.loop in range(3)]
        z = f"{x}" if False else (w := x)
        alias = self.aliased
        alias["n"] = x
        self.a, (self.b, [self.c, *self.d]) = x, (y, [z, w])
        for self.e, table[x] in []:
            del self.f, self.g[0]
        with x as self.h, y as (self.i, seen):
            assert self.j.append(x) is None
        x.grad, self.k = self.l = 1, 2
        self.m[0][1] |= x
        self.n: int = 3
        self . o \\
            . add(x)
        return setattr(self, "p", vars(self)["q"]), x.__setattr__("r", 1), self.s.pop(0)

    @property
    def late(self):
        global seen
        seen = [*seen, keep(self.late_one, 1)]
        return (self.t.
            # where it goes
            append(1))


def keep(held, x):
    held.append(x)


def fill(state):
    state["x"] = 1
"""


def _told(found: Stores) -> list[tuple[str, list[tuple[object, ...]]]]:
    def one(store: Store) -> tuple[object, ...]:
        return store.node, store.content, store.key, store.function, store.holder, store.adds

    names = {*found._bound, *found._contents}
    held = {**found.named, **{f"={name}": found.of_variable(name) for name in names}}
    held["setattr"] = found.setters
    return sorted((name, [one(store) for store in some]) for name, some in held.items())


def _both(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Stores, Stores]:
    tree, file = ast.parse(text), SourceFile.from_text(Path("net.py"), text)
    quick = Stores(tree, file)
    with monkeypatch.context() as patched:
        patched.setattr(stores, "_rows", lambda file, _: [*range(len(file.lines) + 2)])
        return quick, Stores(tree, file)


def _asked_for(found: Stores) -> dict[str, set[tuple[object, ...]]]:
    return {name: set(some) for name, some in _told(found)}


def test_all_that_a_file_writes_is_found_by_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, whole = _both(WRITING, monkeypatch)
    assert _asked_for(quick) == _asked_for(whole)
    assert {"held", "kept", "state", "aliased", "o", "p", "s", "t", "late_one"} <= set(quick.named)


@pytest.mark.parametrize("folder", ["tclint/semantics", "tclint/lint", "tclint/fix", "tests"])
def test_real_files_write_the_same(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in sorted((ROOT / folder).rglob("*.py"))[:60]:
        quick, whole = _both(path.read_text("utf-8"), monkeypatch)
        assert _asked_for(quick) == _asked_for(whole), path


def test_letters_that_spell_a_word_otherwise_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'def f(self, x):\n    return self.kept.\uff41ppend(x), \uff53etattr(self, "other", x)\n'
    quick, whole = _both(text, monkeypatch)
    assert _asked_for(quick) == _asked_for(whole)
    assert set(quick.named) == {"kept", "other"}
