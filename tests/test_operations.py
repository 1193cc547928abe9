"""The table of operations: the ranks and dtypes that calls give, against torch's fake tensors.

`tests/torch_calls.txt` is drawn by ``python -m scripts.torch_facts.some_calls``.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the table is held against torch itself")

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tclint.torch_facts.operations import overloads
from tests.semantics_probe import promised_values, values_in

from .dynamo import RELEASE

_CALLS = (Path(__file__).parent / "torch_calls.txt").read_text().splitlines()
_DTYPE = re.compile(r"\b(?:bfloat16|float\d+|u?int\d+|bool|complex\d+)\b")
_COMMON = """
    x + y; x - y; x * y; x / y; x // y; x ** 2; x @ y.T; -x; x > y; ~(x > y)
    torch.add(x, y); torch.mul(x, 2.0); torch.matmul(x, y.T); torch.mm(x, y.T); torch.bmm(b, b)
    torch.einsum("ij,kj->ik", x, y); torch.addmm(v, x, y.T); torch.outer(v, v); torch.dot(v, v)
    F.linear(x, y, v); F.embedding(i, x); F.layer_norm(x, (4,)); F.conv2d(c, k); F.conv1d(b, b)
    F.scaled_dot_product_attention(c, c, c); F.relu(x); F.gelu(x); F.silu(x); F.softmax(x, dim=-1)
    F.log_softmax(x, -1); F.dropout(x, 0.1); F.cross_entropy(x, i); F.mse_loss(x, y)
    F.binary_cross_entropy_with_logits(x, y); F.l1_loss(x, y, reduction="none")
    F.pad(x, (1, 1)); F.one_hot(i, 4); F.normalize(x, dim=1); F.max_pool2d(c, 2)
    F.interpolate(c, scale_factor=2.0); F.batch_norm(x, v, v)
    torch.exp(x); x.sqrt(); x.clamp(min=0); torch.where(x > 0, x, y); x.masked_fill(x > 0, 0.0)
    x.sum(); x.sum(dim=1); x.mean(1, keepdim=True); x.var(dim=(0, 1)); x.max(); x.max(dim=1)
    x.argmax(dim=-1); x.topk(2); x.sort(dim=1); x.cumsum(0); x.norm(); x.any(dim=0)
    torch.cat([x, y]); torch.stack([x, y]); x.chunk(2); torch.split(x, 2); x.unbind(0)
    x.view(2, 8); x.reshape(-1); x.permute(1, 0); x.transpose(0, 1); x.flatten(); x.unsqueeze(0)
    x.expand(2, 4, 4); x.repeat(2, 1, 1); x.gather(1, x.long()); x.index_select(0, i)
    x.scatter(0, x.long(), y); x.tril(); torch.roll(x, 1); x.float(); x.to(torch.float64)
    x[0]; x[:, 1:]; x[i]; x[..., None]; torch.zeros_like(x); torch.arange(4); x.new_zeros(2, 2)
    x.T; x.mT; x.data; x.real; z.real; z.imag; z.mH; torch.fft.fft(x); torch.complex(x, y)
"""
_MADE = """\
x, y = torch.ones((4, 4)), torch.ones((4, 4))
    v, i, b = torch.ones(4), torch.zeros(4, dtype=torch.int64), torch.ones((4, 4, 4))
    c, k = torch.ones((2, 4, 4, 4)), torch.ones((4, 4, 3, 3))
    z = torch.complex(x, y)
