"""A helper of tensors becomes an operator: one graph, and eager's results and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from .test_helpers_as_operators import found, operated

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import random
from typing import Optional

import torch
from torch import nn
from other import unknown

KEPT = []
WEIGHT = torch.ones(3, requires_grad=True)


def twice(x):
    y = x.clone()
    y += x
    return y


"""
SPREAD = """\
def spread(x: torch.Tensor, w: torch.Tensor, scale: float = 2.0):
    inside = x > 0
    out = torch.zeros_like(x)
    if inside.any():
        out[inside] = x[inside].sin() * w[inside] * scale
    return out


"""
CALL = """\
@torch.compile
def f(x: torch.Tensor, w: torch.Tensor):
    return spread(x * 2, w.t()) + x
"""
NARROW = """\
def spread(scale: float, x: torch.Tensor, w: torch.Tensor, *, shift: int):
    '''Of two results.'''
    rows, _ = x.shape
    low, high = x.new_zeros((rows, shift + 1)), 0
    kept = torch.empty_like(w)
    low = torch.full((rows, 2 * shift), 0.5, dtype=x.dtype)
    kept.copy_(w)
    view = low[1:]
    view.mul_(x.mean())
    for row, column in (x > 0).nonzero().tolist():
        kept[row, column] *= x[row, column] * scale
    return low, kept


"""
SEVERAL = NARROW.replace("low, high = x.new_zeros((rows, shift + 1)), 0", "high = rows // 2")
ANEW = """\
def spread(x, w, scale=2.0):
    out = torch.zeros_like(w)
    x = nn.functional.pad(x, (1, 1))
    x[:, 0] = scale
    w = twice(w)
    w *= 3
    if w.shape[0] > 9:
        raise ValueError(f"too many: {len(w)}")
    inside = w > 0
    out[inside] = w[inside] * x[:, 1:-1][inside].sum()
    return out


"""
COUNTS = """\
def spread(x: torch.Tensor, w: torch.Tensor):
    rows, columns = x.size(0), x.size(1)
    counts = torch.zeros(rows, columns, dtype=torch.long, device=x.device)
    for row in range(rows):
        part = w[row]
        counts[row, : int((part > 0).sum().item())] = 1
    return counts


"""
CHOSEN = SPREAD.replace("inside = x > 0", "inside = ~w").replace("w[inside] *", "1 *")
GIVEN = "spread(x * 2, w.t()) + x"
WORKS = {
    "a mask": (SPREAD, GIVEN),
    "one argument for two": (SPREAD, "spread(x, x) + w.t()"),
    "a number by name": (SPREAD, "spread(x, scale=0.5, w=w.t()).sum() + x"),
    "no gradient of one": (SPREAD, "spread(x.detach(), w.t()) + x"),
    "no gradients": (SPREAD, "spread(x, w.detach().t()).detach() + x * w.t()"),
    "expanded": (SPREAD, "spread(x, w[:, :1].t().expand(4, 3)[:1].expand(4, 3)) + x"),
    "two results": (SEVERAL, "sum(map(torch.sum, spread(0.5, x, w.t(), shift=2))) + x"),
    "arguments that are bound anew": (ANEW, GIVEN),
    "a mask that is given": (CHOSEN, "spread(x, w.t() > 0) + w.t()"),
    "integers": (COUNTS, "spread(x, w.t()) * x * w.t()"),
}  # fmt: skip
LEFT = {
    "a decorator": ("def spread", "@torch.no_grad()\ndef spread"),
    "a scripted function": ("def spread", "@torch.jit.script\ndef spread"),
    "an argument that is returned": ("return out", "return x"),
    "an argument under another name": ("torch.zeros_like(x)", "x.view(-1)"),
    "what it keeps": ("    return", "    KEPT.append(out)\n    return"),
    "what it keeps by index": ("    return", "    KEPT[0] = out\n    return"),
    "what it prints": ("    return", "    print(out)\n    return"),
    "numbers of torch": ("* scale", "* torch.rand_like(scale * x[inside])"),
    "numbers by method": ("* scale", "* x[inside].sigmoid().bernoulli()"),
    "numbers of Python": ("* scale", "* random.random()"),
    "dropout": ("* scale", "* nn.functional.dropout(x)[inside]"),
    "an argument that it writes": ("    return", "    x[inside] = 0\n    return"),
    "an argument that it adds to": ("    return", "    w += 1\n    return"),
    "a view of one that it writes": ("    return", "    v = w.view(-1)\n    v[0] = 0\n    return"),
    "one that is bound anew at times": (
        "    inside",
        "    if scale > 1:\n        w = w.clone()\n    w.add_(1)\n    inside",
    ),
    "no tensor at times": ("w: torch.Tensor", "w: Optional[torch.Tensor]"),
    "nothing known of an argument": ("scale: float = 2.0", "scale=None"),
    "arguments of any number": ("scale: float = 2.0", "*scale: float"),
    "a result that is bound anew": ("    return", "    out = out * 2\n    return"),
    "a size that is data": ("zeros_like(x)", "zeros(int(x.max()))"),
    "a size that is changed": (
        "    out = torch.zeros_like(x)",
        "    n = len(x)\n    n += 1\n    out = torch.zeros((n, 3))",
    ),
    "a size that is drawn": ("zeros_like(x)", "zeros(unknown(x))"),
    "a result twice": ("return out", "return out, out"),
    "a part": ("return out", "return out[0]"),
    "another result": ("    return", "    if inside.all():\n        return x\n    return"),
    "a result that is resized": ("    return", "    out.resize_(3)\n    return"),
    "a result that is turned": ("    return", "    out.t_()\n    return"),
    "a result that wants a gradient": (
        "zeros_like(x)",
        "zeros(len(x), dtype=x.dtype, requires_grad=True)",
    ),
    "results of both kinds": (
        "    return out",
        "    n = torch.zeros(3, dtype=torch.long)\n    return out, n",
    ),
    "an attribute": ("    return", "    x.flag = 1\n    return"),
    "somebody's function": ("* scale", "* unknown(scale)"),
    "a function in it": ("    return", "    g = lambda: out\n    return"),
    "a block without gradients": (
        "        out[",
        "        with torch.no_grad():\n            out[",
    ),
    "a tensor of the file": ("* scale", "* WEIGHT.sum()"),
    "a name that is taken": ("def spread", "spread_op = 1\n\n\ndef spread"),
    "an argument named as its gradients": ("scale: float", "grads: float"),
    "one that calls itself": ("    return", "    if scale > 9:\n        spread(x, w)\n    return"),
    "a second definition": ("def spread", "def spread(x):\n    pass\n\n\ndef spread"),
}


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", "").replace("from other import unknown\n", ""), names)
    return names["f"]


