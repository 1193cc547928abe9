"""What a mask selects is replaced by all elements only where each depends on itself alone.

Each program runs as it is and after its fixes, the compiled branch of a fix included: numbers,
dtypes, gradients and exceptions are those that it had, or the fix was not offered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

KEPT = []


def centred(t):
    return t - t.mean()


def scaled(t):
    return t * 3 - 1


def hidden(t):
    return scaled(t) + centred(t)


def counted(t):
    return t * len(t)


def another(t, other):
    t = other
    return t


def written(t):
    t += 1
    return t


def kept(t):
    KEPT.append(t)
    return t


class Norm(nn.Module):
    def forward(self, t):
        return (t - t.mean(0)) / 2


norm, batch_norm = Norm(), nn.BatchNorm1d(3)
table = nn.Embedding(4, 3, max_norm=1.0)


@torch.compile
def f(x: torch.Tensor, w: torch.Tensor):
"""
ELEMENTS = "    y = x.float() * 2\n    m = y > 1\n"
ANY_DTYPE = "    y = x * 2\n    m = y > 1\n"
ROWS = "    y = x.float().reshape(-1, 3) * 2\n    m = y[..., 0] > 1\n"

REFUSED = [
    "y[m] = y[m] - y[m].argmax()",
    "y[m] = y[m] - y[m].count_nonzero()",
    "y[m] = y[m] - y[m].lt(5).sum()",
    "y[m] = y[m] - y[m].long().sum()",
    "y[m] = y[m] + y[m].bool().sum()",
    "y[m] = y[m] - y[m].round().long().amin()",
    "y[m] = y[m] - torch.argmax(y[m])",
    "y[m] += y[m].count_nonzero()",
    "y[m] -= y[m].argmin()",
    "y[m] = y[m] - y[m].norm()",
    "y[m] = y[m] - y[m].median()",
    "y[m] = y[m] / y[m].std()",
    "y[m] = y[m] - y[m].mean()",
    "y[m] -= y[m].sum()",
    "y[m] = y[m].mean() - y[m] * 2",
    "y[m] = y[m].sum()",
    "z = y.abs()\n    y[m] = z[m] - y[m].mean()",
    "z = y.abs()\n    y[m] = y[m] - z[m].mean() + z[m].sum() * 0.5",
    "y[m] = y[m] - y[m].nanmean()",
    "y[m] = (y[m] - y[m].mean()) / y[m].std()",
    "y[m] = y[m].sum() - y[m].median()",
    "y[m] -= y[m].mean() + y[m].cumsum(0)",
    "y[m] = y[m] - y[m].max()",
    "y[m] -= y[m].amin()",
    "y[m] = y[m] * y[m].var()",
    "y[m] = y[m] + y[m].prod()",
    "y[m] = y[m] - y[m].logsumexp(0)",
    "y[m] = y[m] - y[m].norm(-1)",
    "y[m] = y[m].softmax(-1)",
    "y[m] = F.softmax(y[m], dim=0)",
    "y[m] = F.normalize(y[m], dim=-1)",
    "y[m] = y[m].sort().values",
    "y[m] = y[m].sort(-1)[0]",
    "y[m] = y[m].cumsum(-1)",
    "y[m] = y[m].cummax(0).values",
    "y[m] = y[m].flip(0)",
    "y[m] = y[m].roll(1)",
    "y[m] = y[m] - y[m][0]",
    "y[m] = y[m] - y[m][-1:]",
    "y[m] = y[m] / y[m].shape[0]",
    "y[m] = y[m] / y[m].numel()",
    "y[m] = y[m] / y[m].size(0)",
    "y[m] = y[m] / len(y[m])",
    "y[m] = y[m] * y[m].ndim",
    "y[m] = y[m] - sum(y[m])",
    "y[m] = y[m].clamp(max=y[m].median())",
    "y[m] = torch.where(y[m] > y[m].median(), y[m], -y[m])",
    "y[m] = y[m] * (y[m] > 3).long().max()",
    "y[m] = F.layer_norm(y[m], y[m].shape)",
    "y[m] = y[m] * (y[m] @ y[m])",
    "y[m] = y[m] * torch.outer(y[m], y[m]).sum()",
    "y[m] = F.scaled_dot_product_attention(y[m][None], y[m][None], y[m][None])[0]",
    "y[m] = y[m].topk(1).values",
    "y[m] = y[m].reshape(1, -1).sum(-1)",
    "y[m] = torch.stack([y[m], y[m]]).amax(0)",
    "y[m] = y[m] * torch.rand_like(y[m])",
    "y[m] = centred(y[m])",
    "y[m] = hidden(y[m])",
    "y[m] = counted(y[m])",
    "y[m] = another(y[m], w.reshape(-1)[: m.sum()])",
    "y[m] = table(y[m].long().clamp(0, 3)).sum(-1)",
    "y[m] = kept(y[m])",
    "y[m] = written(y[m])",
    "y[m] = w.unknown(y[m])",
    "y[m] = KEPT[0](y[m]) if KEPT else centred(y[m])",
    "y[m] = (lambda t: t - t.mean())(y[m])",
    "y[m] = norm(y[m])",
    "y[m] += w.sum().add_(1)",
    "y[m] = y[m] + w.reshape(-1)[: y[m].shape[0]]",
    "y[m] = [v * 2 for v in [y[m]]][0]",
    "y[m] = y[m].mul_(2)",
    "y[m] = torch.add(y[m], 1, out=y[m])",
    "y[m] = F.relu(y[m], inplace=True)",
]
REFUSED_ROWS = [
    "y[m] = y[m] - y[m].mean(0)",
    "y[m] = y[m] - y[m].amax(0, keepdim=True)",
    "y[m] = y[m].softmax(0)",
    "y[m] = y[m].cumsum(0)",
    "y[m] = y[m].norm(-1)",
    "y[m] = y[m] - y[m].norm(-1)",
    "y[m] = y[m] / y[m].var(-1, True)",
    "y[m] = y[m].sum(-1)",
    "y[m] = y[m].shape[-1] * w.reshape(-1)[: m.sum(), None]",
    "y[m] = y[m] * y[m].sum(-1, keepdim=bool(KEPT))",
    "y[m] = y[m][0]",
    "y[m] = y[m][:, [2, 0, 1]][0]",
    "y[m] = y[m] * y[m].shape[0]",
    "y[m] = y[m] - y[m].t().mean(-1)",
    "y[m] = batch_norm(y[m])",
    "y[m] = norm(y[m])",
    "y[m] = F.layer_norm(y[m], tuple(y[m].shape))",
    "y[m] = (y[m] @ y[m].t()) @ y[m]",
    "y[m] = F.softmax(y[m] @ y[m].t(), dim=-1) @ y[m]",
    "y[m] = y[m].reshape(-1).cumsum(-1).reshape(-1, 3)",
    "y[m] = y[m] + y[m].sum(-1)",
    "y[m] = F.normalize(y[m], dim=0)",
    "y[m] = F.normalize(y[m], -1)",
    "y[m, :] = y[m, :] - y[m, :].median()",
    "y[m] *= y[m].sort(0).values",
    "y[m] = y[m].flip(0)",
    "y[m] = y[m] + w.reshape(-1, 1)",
]
ALLOWED = [
    "y[m] = y[m] * 3 - 1",
    "y[m] -= torch.argmax(y)",
    "y[m] += w.sum()",
    "y[m] = w.sum() - y[m]",
    "z = y.abs()\n    y[m] = z[m]",
    "z = y.abs()\n    y[m] += z[m]",
    "z = y.abs()\n    y[m] = z[m].sqrt() - z[m] / w.double().exp().sum()",
    "z = y.abs()\n    y[m] = F.gelu(z[m]) + z[m].reciprocal()",
    "z = y.abs()\n    y[m] = z[m].clamp(min=0.5, max=9.0)",
    "z = y.abs()\n    y[m] = torch.maximum(z[m], z[m].square())",
]
INPUTS = {
    "some": torch.tensor([2.5, -3.0, 0.2, 1.5, 4.0, -1.0, 0.7, 2.5, -0.1]).reshape(3, 3),
    "none": torch.full((2, 3), -1.0),
    "all": torch.tensor([[1.0, 2.0, 3.0]]),
    "nothing": torch.zeros(0, 3),
}
NAN = torch.tensor([2.5, torch.nan, 0.2, 1.5, torch.inf, -torch.inf, 0.7, 2.0, -0.1]).reshape(3, 3)
DTYPES = (torch.float32, torch.float64, torch.float16, torch.int64, torch.bool)
Outcome = tuple[Any, ...]


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(code: str, x: torch.Tensor) -> Outcome:
    torch.manual_seed(0)
    w = torch.linspace(-1, 1, 12).requires_grad_()
    given = x.clone().requires_grad_() if x.is_floating_point() else x.clone()
    try:
        result = function(code)(given, w)
        if result.requires_grad:
            result[result.isfinite()].sum().backward()
    except (RuntimeError, ValueError, IndexError, TypeError, AttributeError) as error:
        return (type(error),)
    return result.detach(), given.grad, w.grad


