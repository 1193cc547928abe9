"""A parameter may be a numpy array, unless something before would have raised for one."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from .proof.equal import difference
from .proof.fixing import fixed
from .proof.run import run_eager

_IMPORTS = "import torch\nfrom torch import nn\n"
_MAY_BE_AN_ARRAY = {
    "at once": "return x * x.max().item()",
    "through shared methods": "return x * x.reshape(-1).clip(0).max().item()",
    "after a branch": "if flag:\n        torch.relu(x)\n    return x * x.max().item()",
    "after a lambda": "g = lambda: torch.relu(x)\n    return x * x.max().item()",
    "after a conditional": "r = torch.relu(x) if flag else 0\n    return x * x.max().item()",
    "after a short circuit": "r = flag and torch.relu(x)\n    return x * x.max().item()",
    "after a handler": (
        "try:\n        torch.relu(x)\n    except TypeError:\n        pass\n"
        "    return x * x.max().item()"
    ),
    "in a handler": (
        "try:\n        flag.a\n        torch.relu(x)\n"
        "    except AttributeError:\n        return x * x.max().item()"
    ),
    "after a sum with a tensor": "torch.relu(x + torch.ones(3))\n    return x * x.max().item()",
    "after an identity": "nn.Identity()(x)\n    return x * x.max().item()",
    "after a loop": "for _ in range(flag):\n        torch.relu(x)\n    return x * x.max().item()",
    "before its use": "s = x.max().item()\n    y = x / s\n    return y, x.shape",
    "after what makes tensors": "y = torch.as_tensor(x)\n    return x * x.max().item()",
    "after what takes numbers": "y = torch.mul(2, x.sum())\n    return x * x.max().item()",
    "after a size": "y = torch.zeros(x.shape)\n    return x * x.max().item()",
    "bound again": "y = x\n    return y * y.max().item()",
    "bound by a test": "y = x if not flag else x.float()\n    return y * y.max().item()",
}
_IS_A_TENSOR = {
    "annotated": "return x * x.max().item()",
    "a method of tensors": "y = x.unsqueeze(0)\n    return x * x.max().item()",
    "a function of torch": "y = torch.relu(x)\n    return x * x.max().item()",
    "a comparison for a function of torch": "y = torch.all(x > 0)\n    return x * x.max().item()",
    "in the read": "return x * x.contiguous().max().item()",
    "bound again": "x = x.contiguous()\n    return x * x.max().item()",
}


@pytest.mark.parametrize("case", _MAY_BE_AN_ARRAY)
def test_an_array_is_read_as_before(case: str, tmp_path: Path) -> None:
    code = f"@torch.compile\ndef f(x, flag=0):\n    {_MAY_BE_AN_ARRAY[case]}\n"
    inputs = "[(np.array([1.0, 2.0, 4.0]),), (torch.tensor([1.0, 2.0, 4.0]),)]"
    before, after = run_eager(code, inputs), run_eager(fixed(_IMPORTS + code, tmp_path), inputs)
    assert difference(before.results, after.results) is None


@pytest.mark.parametrize("case", _IS_A_TENSOR)
def test_what_only_a_tensor_survives_is_proof_enough(case: str, tmp_path: Path) -> None:
    annotation = ": torch.Tensor" if case == "annotated" else ""
    code = f"@torch.compile\ndef f(x{annotation}):\n    {_IS_A_TENSOR[case]}\n"
    text = fixed(_IMPORTS + code, tmp_path)
    assert ".item()" not in text
    inputs = "(torch.tensor([1.0, 2.0, 4.0]),)"
    before, after = run_eager(code, inputs), run_eager(text, inputs)
    assert difference(before.results, after.results) is None