"""
_EXPRESSIONS = [part.strip() for part in re.split(r"[;\n]", _COMMON) if part.strip()]


def given(texts: list[str], before: str = "") -> list[list[tuple[int, str]]]:
    """The rank and the dtype of each tensor that the expressions give, by fake tensors."""
    logging.disable()
    results = []
    with warnings.catch_warnings(), FakeTensorMode():
        warnings.simplefilter("ignore")
        names = {"torch": torch, "F": torch.nn.functional}
        exec(before.replace("    ", ""), names)
        for text in texts:
            made = eval(text, names)
            several = made if isinstance(made, (tuple, list)) else [made]
            results.append([(one.dim(), str(one.dtype).removeprefix("torch.")) for one in several])
    logging.disable(logging.NOTSET)
    return results


def told(folder: Path, texts: list[str], before: str = "pass\n") -> list[list[str]]:
    """What is told of each tensor that the expressions give: ``rank 2, float32``."""
    body = "".join(f"    reveal({text})\n" for text in texts)
    found = values_in(folder, f"@torch.compile\ndef f():\n    {before}{body}", scope="compiled")
    assert len(found) == len(texts)
    return [re.findall(r"tensor(?: \(([^)]*)\))?", value) for _, value in found]


def revealed(folder: Path, before: str, expression: str) -> str:
    """What is told of an expression at the end of a compiled function."""
    text = f"@torch.compile\ndef {before}\n    reveal({expression})\n"
    ((_, found),) = values_in(folder, text)
    return found


def told_wrong(facts: list[str], wanted: list[tuple[int, str]]) -> bool:
    """Whether anything is told that is not so; what is not told is not wrong."""
    several = facts * len(wanted) if len(facts) == 1 else facts
    if facts and len(several) != len(wanted):
        return True
    return any(
        ((rank := re.search(r"rank (\d+)", fact)) is not None and int(rank[1]) != one[0])
        or ((dtype := _DTYPE.search(fact)) is not None and dtype[0] != one[1])
        for fact, one in zip(several, wanted, strict=False)
    )


def is_whole(facts: list[str]) -> bool:
    """Whether rank and dtype are told of each tensor."""
    return bool(facts) and all("rank" in fact and _DTYPE.search(fact) for fact in facts)


@pytest.mark.skipif(RELEASE < (2, 13), reason="the table is of this release")
@pytest.mark.slow(20)
def test_of_a_thousand_calls_nothing_wrong_is_told(tmp_path: Path) -> None:
    facts, wanted = told(tmp_path, _CALLS), given(_CALLS)
    rows = zip(_CALLS, facts, wanted, strict=True)
    assert [row for row in rows if told_wrong(*row[1:])] == []
    whole = Counter(map(is_whole, facts))
    assert len(_CALLS) == 1000
    assert whole[True] > 850


def test_rank_and_dtype_of_common_operations_are_known(tmp_path: Path) -> None:
    facts = told(tmp_path, _EXPRESSIONS, _MADE)
    wanted = given(_EXPRESSIONS, _MADE)
    rows = [*zip(_EXPRESSIONS, facts, wanted, strict=True)]
    assert [row for row in rows if told_wrong(*row[1:])] == []
    assert [row for row in rows if not is_whole(row[1])] == []
    assert len(rows) > 60


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("x.sum(*dims)", "tensor"),
        ("x.view(2, *dims)", "tensor (dtype of `x`)"),
        ("x.permute(*dims)", "tensor (rank 2, dtype of `x`)"),
        ("torch.cat(*dims)", "tensor"),
        ("F.linear(x, **dims)", "tensor (dtype of `x` outside of autocast)"),
        ("x.sum(keepdim=flag)", "tensor"),
        ("x.mean(dims)", "tensor (dtype of `x`)"),
        ("F.mse_loss(x, x, reduction=dims)", "tensor (dtype of `x` outside of autocast)"),
        ("torch.max(x, dims)", "unknown"),
    ],
)
def test_what_an_argument_decides_is_not_known_without_it(
    call: str, value: str, tmp_path: Path
) -> None:
    before = "f(x: torch.Tensor, flag: bool, dims):\n    x = x.reshape(2, 3)"
    assert revealed(tmp_path, before, call) == value


def test_what_autocast_computes_in_has_no_dtype_in_common_with_what_is_outside(
    tmp_path: Path,
) -> None:
    text = """
        @torch.compile
        def f(w: torch.Tensor):
            x = torch.ones((2, 3))
            with torch.autocast("cpu"):
                a = F.linear(x, w)
            b = F.linear(x, w)
            reveal(torch.cat([a, a]))  #= tensor (float32 outside of autocast)
            reveal(torch.cat([a, b]))  #= tensor (some float dtype)
            reveal(torch.cat([x @ x.T, x @ x.T]))  #= tensor (rank 2, some float dtype)
    """
    assert values_in(tmp_path, text) == promised_values(text)


@pytest.mark.parametrize(
    ("index", "value"),
    [
        ("i", "tensor (rank 2, float32)"),
        ("i, i", "tensor (rank 1, float32)"),
        ("i[:, None], i", "tensor (rank 2, float32)"),
        ("x > 0", "tensor (rank 1, float32)"),
        ("0, i", "tensor (rank 1, float32)"),
        ("None, i", "tensor (rank 3, float32)"),
        ("i.to(torch.uint8)", "tensor (float32)"),  # torch takes it for a mask
        ("unknown", "tensor (float32)"),
    ],
)
def test_tensors_as_indices_together_give_the_dimensions_of_the_largest(
    index: str, value: str, tmp_path: Path
) -> None:
    before = "f(unknown):\n    x, i = torch.ones((2, 3)), torch.zeros(2, dtype=torch.int64)"
    assert revealed(tmp_path, before, f"x[{index}]") == value


def test_an_overload_is_taken_by_what_its_arguments_are() -> None:
    rows = [[one.name for one in row.parameters] for row in overloads("torch.max")]
    assert rows == [["input", "other"], ["input"], ["input", "dim", "keepdim"]]
    assert overloads("torch.functional.einsum") == overloads("torch.einsum") != ()
    assert overloads("torch.none_such") == ()
