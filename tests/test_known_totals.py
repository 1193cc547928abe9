"""``output_size=`` where the repeats are known: one graph, and the same results and exceptions."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

from .proof.fixing import fixed

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, r: torch.Tensor):\n"
REPEATS = {
    "torch.tensor([1, 2, 3])": "6",
    "torch.tensor((4, 0, 0))": "4",
    "torch.as_tensor([1, 2, 3], dtype=torch.int32)": "6",
    "torch.LongTensor([1, 2, 3])": "6",
    "torch.full((3,), 2)": "6",
    "torch.full((3,), 2, dtype=torch.long)": "6",
    "torch.ones(3, dtype=torch.long) * 2": "6",
    "2 * torch.ones(3, dtype=torch.int)": "6",
}
OF_SIZES = {
    "torch.tensor([x.shape[0], x.shape[1], 1])": "x.shape[0] + x.shape[1] + 1",
    "torch.tensor([x.shape[0], x.shape[1]])": "x.shape[0] + x.shape[1]",
    "torch.full((x.shape[0],), 2)": "x.shape[0] * 2",
    "torch.full((len(x),), x.size(0))": "len(x) * x.size(0)",
    "x.shape[1] * torch.ones(x.size(0), dtype=torch.long)": "x.size(0) * x.shape[1]",
}
CALLS = (
    "torch.repeat_interleave(x, {}, dim=0)",
    "torch.repeat_interleave(x, {}, 0)",
    "torch.repeat_interleave(input=x, dim=0, repeats={})",
    "x.repeat_interleave({}, dim=0)",
    "x.repeat_interleave({}, 0)",
)
SHAPES = ((3, 4), (2, 4), (1, 4), (3, 0), (0, 3), (2,), (3,), ())


def program(repeats: str, call: str) -> str:
    return f"{HEAD}    return {call.format(repeats)} + 1\n"


def through_variable(repeats: str, call: str) -> str:
    return f"{HEAD}    repeats = {repeats}\n    return {call.format('repeats')} + 1\n"


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(text: str, *inputs: torch.Tensor) -> tuple[object, ...]:
    given = [one.clone().requires_grad_(one.is_floating_point()) for one in inputs]
    try:
        result = function(text)(*given)
        if result.requires_grad:
            result.square().sum().backward()
    except (RuntimeError, IndexError, TypeError) as error:
        return type(error), str(error)
    return result.dtype, result.tolist(), [one.grad is None or one.grad.tolist() for one in given]


def alike(before: str, after: str) -> None:
    for shape in SHAPES:
        inputs = torch.arange(float(torch.Size(shape).numel())).reshape(shape), torch.tensor([1, 2])
        assert outcome(before, *inputs) == outcome(after, *inputs)


@pytest.mark.parametrize("write", [program, through_variable])
def test_results_and_exceptions_stay(write: Any, tmp_path: Path) -> None:
    for (repeats, total), call in itertools.product(REPEATS.items(), CALLS):
        before = write(repeats, call)
        after = fixed(before, tmp_path)
        assert f"output_size={total}" in after
        alike(before, after)


@pytest.mark.parametrize(("repeats", "total"), OF_SIZES.items())
def test_sizes_of_the_tensor_count(repeats: str, total: str, tmp_path: Path) -> None:
    for call in CALLS:
        before = program(repeats, call)
        after = fixed(before, tmp_path)
        assert f"output_size={total}" in after
        alike(before, after)


def test_the_indices_alone_may_be_of_any_list(tmp_path: Path) -> None:
    for repeats, total in {
        "torch.tensor([5])": "5",
        "torch.tensor(x.shape, dtype=torch.long)": "sum(x.shape)",
        "torch.full((x.shape[0],), 3)": "x.shape[0] * 3",
    }.items():
        before = program(repeats, "torch.repeat_interleave({})")
        after = fixed(before, tmp_path)
        assert f"output_size={total}" in after
        alike(before, after)


@pytest.mark.parametrize(
    "body",
    [
        "return x.repeat_interleave(r, 0)",
        "return x.repeat_interleave(torch.tensor([2]), 0)",
        "return x.repeat_interleave(torch.tensor(2), 0)",
        "return x.repeat_interleave(torch.tensor(x.shape, dtype=torch.long), 0)",
        "return x.repeat_interleave(torch.tensor([-1, 2, -5]), 0)",
        "return x.repeat_interleave(torch.tensor([1, x.shape[0] - 9]), 0)",
        "n = x.shape[0]\n    n -= 9\n    return x.repeat_interleave(torch.tensor([1, n]), 0)",
        "if x.dim():\n        r = len(x)\n    return torch.repeat_interleave(torch.tensor([1, r]))",
        "return x.repeat_interleave(torch.full([3], -2), 0)",
        "return x.repeat_interleave(torch.tensor([1, 2.0]), 0)",
        "return x.repeat_interleave(torch.tensor([True, False]), 0)",
        "return x.repeat_interleave(torch.tensor([1, r[0]]), 0)",
        "return x.repeat_interleave(torch.full((1,), 2), 0)",
        "return x.repeat_interleave(torch.full((x.shape[1],), 2), 0)",
        "return x.repeat_interleave(torch.full((x.shape[0],), 2), 1)",
        "return x.repeat_interleave(torch.full((x.shape[0],), 2))",
        "return x.repeat_interleave(torch.full((x.shape[0], 1), 2), 0)",
        "return x.repeat_interleave(torch.full((3,), 2.0), 0)",
        "return x.repeat_interleave(torch.ones(3) * 2, 0)",
        "return x.repeat_interleave(torch.ones(3, dtype=torch.long) * r, 0)",
        "k = torch.tensor([1, 2])\n    k += 1\n    return x.repeat_interleave(k, 0)",
        "k = torch.tensor([1, 2])\n    k[0] = 5\n    return x.repeat_interleave(k, 0)",
        "k = torch.tensor([1, 2])\n    j = k\n    j.add_(1)\n    return x.repeat_interleave(k, 0)",
        "k = torch.tensor([1, 2])\n    torch.add(r, 1, out=k)\n    return x.repeat_interleave(k)",
        "k = torch.tensor([1, 2])\n    k = r\n    return x.repeat_interleave(k, 0)",
        "k = torch.full((3,), 2)\n    k.mul_(2)\n    return x.repeat_interleave(k, 0)",
        "n = 3\n    k = torch.full((n,), 2)\n    n = 4\n    return torch.repeat_interleave(k)",
        "k = torch.tensor([1, x.shape[0]])\n    x = x[1:]\n    return x.repeat_interleave(k, 0)",
        "len = lambda v: 2\n    return x.repeat_interleave(torch.full((len(x),), 2), 0)",
        "return x.repeat_interleave(*(r, 0))",
        "return x.repeat_interleave(**{'repeats': r})",
    ],
)
def test_what_may_be_another_total_is_left(body: str, tmp_path: Path) -> None:
    before = f"{HEAD}    {body}\n"
    assert "output_size" not in fixed(before, tmp_path, unsafe=True)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS[:1] + CALLS[3:4])
@pytest.mark.parametrize("repeats", [*REPEATS][:1] + [*REPEATS][6:10:3] + [*OF_SIZES][2:5])
def test_the_fixed_program_is_one_graph(repeats: str, call: str, tmp_path: Path) -> None:
    torch._dynamo.reset()
    after = fixed(program(repeats, call), tmp_path)
    compiled = torch.compile(function(after), backend="eager", fullgraph=True)
    inputs = torch.randn(3, 4), torch.tensor([1, 2, 3])
    assert torch.equal(compiled(*inputs), function(after)(*inputs))
    assert torch._dynamo.explain(function(after))(*inputs).graph_break_count == 0
