"""Arguments that torch needs as numbers: a tensor, or a number of numpy, that is given is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.torch_facts import numbers_of
from tests.semantics_probe import mismatch

HEADER = "import torch\nimport numpy as np\nimport torch.nn.functional as F\n\n\n"
# Each was compiled on torch 2.13: those that read break the graph with GB0033.
READ = [
    "x.sum(k)", "x.topk(k)", "x.softmax(k)", "F.softmax(x, dim=k)", "F.dropout(x, k)",
    "torch.roll(x, k)", "torch.roll(x, shifts=k, dims=0)", "x.select(0, k)",
    "torch.add(x, x, alpha=k)", "x.sub(x, alpha=k)", "torch.addmm(x, x, x, beta=k)",
    "x.unsqueeze(k)", "x.transpose(0, k)", "torch.zeros(k)", "torch.full((k, 2), 1.0)",
    "torch.full_like(x, k)", "x.new_full((2,), k)", "torch.linspace(0, 1, k)",
    "torch.randperm(k)", "F.leaky_relu(x, k)", "x.normal_(k)", "torch.triu(x, k)",
    "torch.cat([x, x], dim=k)", "x.norm(k)", "F.one_hot(x, k)", "x.flatten(k)",
    "x.permute(k, 1)", "torch.addcmul(x, x, x, value=k)", "F.hardtanh(x, k, 3)",
    "F.layer_norm(x, (4,), eps=k)", "F.scaled_dot_product_attention(x, x, x, scale=k)",
    "F.normalize(x, dim=k)", "x.nan_to_num(k)", "F.cross_entropy(x, x, label_smoothing=k)",
    "x.narrow(1, k, 1)", "F.max_pool2d(x, 2, stride=k)", "F.pad(x, (k, k))",
    "F.interpolate(x, size=(k, k))", "x.std(0, correction=k)", "x.max(dim=k)",
    "torch.bernoulli(x, k)", "x.tensor_split(k)",
]  # fmt: skip
TAKEN = [
    "x.clamp(min=k, max=k)", "torch.linspace(k, k, 3)", "torch.full((2, 2), k)",
    "x.masked_fill(x > 0, k)", "x.bernoulli_(k)", "x.quantile(k)", "x.fill_(k)",
    "x.lerp(x, k)", "x.clamp_min(k)", "x.pow(k)", "torch.full((2,), fill_value=k)", "x.mul(k)",
]  # fmt: skip


def _program(call: str, comment: str, number: str) -> str:
    return f"{HEADER}@torch.compile\ndef f(x: torch.Tensor):\n{number}    return {call}{comment}\n"


@pytest.mark.parametrize("call", READ)
def test_a_tensor_given_as_a_number_is_read(tmp_path: Path, call: str) -> None:
    text = _program(call, "  #! HostRead number", "    k = x.argmax()\n")
    assert not mismatch(tmp_path, {"program.py": text})


@pytest.mark.parametrize("call", TAKEN)
def test_a_tensor_stays_on_the_device_where_torch_takes_one(tmp_path: Path, call: str) -> None:
    assert not mismatch(tmp_path, {"program.py": _program(call, "", "    k = x.max()\n")})


@pytest.mark.parametrize("call", ["torch.zeros(k)", "x.narrow(0, 0, k)", "x.sum(dim=(0, k))"])
def test_a_number_of_numpy_is_read_behind_its_loop(tmp_path: Path, call: str) -> None:
    loop = "    for k in np.arange(3):  #! Loop numpy; NumpyCall numpy.arange\n        x = x + 1\n"
    text = _program(call, "  #! ArrayRead", loop)
    assert not mismatch(tmp_path, {"program.py": text})


def test_places_behind_the_first_size_are_sizes() -> None:
    assert numbers_of("view").at(5)
    assert not numbers_of("sum").at(1)
    assert numbers_of("torch.full").at(0)
    assert not numbers_of("torch.full").at(1)
    assert numbers_of("torch.nn.functional.dropout").names == {"p"}
    assert not numbers_of("nothing").at(0)
