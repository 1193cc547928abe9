"""A function that is called for the elements that a mask selects is called for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nfrom torch.nn import functional as F\n\n\n"
SPLINE = """\
def at(places, x):
    places[..., -1] += 1e-6
    return torch.sum(x[..., None] >= places, dim=-1) - 1


def spline(x, widths, slopes, bound, least=1e-3):
    if torch.min(x) < -bound or torch.max(x) > bound:
        raise ValueError("outside")
    count = widths.shape[-1]
    if least * count > 1.0:
        raise ValueError(f"too many: {count}")
    widths = least + (1 - least * count) * F.softmax(widths, dim=-1)
    places = F.pad(torch.cumsum(widths, dim=-1), pad=(1, 0), mode="constant", value=0.0)
    places = 2 * bound * places - bound
    places[..., 0] = -bound
    places[..., -1] = bound
    widths = places[..., 1:] - places[..., :-1]
    slopes = F.softplus(slopes)
    here = at(places, x)[..., None]
    begin = places.gather(-1, here)[..., 0]
    slope = slopes.gather(-1, here)[..., 0]
    share = (x - begin) / widths.gather(-1, here)[..., 0]
    assert (share >= -1e-3).all()
    return begin + slope * share.pow(2), torch.log(slope) - 2 * torch.log1p(share.abs())


"""
USED = """\
@torch.compile
def f(x: torch.Tensor, widths: torch.Tensor, slopes: torch.Tensor):
    inside = (x >= -1.0) & (x <= 1.0)
    y = torch.zeros_like(x)
    z = torch.zeros_like(x)
    y[~inside] = x[~inside]
    y[inside], z[inside] = spline(
        x[inside], widths=widths[inside, :], slopes=slopes[inside, :], bound=1.0
    )
    return y + z
"""
CODE = HEAD + SPLINE + USED
SIMPLE = """\
def g(x, w):
    return (w * x[..., None]).sum(dim=-1)


@torch.compile
def f(x: torch.Tensor, widths: torch.Tensor, slopes: torch.Tensor):
    m = x > 0
    y = torch.ones_like(x)
    y[m] = g(x[m], widths[m, :])
    return y * 2
