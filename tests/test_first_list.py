"""Compiled code may be made for the list that a tensor gives first: eager code does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.test_first_item import load, opened, outcome, same

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import torch


def f(x: torch.Tensor, lengths: torch.Tensor):
"""
BODIES = {
    "parts": "return torch.stack([part.sum() for part in x.split(lengths.tolist())])",
    "parts of what is computed": "return x.split((lengths * 1).tolist())[0] * 2",
    "a loop over two lists": "out = []\nfor n, m in zip(lengths.tolist(), lengths.tolist()):\n"
    "    out.append(x[:n] * m)\nreturn torch.cat(out)",
    "a comprehension": "return torch.cat([x[:n] for n in lengths.tolist()])",
    "a nested list": "rows = lengths.reshape(1, -1).tolist()\nreturn x + rows[0][0] + len(rows)",
    "one number": "n = lengths[0].tolist()\nreturn x[:n]",
    "no number at all": "return x + len(lengths[:0].tolist())",
    "a number of numbers": "return x + lengths.tolist().count(2)",
}
LISTED = [[2, 3], [4, 1], [5, 0]]


def program(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}{lines}\n\nrun = torch.compile(f)\n"


@pytest.mark.parametrize("name", BODIES)
def test_a_list_is_kept_and_asked_for(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(BODIES[name])
    after = opened(code, tmp_path)
    assert after.count("def first_list(numbers):") == 1
    assert opened(after, tmp_path) == after
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    x = torch.randn(5)
    for kind in (torch.int64, torch.int32):
        torch._dynamo.reset()
        for numbers in LISTED:
            lengths = torch.tensor(numbers, dtype=kind)
            expected = outcome(before, x, lengths)
            assert same(expected, outcome(function, x, lengths))
            given = outcome(compiled, x, lengths)
            assert same(expected, given) or (numbers != LISTED[0] and "other numbers" in str(given))


@pytest.mark.parametrize("numbers", [[True, False], [2.5, 0.1], [1j], [2**62, -1], []], ids=str)
def test_other_tensors_give_the_lists_that_they_gave(numbers: list[Any], tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program("return x + 1, lengths.tolist()")
    after = opened(code, tmp_path)
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    x, lengths = torch.randn(5), torch.tensor(numbers)
    for given in (function(x, lengths), compiled(x, lengths), compiled(x, lengths)):
        assert given[1] == before(x, lengths)[1]
        assert [type(one) for one in given[1]] == [type(one) for one in before(x, lengths)[1]]


def test_lists_of_arrays_are_left_to_numpy(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    after = opened(program("return x.split(lengths.tolist())"), tmp_path)
    array = pytest.importorskip("numpy").array([2, 3])
    function = load(after, tmp_path, "after").f
    torch._dynamo.reset()
    for one in (function, torch.compile(function, backend="eager")):
        assert [len(part) for part in one(torch.ones(5), array)] == [2, 3]


def test_lists_of_floats_are_not_kept(tmp_path: Path) -> None:
    code = program("return [x * n for n in lengths.float().tolist()]")
    assert opened(code, tmp_path) == code
