"""Masks that cover the first dimensions of what they select from: `torch.where` spreads them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

from .proof.fixing import fixed

HEAD = (
    "import torch\n\n\n@torch.compile\n"
    "def f(x: torch.Tensor, w: torch.Tensor, labels: torch.Tensor):\n"
)
ROWS = (
    "y[..., 0] > 0",
    "y.sum(-1) > 0",
    "(y.amax(dim=-1) > 0) & (y[..., -1] < 5)",
    "y.isnan().any(-1)",
    "~(y > 0).all(-1)",
)
STORES = ("y[m] += {}", "y[m] -= {}", "y[m] = y[m] + {}")
ADDED = ("w.sum()", "(w > 0).sum()", "w.max()")
SHAPES = ((1, 1), (2, 3), (3, 2), (0, 3), (3, 0), (4, 4))
MADE = {
    2: "    y = x.float().reshape(x.shape[0], -1) * 2\n",
    3: "    y = x.float().reshape(1, x.shape[0], -1) * 2\n",
}


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(text: str, *inputs: torch.Tensor) -> tuple[object, ...]:
    given = [
        one.clone().requires_grad_() if one.is_floating_point() else one.clone() for one in inputs
    ]
    try:
        result = function(text)(*given)
        if result.requires_grad:
            result.square().sum().backward()
    except (RuntimeError, IndexError) as error:
        return type(error), str(error)
    return result, *(one.grad for one in given)


def alike(before: tuple[object, ...], after: tuple[object, ...], *, exact: bool) -> None:
    assert len(before) == len(after), (before, after)
    for one, other in zip(before, after, strict=True):
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            tolerance = 0.0 if exact else 1e-5
            torch.testing.assert_close(
                one, other, rtol=tolerance, atol=tolerance, equal_nan=True, check_stride=True
            )
        else:
            assert one == other


def inputs(shape: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    x = torch.randn(shape)
    if x.numel():
        x.view(-1)[0] = torch.nan
    return x, torch.randn(5), torch.randint(2, shape[:1])


@pytest.mark.parametrize("mask", ROWS)
def test_what_is_added_by_a_mask_of_its_own_rows_stays(mask: str, tmp_path: Path) -> None:
    for (rank, made), store, added in itertools.product(MADE.items(), STORES, ADDED):
        before = f"{HEAD}{made}    m = {mask}\n    {store.format(added)}\n    return y\n"
        after = fixed(before, tmp_path, unsafe=True)
        assert "torch.where(m[..., None], y" in after
        exact = fixed(before, tmp_path) != before
        assert exact is added.startswith("(")
        for shape in SHAPES:
            results = [outcome(text, *inputs(shape)) for text in (before, after)]
            alike(*results, exact=exact)
        assert rank


@pytest.mark.parametrize("mask", ROWS)
@pytest.mark.parametrize("store", ["y[m] *= 3", "y[m] = y[m] * 2 + 1", "y[m] = z[m]"])
def test_what_is_computed_for_its_own_rows_stays(mask: str, store: str, tmp_path: Path) -> None:
    made = "    y = x.float().reshape(x.shape[0], -1) * 2\n    z = y.clone()\n"
    before = f"{HEAD}{made}    m = {mask}\n    {store}\n    return y\n"
    after = fixed(before, tmp_path)
    assert "torch.where(m[..., None], " in after
    for shape in SHAPES:
        alike(*[outcome(text, *inputs(shape)) for text in (before, after)], exact=True)


@pytest.mark.parametrize(
    ("made", "target", "where"),
    [
        ("x.float().reshape(-1, 3) * 2", "labels.reshape(-1)", "(m == 0)[..., None]"),
        ("x.float().reshape(2, -1, 1) * 2", "labels.reshape(-1)", "(m == 0)[..., None, None]"),
        ("x.float().reshape(2, 1, -1) * 2", "labels.reshape(-1, 1)", "(m == 0)[..., None]"),
        ("x.float().reshape(-1) * 2", "labels.reshape(-1)", "m == 0"),
    ],
)
@pytest.mark.parametrize("added", ["w.sum()", "(w > 0).sum()", "1"])
def test_labels_of_another_tensor_differ_as_the_fix_says(
    made: str, target: str, where: str, added: str, tmp_path: Path
) -> None:
    code = f"{HEAD}    y = {made}\n    m = {target}\n    y[m == 0] += {added}\n    return y\n"
    assert fixed(code, tmp_path) == code
    after = fixed(code, tmp_path, unsafe=True)
    assert f"torch.where({where}, y + {added}, y)" in after
    for length in (1, 2, 6):
        x, w, _ = inputs((2, 3))
        labels = torch.arange(length) % 2
        before, now = outcome(code, x, w, labels), outcome(after, x, w, labels)
        if before[0] is not IndexError:
            alike(before, now, exact=False)
        else:
            assert now[0] is RuntimeError or length == 1


@pytest.mark.parametrize("kind", ["w", "w[:3]", "w[:1]", "w.long()", "w.double()", "(w > 0)[:3]"])
@pytest.mark.parametrize("store", STORES)
def test_what_fits_the_rows_may_be_added(kind: str, store: str, tmp_path: Path) -> None:
    made = "    y = x.float().reshape(-1, 3) * 2\n    v = w.reshape(-1)\n    m = y[..., 0] > 0\n"
    made = made.replace("w.reshape(-1)", f"{kind}.reshape(-1)")
    code = f"{HEAD}{made}    {store.format('v')}\n    return y\n"
    assert fixed(code, tmp_path) == code
    after = fixed(code, tmp_path, unsafe=True)
    assert "torch.where(m[..., None], y" in after
    before, now = (outcome(text, *inputs((2, 3))) for text in (code, after))
    if isinstance(before[0], torch.Tensor):
        alike(before, now, exact=False)


@pytest.mark.parametrize(
    "body",
    [
        "m = labels == 0\n    y[m] += w.sum()",
        "m = y[0] > 0\n    y[m] += w.sum()",
        "m = y[:, 0, 0] > 0\n    y[m] += w.sum()",
        "m = y.sum(0) > 0\n    y[m] += w.sum()",
        "m = y.sum(-1, True) > 0\n    y[m] += w.sum()",
        "m = y.norm(-1) > 0\n    y[m] += w.sum()",
        "m = y[..., 0:1] > 0\n    y[m] += w.sum()",
        "m = y[..., labels] > 0\n    y[m] += w.sum()",
        "m = (y[..., 0] > 0) & (labels == 0)\n    y[m] += w.sum()",
        "m = y[..., 0] > 0\n    y = y[1:] * 1\n    y[m] += w.sum()",
        "y[y[..., 0] > 0] += w",
        "y[y[..., 0] > 0] += w.reshape(-1, 1)",
        "y[y[..., 0] > 0] = y[y[..., 0] > 0].softmax(0)",
        "y[y[..., 0] > 0] = y[y[..., 0] > 0].sum(-1)",
        "y[y[..., 0] > 0] += w.sum().mul_(2)",
        "for m in (y[..., 0] > 0, y[..., 1] > 0):\n        y[m] += w.sum()",
        "y.resize_(2, 2)\n    y[(y[..., 0] > 0)] += w.sum()",
    ],
)
def test_what_may_select_otherwise_is_left(body: str, tmp_path: Path) -> None:
    before = f"{HEAD}    y = x.float() * 2\n    {body}\n    return y\n"
    after = fixed(before, tmp_path, unsafe=True)
    assert "torch.where" not in after


@pytest.mark.slow
def test_the_fixed_program_is_one_graph(tmp_path: Path) -> None:
    code = f"{HEAD}    y = x.float() * 2\n    y[y[..., 0] > 0] += w.sum()\n    return y\n"
    after = function(fixed(code, tmp_path, unsafe=True))
    torch._dynamo.reset()
    given = inputs((2, 3))
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    assert torch.equal(compiled(*given), after(*given)) or given[0].isnan().any()


@pytest.mark.parametrize(
    "body",
    [
        "y[y[..., 0] > 0] *= w.sum()",
        "x[x[..., 0] > 0] += w.sum()",
        "z = y[1:]\n    z[z[..., 0] > 0] += w.sum()",
        "z = y.expand(4, -1, -1)\n    z[z[..., 0] > 0] += w.sum()",
    ],
)
def test_what_others_may_hold_is_never_a_safe_fix(body: str, tmp_path: Path) -> None:
    before = f"{HEAD}    y = x.float() * 2\n    {body}\n    return y\n"
    assert "torch.where" not in fixed(before, tmp_path, unsafe=False)
    assert "torch.where" in fixed(before, tmp_path, unsafe=True)
