"""Python numbers in the place of tensors that are made of them: the same results, and one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tclint.config import Settings

from .proof.fixing import fixed

HEAD = "import torch\n\n\n"
COMPILED = "@torch.compile\ndef f(x: torch.Tensor, r: torch.Tensor):\n"
HELPER = "def g(x: torch.Tensor, n):\n    return x[:n] * 2\n\n\n"
PICKING = (
    "def g(x: torch.Tensor, n):\n    first = n[0]\n    return x[:, :first], x[:, first:]\n\n\n"
)
KEPT = {
    "an element": ["t = torch.tensor([x.shape[0], 2])", "return x[: t[1], : t[0]] * 2"],
    "a slice": ["t = torch.tensor([2, 1])", "return x[: t[0], t[1] :] * 2"],
    "one number": ["n = torch.tensor(2)", "return x[:n] * 2"],
    "a tuple, and a dtype": ["t = torch.tensor((1, 2), dtype=torch.long)", "return x[t[0] : t[1]]"],
    "another device": ["t = torch.tensor([2], device=x.device)", "return x[: t[0]]"],
    "a variable in between": ["t = torch.LongTensor([2])", "n = t[0]", "u = n", "return x[:u]"],
    "a loop": [
        "for k in range(3):",
        "    t = torch.tensor([k])",
        "    x = x[t[0] :] + 1",
        "return x",
    ],
    "a store": ["t = torch.tensor([2])", "y = x.clone()", "y[: t[0]] = 0", "return y"],
    "sizes": ["t = torch.tensor([2, 3])", "return x.sum() + torch.zeros(t[0], t[1])"],
    "a size in a tuple": ["t = torch.tensor([2, 3])", "return x.sum() + torch.zeros((t[0], 5))"],
    "a view": ["t = torch.tensor([x.shape[1], -1])", "return x.reshape(t[0], -1)"],
    "a range": ["t = torch.tensor([2])", "for i in range(t[0]):", "    x = x + i", "return x"],
    "a conversion": ["t = torch.tensor([2])", "return x * int(t[0])"],
    "no variable": ["return x[: torch.tensor([2, 3])[0]] * 2"],
}
THROUGH_HELPERS = {
    "the number": (HELPER, ["t = torch.IntTensor([2])", "return g(x, t[0])"]),
    "by its name": (HELPER, ["return g(n=torch.tensor(2), x=x)"]),
    "several calls": (HELPER, ["return g(x, torch.tensor(2)) + g(x, torch.tensor([1, 2])[1])"]),
    "the list": (PICKING, ["t = torch.IntTensor([x.shape[0]])", "return g(x, t)"]),
    "in a loop": (
        PICKING,
        [
            "t = torch.IntTensor([2])",
            "for _ in range(2):",
            "    a, b = g(x, t)",
            "    x = torch.cat([b, a], 1)",
            "return x",
        ],
    ),
}
LEFT = {
    "a tensor of others": ["return x[: r[0]]"],
    "arithmetic with tensors": ["t = torch.tensor([2])", "return x[: t[0]] * t"],
    "its members": ["t = torch.tensor([2])", "return x[: t[0]] * t[0]"],
    "a store into it": ["t = torch.tensor([2])", "t[0] = 3", "return x[: t[0]]"],
    "a change": ["t = torch.tensor([2])", "t.add_(1)", "return x[: t[0]]"],
    "a change by another name": ["t = torch.tensor([2])", "u = t", "u.add_(1)", "return x[: t[0]]"],
    "a member that changes": ["t = torch.tensor([2])", "n = t[0]", "n += 1", "return x[: t[0]]"],
    "a function that changes it": [
        "t = torch.tensor([2])",
        "torch.add(r[:1], 1, out=t)",
        "return x[: t[0]]",
    ],
    "a returned tensor": ["t = torch.tensor([2])", "return x[: t[0]], t"],
    "a list of it": ["t = torch.tensor([2])", "kept = [t]", "kept[0].add_(1)", "return x[: t[0]]"],
    "a member from the end": ["t = torch.tensor([2, 3])", "return x[: t[-1]]"],
    "a member out of range": ["t = torch.tensor([2])", "return x[: t[1]]"],
    "a part": ["t = torch.tensor([2, 3])", "return x[: t[:1]]"],
    "a row, which is no view": [
        "t = torch.tensor([1])",
        "y = x.clone()",
        "y[t[0]].add_(1)",
        "return y",
    ],
    "two bindings": ["t = torch.tensor([2])", "if x.dim() > 1:", "    t = r", "return x[: t[0]]"],
    "one path": [
        "if x.dim() > 1:",
        "    t = torch.tensor([2])",
        "else:",
        "    t = r",
        "return x[: t[0]]",
    ],
    "floats": ["t = torch.tensor([2.0])", "return x * int(t[0])"],
    "a dtype of floats": ["t = torch.tensor([2], dtype=torch.float32)", "return x * int(t[0])"],
    "a narrow dtype": ["t = torch.tensor([300], dtype=torch.uint8)", "return x[: t[0]]"],
    "other arguments": ["t = torch.tensor([2], requires_grad=False)", "return x[: t[0]]"],
    "a list with a name": ["a = [2]", "t = torch.tensor(a)", "a[0] = 3", "return x[: t[0]]"],
    "stars": ["t = torch.tensor([*x.shape])", "return x[: t[0]]"],
    "a comparison": ["t = torch.tensor([2])", "return x[: t[0]] if t[0] > 1 else x"],
    "a method": ["t = torch.tensor([2])", "return x[: t[0]] + t[0].float()"],
    "a sum": ["t = torch.tensor([2])", "return x[: t[0] + 1]"],
    "a nested function": [
        "t = torch.tensor([2])",
        "",
        "def h():",
        "    return t",
        "",
        "h().add_(1)",
        "return x[: t[0]]",
    ],
}
SCRIPTED = {
    "the number": ("int", HELPER, "        return g(x, t[0])\n"),
    "the list": ("list[int]", PICKING, "        return torch.cat(g(x, t), 1)\n"),
}
NET = """\
class f(torch.nn.Module):
    def __init__(self, size: int = 2):
        super().__init__()
        self.size = size

    def forward(self, x: torch.Tensor):
        t = torch.IntTensor([self.size])
