"""Arrays of numbers that are written out become tuples and lists where nobody can tell."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from .proof.fixing import fixed

HEAD = (
    "import math\n\nimport numpy as np\nimport torch\n\n\n@torch.compile\n"
    "def f(x: torch.Tensor):\n    out = x.float() * 1\n"
)
TAIL = "    return out\n\n\ndef helper(k):\n    return k\n"
INTEGERS = ("np.array([1, 2, 4])", "np.array((3, 1))", "np.array([-2, 1])", "np.array([2])")
FLOATS = ("np.array([0.5, 2.0])", "np.array((-0.1, 0.7, 3.5))")


def program(body: str) -> str:
    return f"{HEAD}    {body}\n{TAIL}"


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(text: str, x: torch.Tensor) -> tuple[object, ...]:
    try:
        result = function(text)(x.clone())
    except (RuntimeError, IndexError, TypeError) as error:
        return type(error), str(error)
    return type(result), result.dtype, result.shape, result.tolist()


INPUTS = (
    torch.arange(36.0).reshape(6, 6),
    torch.arange(6),
    torch.ones(6, dtype=torch.bool),
    torch.rand(6).half(),
    torch.arange(2.0),
)


def alike(before: str, after: str) -> None:
    for x in INPUTS:
        assert outcome(before, x) == outcome(after, x)


@pytest.mark.parametrize("array", INTEGERS)
@pytest.mark.parametrize(
    "body",
    [
        "for k in ARRAY:\n        out = out + x[k]",
        "a = ARRAY\n    for k in a:\n        out = out + x[k]",
        "a = ARRAY\n    out = out + x[a[0]] * a[-1]",
        "a = ARRAY\n    for k in a:\n        out = out + x[k] * a[0]",
        "out = torch.stack([out[k] for k in ARRAY])",
        "for k in ARRAY:\n        if k > 1:\n            out = out * k",
        "for k in ARRAY:\n        out = out[: k + 1] ** k",
        "for k in ARRAY:\n        if math.sqrt(abs(k)) > 1:\n            out = k - out",
        "for k in ARRAY:\n        out = torch.roll(out, int(k)) + (k * 3 - 1)",
        "for k in ARRAY:\n        out = out + len(f'{k}{k:3d}')\n        out = out + x[k]",
        "for k in ARRAY:\n        for j in range(k):\n            out = out + j",
    ],
)
def test_integers_in_a_tuple_give_the_same(array: str, body: str, tmp_path: Path) -> None:
    before = program(body.replace("ARRAY", array))
    after = fixed(before, tmp_path)
    assert "np.array" not in after
    alike(before, after)


@pytest.mark.parametrize("array", FLOATS)
@pytest.mark.parametrize(
    "body",
    [
        "for k in ARRAY:\n        if k > 1:\n            out = out * k",
        "a = ARRAY\n    out = out * a[1] + int(a[0]) + x[int(a[1])]",
        "for k in ARRAY:\n        out = out * math.exp(k) + (k - 0.3) * 7",
        "for k in ARRAY:\n        out = torch.clamp(out, min=float(k)) / k",
        "for k in ARRAY:\n        if k > 1:\n            out = out + x * k",
    ],
)
def test_floats_in_a_tuple_give_the_same(array: str, body: str, tmp_path: Path) -> None:
    before = program(body.replace("ARRAY", array))
    after = fixed(before, tmp_path)
    assert "np.array" not in after
    alike(before, after)


@pytest.mark.parametrize(
    "body",
    [
        "out = [x[k] + k * 0 for k in np.array([1, 2])] + [k for k in np.array([1])]",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (k * np.float32(0.1))",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (k + np.float32(0.1))",
        "s = np.float32(0.1)\n    for k in np.array([0.1]):\n        out *= 1 if k > s else 2",
        "for k in np.arange(3):\n        out = out + x[k] * (k * np.float32(0.1))",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (1 / (k - 1))",
        "for k in np.array([-1, 2]):\n        out = out + x[k] * (1 / (k + 1))",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (k * k * k)",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (k**2)",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (1 << k)",
        "for k in np.array([1, 2]):\n        out = out + x[k] + len(str([k]))",
        "for k in np.array([1, 2]):\n        out = out + x[k] + len(f'{k!r}')",
        "for k in np.array([1, 2]):\n        out = out + x[helper(k)]",
        "for k in np.array([0.5]):\n        out = out + x[k]",
        "for k in np.array([0.5]):\n        out = out + x[k % 4]",
        "for k in np.array([0.5]):\n        x[k] = 1",
        "for k in np.array([0.5]):\n        out = out + [1, 2][k]",
        "for k in np.array([0.5]):\n        out = out[:k]",
        "for k in np.array([0.5]):\n        out = out.roll(k) if k > 0 else out",
        "for k in np.array([0.5]):\n        out = out + torch.zeros(k) if k > 0 else out",
        "for k in np.array([0.5]):\n        for j in range(k):\n            out = out + j",
        "for k in np.array([1.5]):\n        if k > 1:\n            out = out + torch.tensor(k)",
        "for k in np.array([1, 2]):\n        out = out + x[k] + unknown(k)",
        "for k in np.array([1, 2]):\n        out = out + x[k]\n        last = (k,)",
        "for k in np.array([1, 2]):\n        out = out + x[k]\n    return k",
        "for k in np.array([1, 2]):\n        out = out + x[k.item()]",
        "for k in np.array([1, 2]):\n        out = out + x[k] * isinstance(k, int)",
        "for k in np.array([1, 2]):\n        out = out + x[k] * (k is 1)",
        "for k in np.array([1, 2.5]):\n        if k > 1:\n            out = out + k",
        "for k in np.array([True, False]):\n        if k:\n            out = out + k",
        "for k in np.array([1, 70000]):\n        out = out + x[:k].sum()",
        "for k in np.array([1, 2], dtype=np.int8):\n        out = out + x[k]",
        "for k in np.array([[1], [2]]):\n        out = out + x[k]",
        "for k in np.array([x.shape[0], 2]):\n        out = out + x[k - 1]",
        "a = np.array([1, 2])\n    for k in a:\n        out = out + x[k] * a.sum()",
        "a = np.array([1, 2])\n    a += 1\n    for k in a:\n        out = out + x[k]",
        "a = np.array([1, 2])\n    a[0] = 0\n    for k in a:\n        out = out + x[k]",
        "a = np.array([1, 2])\n    b = a\n    b[0] = 0\n    for k in a:\n        out = out + x[k]",
        "a = np.array([1, 2])\n    helper(a)\n    for k in a:\n        out = out + x[k]",
        "a = np.array([1, 2])\n    out = out + x[a[0]] + x[a].sum()",
        "a = np.array([1, 2])\n    out = out + x[a[0]] + (a * 2)[0]",
        "a = np.array([1, 2])\n    out = out + x[a[0]] + x[a[5]]",
        "a = np.array([1, 2])\n    out = out + x[a[0]]\n    return a",
        "a = np.array([1, 2])\n    a = a * 2\n    out = out + x[a[0]]",
        "a = np.array([1, 2])\n    g = lambda: a.sum()\n    out = out + x[a[0]] + g()",
        "k = 5\n    for k in np.array([1, 2]):\n        out = out + x[k]",
        "for k in np.array([1, 2]):\n        out = out + x[k]\n        k += 1",
    ],
)
def test_what_may_tell_is_left_by_safe_fixes(body: str, tmp_path: Path) -> None:
    before = program(body)
    after = fixed(before, tmp_path)
    assert before.count("np.arr") == after.count("np.arr")
    assert before.count("np.arange") == after.count("np.arange")


@pytest.mark.parametrize(
    ("array", "written"),
    [
        ("np.array([1, 2, 4]).tolist()", "[1, 2, 4]"),
        ("np.array((0.1, -2.5)).tolist()", "[0.1, -2.5]"),
        ("np.arange(3).tolist()", "list(range(3))"),
        ("np.arange(1, 9, 3).tolist()", "list(range(1, 9, 3))"),
        ("np.arange(x.shape[0]).tolist()", "list(range(x.shape[0]))"),
        ("np.linspace(0, 0.3, 4).tolist()", "[i * (0.3 / 3) for i in range(3)] + [0.3]"),
        ("np.linspace(0.0, 1, num=3).tolist()", "[i * (1 / 2) for i in range(2)] + [1.0]"),
        (
            "np.linspace(-1, 2.5, 5).tolist()",
            "[-1 + i * ((2.5 - -1) / 4) for i in range(4)] + [2.5]",
        ),
    ],
)
def test_lists_are_the_same(array: str, written: str, tmp_path: Path) -> None:
    before = program(f"for k in {array}:\n        out = out * k")
    after = fixed(before, tmp_path)
    assert written in after
    alike(before, after)
    x = INPUTS[0]
    first, other = (eval(text, {"np": np, "x": x}) for text in (array, written))
    assert repr(first) == repr(other)
    assert [type(one) for one in first] == [type(one) for one in other]


def test_a_computed_list_has_the_bits_of_numpy(tmp_path: Path) -> None:
    draw = random.Random(0)
    bounds: list[float] = [0, -1, 0.3, -1e300]
    pairs = [*itertools.product(bounds, repeat=2)]
    pairs += [(draw.uniform(-9, 9), draw.uniform(-9, 9)) for _ in range(9)]
    counts = (2, 3, 7, 12, 48)
    calls = [f"np.linspace({a}, {b}, {draw.choice(counts)}).tolist()" for a, b in pairs]
    before = program(f"return [{', '.join(calls)}]")
    after = fixed(before, tmp_path)
    assert "linspace" not in after
    assert repr(function(before)(INPUTS[0])) == repr(function(after)(INPUTS[0]))


@pytest.mark.parametrize(
    "array",
    [
        "np.linspace(0, 0.3, 1).tolist()",
        "np.linspace(0, 0.3, 0).tolist()",
        "np.linspace(0, 0.3).tolist()",
        "np.linspace(0, x.shape[0], 4).tolist()",
        "np.linspace(0, 0.3, x.shape[0]).tolist()",
        "np.linspace(0, 0.3, 4, False).tolist()",
        "np.linspace(0, 0.3, 4, endpoint=False).tolist()",
        "np.linspace(0, 0.3, 4, dtype=np.float32).tolist()",
        "np.linspace(0, 5e-324, 4).tolist()",
        "np.linspace(0, 1e999, 4).tolist()",
        "np.arange(0, 1, 0.25).tolist()",
        "np.arange(3, dtype=np.int8).tolist()",
        "np.array([1, 2.5]).tolist()",
        "np.array([1, x.shape[0]]).tolist()",
        "np.array([1, 2], np.float32).tolist()",
    ],
)
def test_other_lists_are_left(array: str, tmp_path: Path) -> None:
    before = program(f"for k in {array}:\n        out = out * k")
    assert fixed(before, tmp_path, unsafe=True) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "for k in np.array([1, 2, 4]):\n        out = out + x[k]",
        "a = np.array([1, 2])\n    out = out + x[a[0]] * a[1]",
        "for k in np.linspace(0, 0.3, 4).tolist():\n        out = out * k",
        "for k in np.arange(3).tolist():\n        out = out + x[k]",
    ],
)
def test_the_fixed_program_is_one_graph(body: str, tmp_path: Path) -> None:
    after = function(fixed(program(body), tmp_path))
    torch._dynamo.reset()
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    assert torch.equal(compiled(INPUTS[0]), after(INPUTS[0]))