def alike(one: Outcome, other: Outcome, *, exact: bool, gradients: bool = True) -> None:
    kept = len(one) if gradients else 1
    for a, b in zip(one[:kept], other[:kept], strict=True):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            near = {"rtol": 0.0, "atol": 0.0} if exact else {"rtol": 1e-3, "atol": 1e-5}
            torch.testing.assert_close(a, b, equal_nan=True, **near)
        elif isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            assert (a if b is None else b).abs().max() == 0  # a gradient of zeros, or none
        else:
            assert a == b


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a fix does in compiled code, eagerly."""
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    yield


def programs(made: str, stores: list[str]) -> list[str]:
    return [f"{HEAD}{made}    {store}\n    return y\n" for store in stores]


@pytest.mark.parametrize("code", programs(ELEMENTS, REFUSED), ids=REFUSED)
def test_elements_that_meet_are_left(code: str, tmp_path: Path) -> None:
    assert fixed(code, tmp_path, unsafe=True) == code
    inline = code.replace("[m]", "[y > 1]").replace("    m = y > 1\n", "")
    assert fixed(inline, tmp_path, unsafe=True) == inline


@pytest.mark.parametrize("code", programs(ROWS, REFUSED_ROWS), ids=REFUSED_ROWS)
def test_rows_that_meet_are_left(code: str, tmp_path: Path) -> None:
    assert fixed(code, tmp_path, unsafe=True) == code


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize("made", [ELEMENTS, ANY_DTYPE], ids=["float", "any"])
@pytest.mark.parametrize("store", [*REFUSED, *ALLOWED])
def test_a_safe_fix_changes_no_bit(made: str, store: str, tmp_path: Path) -> None:
    [code] = programs(made, [store])
    after = fixed(code, tmp_path)
    if after == code:
        return
    for x in (*INPUTS.values(), NAN):
        for dtype in DTYPES:
            given = x.nan_to_num().to(dtype) if not dtype.is_floating_point else x.to(dtype)
            alike(outcome(code, given), outcome(after, given), exact=True)


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize("code", programs(ELEMENTS, ALLOWED), ids=ALLOWED)
def test_what_is_computed_by_itself_is_computed_for_all(code: str, tmp_path: Path) -> None:
    after = fixed(code, tmp_path, unsafe=True)
    assert "torch.where(m" in after
    assert "[m]" not in after
    for x in INPUTS.values():
        # The fix says that what is not finite beside the selected elements may be in gradients.
        steep = "sqrt" in code or "reciprocal" in code
        alike(outcome(code, x), outcome(after, x), exact=False, gradients=not steep)
    alike(outcome(code, NAN), outcome(after, NAN), exact=False, gradients=False)


def test_the_position_among_the_selected_is_not_that_among_all(tmp_path: Path) -> None:
    [code] = programs(ELEMENTS, ["y[m] = y[m] - y[m].argmax()"])
    x = torch.tensor([-9.0, 1.0, -9.0, 5.0, 2.0, 3.0, 0.0])
    for text in (code, fixed(code, tmp_path, unsafe=True)):
        assert outcome(text, x)[0].tolist() == [-18.0, 1.0, -18.0, 9.0, 3.0, 5.0, 0.0]


ELSEWHERE = [
    "y.cpu() > 1",
    'y.to("cpu") > 1',
    "(y > 1).cpu()",
    '(y > 1).to("cpu")',
    "w.sum() > y.cpu()",
]


@pytest.mark.parametrize("mask", ELSEWHERE)
@pytest.mark.parametrize(
    "store", ["y[m] = y[m] * 3 - 1", "y[m] += w.argmax()", "y[0] = y[m].any()"]
)
def test_a_mask_may_be_on_another_device(mask: str, store: str, tmp_path: Path) -> None:
    """A tensor of a GPU is indexed by a mask of the CPU; `torch.where` takes none."""
    [code] = programs(f"    y = x.float() * 2\n    m = {mask}\n", [store])
    assert fixed(code, tmp_path) == code