"""
LEFT_BY_HELPERS = {
    "another caller": (HELPER, ["return g(x, torch.tensor(2)) + g(x, r[0])"]),
    "a parameter that is bound again": (
        "def g(x, n):\n    n = n + 1\n    return x[:n]\n\n\n",
        ["return g(x, torch.tensor(2))"],
    ),
    "a parameter that is changed": (
        "def g(x, n):\n    n.add_(1)\n    return x[:n]\n\n\n",
        ["return g(x, torch.tensor(2))"],
    ),
    "a parameter with a type": (
        "def g(x, n: torch.Tensor):\n    return x[:n]\n\n\n",
        ["return g(x, torch.tensor(2))"],
    ),
    "another function, too": (
        HELPER + "def h(x, n):\n    return x * n\n\n\n",
        ["t = torch.tensor([2])", "return g(x, t[0]) + h(x[:2], t[0])"],
    ),
    "stars": (HELPER, ["t = torch.tensor(2)", "return g(*(x, t))"]),
}


def program(body: list[str], helper: str = "") -> str:
    return HEAD + helper + COMPILED + "".join(f"    {line}\n" if line else "\n" for line in body)


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(text: str) -> object:
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    try:
        result = function(text)(x, torch.tensor([1, 2, 3]))
        given = result if isinstance(result, tuple) else (result,)
        sum(one.float().square().sum() for one in given).backward()
    except (RuntimeError, IndexError, TypeError) as error:
        return type(error)
    return [(one.dtype, one.tolist()) for one in given], x.grad is None or x.grad.tolist()


def is_one_graph(text: str) -> bool:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(function(text), backend="eager")
    compiled(torch.arange(12.0).reshape(4, 3), torch.tensor([1, 2, 3]))
    return not torch._dynamo.utils.counters["graph_break"]


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_numbers_take_the_place_of_a_tensor_that_is_only_read(
    body: list[str], tmp_path: Path
) -> None:
    before = program(body)
    after = fixed(before, tmp_path)
    assert after != before
    assert outcome(after) == outcome(before)
    assert is_one_graph(after)


@pytest.mark.parametrize(("helper", "body"), THROUGH_HELPERS.values(), ids=THROUGH_HELPERS)
def test_a_helper_gets_the_numbers_of_all_its_callers(
    helper: str, body: list[str], tmp_path: Path
) -> None:
    before = program(body, helper)
    after = fixed(before, tmp_path)
    assert after != before
    assert helper in after
    assert outcome(after) == outcome(before)
    assert is_one_graph(after)


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_a_tensor_that_is_more_than_its_numbers_is_kept(body: list[str], tmp_path: Path) -> None:
    before = program(body)
    after = fixed(before, tmp_path)
    made = [line for line in body if "ensor(" in line]
    assert all(line in after for line in made)
    assert outcome(after) == outcome(before)


@pytest.mark.parametrize(("helper", "body"), LEFT_BY_HELPERS.values(), ids=LEFT_BY_HELPERS)
def test_a_helper_that_may_get_another_tensor_keeps_it(
    helper: str, body: list[str], tmp_path: Path
) -> None:
    before = program(body, helper)
    after = fixed(before, tmp_path, unsafe=True)
    assert "torch.tensor(" in after.split("def f")[1]
    assert outcome(after) == outcome(before)


@pytest.mark.parametrize(("kind", "helper", "body"), SCRIPTED.values(), ids=SCRIPTED)
def test_a_scripted_helper_declares_what_it_takes(
    kind: str, helper: str, body: str, tmp_path: Path
) -> None:
    """TorchScript finds the source of a function in its file, so that this one is imported."""
    before = HEAD + "@torch.jit.script\n" + helper.replace("x: torch.Tensor", "x") + NET + body
    assert "torch.IntTensor" in fixed(before, tmp_path)
    after = fixed(before, tmp_path, unsafe=True)
    assert f"n: {kind})" in after
    x = torch.arange(12.0).reshape(4, 3)
    results = []
    for name, text in (("before", before), ("after", after)):
        path = tmp_path / f"scripted_{name}.py"
        path.write_text(text)
        names: dict[str, Any] = {"__name__": path.stem}
        exec(compile(text, str(path), "exec"), names)
        results.append(names["f"]()(x))
    assert torch.equal(*results)
    torch._dynamo.reset()
    compiled = torch.compile(names["f"](), backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), results[0])


def test_the_list_of_a_scripted_helper_is_spelled_for_old_pythons(tmp_path: Path) -> None:
    _, helper, body = SCRIPTED["the list"]
    before = HEAD + "@torch.jit.script\n" + helper + NET + body
    after = fixed(before, tmp_path, unsafe=True, settings=Settings(min_torch=(2, 1)))
    assert "from typing import List" in after
    assert "n: List[int])" in after


def test_a_setting_that_may_be_no_integer_is_named(tmp_path: Path) -> None:
    before = HEAD + NET.replace(": int = 2", "") + "        return x[: t[0]]\n"
    assert fixed(before, tmp_path) == before
    assert "t = [self.size]" in fixed(before, tmp_path, unsafe=True)


@pytest.mark.parametrize(
    "device", ["y.device", "'cuda'", "torch.device('cuda')", "self.device", "y"]
)
def test_a_device_that_may_not_be_there_is_still_asked_for(device: str, tmp_path: Path) -> None:
    head = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, y, self):\n"
    before = f"{head}    for k in range(torch.tensor(3, device={device})):\n        x = x + k\n"
    before += "    return x\n"
    assert f"3, device={device})" in fixed(before, tmp_path)
    assert "range(3)" in fixed(before, tmp_path, unsafe=True)