def outcome(run: Any, dtype: torch.dtype = torch.float32) -> list[torch.Tensor | None]:
    torch.manual_seed(0)
    x = torch.randn(4, 3, dtype=dtype, requires_grad=True)
    w = torch.randn(3, 4, dtype=dtype, requires_grad=True)
    with torch.no_grad():
        quiet = run(x, w)
    result = run(x, w)
    result.sum().backward()
    return [quiet, result.detach(), x.grad, w.grad]


def is_same(one: list[torch.Tensor | None], other: list[torch.Tensor | None]) -> bool:
    """Equal to the last bit; what nothing depends on may have gradients of zeros."""
    return all(
        not b.any() if a is None and b is not None else a is b is None or torch.equal(a, b)  # type: ignore[arg-type]
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("helper", "call"), WORKS.values(), ids=WORKS)
def test_results_and_gradients_stay_equal_in_one_graph(
    helper: str, call: str, tmp_path: Path
) -> None:
    before = HEAD + helper + CALL.replace(GIVEN, call)
    after = operated(before, tmp_path)
    assert "custom_op" in after
    assert ("register_autograd" in after) is (helper != COUNTS)
    assert not found(after, tmp_path).results
    plain, eager = function(before), function(after)
    for dtype in (torch.float32, torch.float64):
        torch._dynamo.reset()
        counter = CompileCounterWithBackend("aot_eager")
        whole = torch.compile(eager, backend=counter, fullgraph=True)
        known = outcome(plain, dtype)
        assert is_same(known, outcome(eager, dtype))
        assert is_same(known, outcome(whole, dtype))
        assert counter.frame_count


@pytest.mark.slow
def test_an_operator_runs_between_inductor_s_kernels(tmp_path: Path) -> None:
    eager = function(
        operated(HEAD + SEVERAL + CALL.replace(GIVEN, WORKS["two results"][1]), tmp_path)
    )
    torch._dynamo.reset()
    for one, other in zip(outcome(eager), outcome(torch.compile(eager)), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.slow
def test_what_a_helper_raises_compiled_code_raises(tmp_path: Path) -> None:
    helper, call = WORKS["arguments that are bound anew"]
    eager = function(operated(HEAD + helper + CALL.replace(GIVEN, call), tmp_path))
    torch._dynamo.reset()
    whole = torch.compile(eager, backend="aot_eager", fullgraph=True)
    for run in (eager, whole):
        with pytest.raises(ValueError, match="too many: 12"):
            run(torch.ones(12, 3), torch.ones(3, 12))


@pytest.mark.parametrize(("old", "new"), LEFT.values(), ids=LEFT)
def test_other_helpers_stay_functions(old: str, new: str, tmp_path: Path) -> None:
    before = HEAD + SPREAD.replace(old, new) + CALL
    assert before != HEAD + SPREAD + CALL
    assert "custom_op" not in operated(before, tmp_path)


def test_an_operator_needs_a_torch_that_has_them(tmp_path: Path) -> None:
    before = HEAD + SPREAD + CALL
    assert "custom_op" not in operated(before, tmp_path, min_torch=(2, 6))
    assert "custom_op" in operated(before, tmp_path, min_torch=(2, 7))


def test_what_is_compiled_itself_stays_a_function(tmp_path: Path) -> None:
    before = HEAD + SPREAD.replace("def spread", "@torch.compile\ndef spread")
    assert "custom_op" not in operated(before, tmp_path)