"""
STEPS = {
    "as it is": "(w * x[..., None]).sum(dim=-1)",
    "a mean": "w.mean(-1) + x",
    "the largest": "w.amax(dim=-1) - x",
    "weights": "(F.softmax(w, dim=-1) * x[..., None]).sum(-1)",
    "kept dimensions": "(w - w.mean(-1, keepdim=True))[..., 0] * x",
    "a choice": "torch.where(x > 0.5, x, w[..., 1])",
    "running": "torch.cumsum(w, dim=-1)[..., -1].exp() * x",
}
X = torch.tensor([[0.3, -2.0, 1.5], [-0.2, 0.9, 0.99]])


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(run: Any, x: torch.Tensor) -> list[torch.Tensor]:
    torch.manual_seed(0)
    size = (*x.shape, 4)
    given = [x.clone(), torch.randn(size), torch.randn(size)]
    given = [one.requires_grad_() for one in given]
    result = run(*given)
    result.sum().backward()
    slopes = [one.grad if one.grad is not None else torch.zeros_like(one) for one in given]
    return [result.detach(), *slopes]


def assert_same(code: str, after: str, x: torch.Tensor) -> None:
    torch._dynamo.reset()
    whole = torch.compile(function(after), backend="aot_eager", fullgraph=True)
    known = outcome(function(code), x)
    for run in (function(after), whole):
        for one, other in zip(known, outcome(run, x), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.slow
def test_a_spline_and_its_gradients_are_the_same_in_one_graph(tmp_path: Path) -> None:
    after = fixed(CODE, tmp_path, unsafe=True)
    assert "argmax(0, keepdim=True)" in after
    for x in (
        X,
        torch.rand(2, 3, 5) * 4 - 2,
        torch.tensor([[1.0, -1.0]]),
        torch.tensor([9.0, 0.1]),
    ):
        assert_same(CODE, after, x)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_steps_within_a_row_are_the_same_for_all_rows(name: str, tmp_path: Path) -> None:
    code = HEAD + SIMPLE.replace(STEPS["as it is"], STEPS[name])
    after = fixed(code, tmp_path, unsafe=True)
    assert "y_of_all" in after
    assert_same(code, after, X)


def test_values_that_are_left_out_raise_nothing(tmp_path: Path) -> None:
    code = HEAD + SIMPLE.replace("    return (w", "    assert x.min() > 0\n    return (w")
    after = fixed(code, tmp_path, unsafe=True)
    assert "y_of_all" in after
    for one, other in zip(outcome(function(code), X), outcome(function(after), X), strict=True):
        torch.testing.assert_close(one, other)


def test_values_that_are_selected_raise_as_before(tmp_path: Path) -> None:
    code = HEAD + SIMPLE.replace("    return (w", "    assert x.max() < 1\n    return (w")
    after = fixed(code, tmp_path, unsafe=True)
    assert "y_of_all" in after
    for run in (function(code), function(after)):
        with pytest.raises((AssertionError, RuntimeError)):
            outcome(run, X)


def test_a_safe_fix_leaves_the_call_alone(tmp_path: Path) -> None:
    assert "of_all" not in fixed(CODE, tmp_path)


ROWS_MEET = {
    "a mean of all": "w.mean(-1) + x.mean()",
    "a sum of rows": "(w - w.sum(0)).sum(-1)",
    "over the elements": "F.softmax(x, dim=-1)",
    "cumulated": "x.cumsum(-1)",
    "sorted": "x.sort().values",
    "a size": "x * x.shape[0]",
    "the number of elements": "x * x.numel()",
    "a size of the last": "x * x.shape[-1]",
    "spread over the rows": "(w.t() @ w).sum() * x",
    "two of other dimensions": "(x + w).sum(-1)",
    "a row": "x - x[0]",
    "a slice of rows": "w[:, 0] * x",
    "shifted": "x.roll(1)",
    "turned": "x.flip(0)",
    "drawn": "x * torch.rand_like(x)",
    "dropped out": "F.dropout(x)",
    "normalized": "F.batch_norm(w, None, None, training=True)[..., 0]",
    "all of them at once": "F.softmax(w).sum(-1) + x",
    "a branch": "x if x.sum() > 0 else -x",
    "padded rows": "F.pad(w, (0, 0, 1, 0))[..., 0]",
    "by somebody": "other(x)",
    "stored": "KEPT.append(x) or x",
    "named": "(y := x)",
    "reshaped": "x.reshape(-1)",
    "wrong along": "w.gather(0, w.long())[..., 0]",
}


@pytest.mark.parametrize("name", ROWS_MEET)
def test_rows_that_meet_leave_the_call_alone(name: str, tmp_path: Path) -> None:
    code = HEAD + SIMPLE.replace(STEPS["as it is"], ROWS_MEET[name])
    assert "of_all" not in fixed(code, tmp_path, unsafe=True)


LEFT = {
    "elements selected before": (
        "    y[m] = g(x[m], widths[m, :])",
        "    sel = widths[m, :]\n    y[m] = g(x[m], sel)",
    ),
    "another tensor": ("g(x[m], widths[m, :])", "g(x[m], slopes)"),
    "two masks": ("y[m] = g(x[m],", "n = x > 1\n    y[m] = g(x[n],"),
    "another mask for the target": ("y[m] =", "n = x > 1\n    y[n] ="),
    "a result with a dimension": ("    return (w * x[..., None]).sum(dim=-1)", "    return w * 2"),
    "two results": ("sum(dim=-1)\n", "sum(dim=-1), x\n"),
    "a loop": ("    return (w", "    for _ in range(2):\n        x = x * 2\n    return (w"),
    "a decorator": ("def g(", "@torch.jit.script\ndef g("),
    "a global": ("    return (w", "    global KEPT\n    KEPT = x\n    return (w"),
    "a print": ("    return (w", "    print(x.shape)\n    return (w"),
    "a kept attribute": ("    return (w", "    g.last = x\n    return (w"),
    "a branch on a row": (
        "    return (w",
        "    if x.max() > 0:\n        x = x * 2\n    return (w",
    ),
    "a try": (
        "    return (w",
        "    try:\n        x = x * 2\n    finally:\n        pass\n    return (w",
    ),
    "indices": ("m = x > 0", "m = (x > 0).long()"),
    "unpacked arguments": ("g(x[m], widths[m, :])", "g(*(x[m], widths[m, :]))"),
    "a method": ("y[m] = g(x[m], widths[m, :])", "y[m] = x[m].add(widths[m, :].sum())"),
    "results that nobody knows": (
        "def g(x, w):\n",
        "def g(x, w):\n    return other(x)\n\n\ndef h(x, w):\n",
    ),
    "an early return of a row": (
        "    return (w",
        "    if x.sum() > 3:\n        return x\n    return (w",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_other_calls_stay(name: str, tmp_path: Path) -> None:
    old, new = LEFT[name]
    code = HEAD + SIMPLE.replace(old, new)
    assert code != HEAD + SIMPLE
    assert "of_all" not in fixed(code, tmp_path, unsafe=True)
