"""`itertools.groupby` takes a key by its name in compiled code; eager code does the same."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

GROUPS = {
    "a lambda": "for k, g in itertools.groupby(kinds, lambda one: one % 2):\n"
    "        x = x * len(list(g)) + k",
    "a function": "pairs = [(k, len(list(g))) for k, g in itertools.groupby(kinds, half)]\n"
    "    x = x + len(pairs) * pairs[0][1]",
    "a list of pairs": "rows = itertools.groupby(enumerate(kinds), lambda one: one[1])\n"
    "    x = x + sum(k * list(g)[0][0] for k, g in rows)",
    "a method's name": "x = x + len(list(itertools.groupby([str(k) for k in kinds], str.strip)))",
    "parentheses": "x = x + len(list(itertools.groupby(kinds, (lambda one: one % 2))))",
}
LEFT_ALONE = {
    "a name": "x = x + len(list(itertools.groupby(kinds, key=half)))",
    "no key": "x = x + len(list(itertools.groupby(kinds)))",
    "arguments that are not written out": "x = x + len(list(itertools.groupby(*(kinds, half))))",
    "a comment would be lost": "for k, g in itertools.groupby(\n        kinds,\n"
    "        half,  # by halves\n    ):\n        x = x + k",
    "another function": "x = x + len(groupby(kinds, half))",
    "running totals": "for total in itertools.accumulate(kinds, operator.mul):\n"
    "        x = x * total",
    "a filter": "for one in itertools.filterfalse(half, kinds):\n        x = x * one",
    "another name": "groups = itertools.accumulate\n"
    "    x = x + len(list(groups(kinds, operator.add)))",
}
HEAD = """\
import itertools
import operator

import torch


def half(one):
    return one // 2


def groupby(members, key):
    return [key(member) for member in members]


def f(x, kinds=(1, 1, 2, 3)):
"""


def load(code: str, folder: Path, name: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def program(body: str) -> str:
    return f"{HEAD}    {body}\n    return x\n\n\nrun = torch.compile(f)\n"


def fixed(code: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(code)
    changed = fix_files([path], Config(root=folder, select=("TCL180",))).changed
    return changed[0].after if changed else code


@pytest.mark.parametrize("name", GROUPS)
def test_the_key_gets_its_name_and_all_else_stays(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(GROUPS[name])
    after = fixed(code, tmp_path)
    assert "groupby(kinds, key=" in after or "key=lambda one: one[1]" in after or "key=str" in after
    assert fixed(after, tmp_path) == after
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    x = torch.randn(3)
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert torch.equal(before(x), function(x))
    assert torch.equal(before(x), compiled(x))


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_what_has_no_key_by_place_is_left_alone(why: str, tmp_path: Path) -> None:
    code = program(LEFT_ALONE[why])
    assert fixed(code, tmp_path) == code
