"""Branches whose ways give several variables or attributes: each is chosen, with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="the programs run torch")

CHOSEN = {
    "two variables": "if t:\n    y = x + z\n    w = z * 2\nelse:\n    y = x - z\n    w = z + 1",
    "the second reads the first": "if t:\n    y = y + z\n    w = y * w\nelse:\n    y = y - z\n"
    "    w = y + w",
    "the test reads what is given": "if (y > 0).all():\n    y = y - z\n    w = w + y\nelse:\n"
    "    y = y + z\n    w = w - y",
    "no else": "if t:\n    y = y + z\n    w = w - z",
    "one of two tensors": "if t:\n    y = torch.minimum(y, z)",
    "the opposite": "if not t:\n    y = y + z\n    w = w / z\nelse:\n    y = z - y\n    w = z / w",
    "flags": "if t:\n    y = y + z\nelif k > 1:\n    y = y * z\nelif k > 0:\n    y = z\n    "
    "\nelse:\n    y = y / z",
    "a flag and two": "if t:\n    y = y + z\n    w = w * z\nelif k:\n    y = z - y\n    w = w - z\n"
    "else:\n    y = z / y\n    w = w / z",
    "attributes": "box.low = y\nbox.high = z\nif t:\n    box.low = box.low + w\n"
    "    box.high = box.high - w\nelse:\n    box.low = torch.min(box.low, w)\n"
    "    box.high = torch.max(box.high, w)\ny = box.low\nz = box.high",
    "an argument": "if t:\n    x = x + z\n    w = w + x",
    "an expression": "y = y + z if t else y * z\nw = w - y if not t else w",
    "comments": "if t:  # one\n    # two\n    y = y + z  # three\n    w = w - z\n# four\n"
    "else:  # five\n    y = y - z\n    # six\n    w = w * z  # seven",
}
LEFT = {
    "other variables": "if t:\n    y = x + z\n    w = z * 2\nelse:\n    y = x - z",
    "a sum": "if t:\n    y = y + z\n    w = w.sum()",
    "a row": "if t:\n    y = y + z\n    w = w[0]",
    "what a mask selects": "if t:\n    y = y[y > 0] + z[y > 0]",
    "a reduction": "if t:\n    y = torch.amax(y + z, 1)",
    "the greatest of a row": "if t:\n    y = y.max(1) \n    w = w + z",
    "booleans": "m = y > 0\nn = z > 0\nif t:\n    m = m + n\n    w = w + z\ny = m",
    "a cast": "if t:\n    y = (y + z).long()",
    "a number": "if t:\n    y = y + z\n    k = 2\ny = y * k",
    "a call": "if t:\n    y = y + z\n    w = note(w)",
    "a statement in place": "if t:\n    y = y + z\n    w += 1",
    "a store": "if t:\n    y = y + z\n    w[0] = 1",
    "a number that raises": "if t:\n    y = y + z * (1 / k)",
    "a number that is read": "if t:\n    y = y + z * w.max().item()",
    "another test of a tensor": "if t:\n    y = y + z\nelif (w > 0).any():\n    y = y * z\nelse:\n"
    "    y = y / z",
    "no last else": "if t:\n    y = y + z\nelif k:\n    y = y * z",
    "other tensors": "if t:\n    y = x\n    w = z\nelse:\n    y = z\n    w = x",
    "twice": "if t:\n    y = y + z\n    y = y * z\nelse:\n    y = y - z",
    "a test that selects": "if t and w[0].sum() > 0:\n    y = y + z\n    w = w + z",
    "an expression of other tensors": "y = y if t else z",
    "an expression with a sum": "y = y + z if t else (y + z).sum()",
    "division by zero": "if t:\n    y = y + z / 0",
}
PROGRAM = """\
import torch


class Box:
    low = high = None


def note(w):
    print("noted")
    return w


def f(x: torch.Tensor, k: int = 0):
    box = Box()
    y, z, w = x.float() * 2, x.float() + 1, x.float() - 3
    t = (x > 0).any()
    {body}
    return x, y, z, w
"""
GIVEN = [1.0, -1.0, 0.0, float("nan"), float("inf")]


@pytest.mark.parametrize("body", CHOSEN.values(), ids=CHOSEN)
def test_each_result_has_the_same_bits(body: str, tmp_path: Path) -> None:
    code, fixed = _fixed(body, tmp_path)
    assert "torch.where(" in fixed
    assert sorted(_comments(fixed)) == sorted(_comments(code))
    for number in GIVEN:
        for flag in (0, 1, 2):
            given = torch.tensor([[number, 2 * number], [0.5, -1.5]])
            expected, got = _run(code, given, flag), _run(fixed, given, flag)
            for one, other in zip(expected, got, strict=True):
                assert one.dtype == other.dtype
                assert torch.equal(one.view(torch.int32), other.view(torch.int32))


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_what_may_differ_in_shape_or_do_more_is_left(body: str, tmp_path: Path) -> None:
    code, fixed = _fixed(body, tmp_path)
    assert fixed == code


def test_the_choice_makes_one_graph(tmp_path: Path) -> None:
    _, fixed = _fixed(CHOSEN["a flag and two"], tmp_path)
    names: dict[str, Any] = {}
    exec(fixed, names)
    call = torch.compile(names["f"], backend="eager", fullgraph=True)
    for number in (1.0, -1.0):
        given = torch.full((2, 2), number)
        for one, other in zip(names["f"](given), call(given), strict=True):
            assert torch.equal(one, other)


def _fixed(body: str, folder: Path) -> tuple[str, str]:
    path = folder / "program.py"
    code = PROGRAM.format(body=body.replace("\n", "\n    "))
    path.write_text(code, encoding="utf-8")
    config = Config(root=folder, compiled=("*:f",), select=("TCL160",))
    changed = fix_files([path], config, unsafe=True).changed
    return code, changed[0].after if changed else code


def _comments(code: str) -> list[str]:
    return [line.partition("#")[2].strip() for line in code.splitlines() if "#" in line]


def _run(code: str, given: Any, flag: int) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["f"](given.clone(), flag)


PARAMETER = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor):
        if (self.w > 2).any():
            self.w = torch.clamp(self.w, max=2)
        return x * self.w


compiled = torch.compile(Net())
"""


@pytest.mark.parametrize("is_parameter", [True, False])
def test_an_attribute_that_takes_no_tensor_is_not_given_one(
    is_parameter: bool, tmp_path: Path
) -> None:
    code = PARAMETER if is_parameter else PARAMETER.replace("torch.nn.Parameter", "")
    (tmp_path / "net.py").write_text(code, encoding="utf-8")
    changed = fix_files([tmp_path / "net.py"], Config(root=tmp_path), unsafe=True).changed
    assert [one.path.name for one in changed] == ([] if is_parameter else ["net.py"])
