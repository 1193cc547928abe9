"""Autocast computes some operations in float32: their numbers are not always of 16 bits."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

import pytest

pytest.importorskip("torch", reason="the table is held against torch itself")

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tclint.config import Config
from tclint.diagnostics import Change
from tclint.lint.engine import check_files
from tclint.torch_facts.autocast import DEVICES, widens
from tclint.torch_facts.table import section

from .dynamo import RELEASE

_REFUSALS = (
    AssertionError, AttributeError, ImportError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
_MAY_CHANGE = [
    "v = x.half()\n    n = float(v.sum())\n    return v * n",
    "v = x.bfloat16()\n    n = v.sum().item()\n    return v * n",
    "v = x.half()\n    n = torch.sum(v).item()\n    return v + n",
    "v = x.half()\n    n = v.prod().item()\n    return v * n",
    "v = x.half()\n    n = v.norm().item()\n    return v * n",
    "v = x.half()\n    n = v.exp().max().item()\n    return v * n",
    "v = x.half()\n    n = (v**2).max().item()\n    return v * n",
    "v = x.half()\n    n = v.pow(2).max().item()\n    return v * n",
    "v = x.half()\n    n = (1 / v).max().item()\n    return v * n",
    "v = x.half()\n    n = torch.nn.Softplus()(v).max().item()\n    return v * n",
    "v = torch.nn.Linear(2, 2)(x)\n    n = v.sum().item()\n    return v * n",
    "v = x.half()\n    n = v.trace().item()\n    return v * n",
    "v = x.half().exp()\n    n = v.prod().item()\n    return v * n",
    "v = x.float()\n    n = (v @ v).sum().item()\n    return v * n",
    "v = x.half()\n    n = v.sum().item()\n    return v.masked_fill(v > 0, n)",
]
_KEPT = [
    "v = x.float()\n    n = float(v.sum())\n    return v * n",
    "v = x.double()\n    n = v.norm().item()\n    return v * n",
    "v = x.float()\n    n = (v**2).max().item()\n    return v * n",
    "v = x.half()\n    n = v.max().item()\n    return v * n",
    "v = x.half()\n    n = v.abs().max().item()\n    return v * n",
    "v = x.half()\n    n = v.mean().item()\n    return v * n",
    "v = x.half().exp()\n    n = v.sum().item()\n    return v * n",
    "v = x.half()\n    n = v.sum().half().item()\n    return v * n",
    "v = x.half().float()\n    n = v.prod().item()\n    return v * n",
    "v = torch.nn.Linear(2, 2)(x)\n    n = v.max().item()\n    return v * n",
]


def _program(body: str) -> str:
    return f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, m):\n    {body}\n"


def _change(body: str, folder: Path) -> Change:
    (folder / "m.py").write_text(_program(body))
    run = check_files([folder / "m.py"], Config(root=folder, select=("TCL101", "TCL102")))
    changes = [one.repair.change for one in run.results if one.repair is not None]
    assert changes, body
    return max(changes, key=[*Change].index)


@pytest.mark.parametrize("body", _MAY_CHANGE)
def test_what_autocast_may_widen_is_no_number_of_the_dtype(body: str, tmp_path: Path) -> None:
    assert _change(body, tmp_path) is Change.BEHAVIOUR


@pytest.mark.parametrize("body", _KEPT)
def test_what_autocast_leaves_alone_has_the_same_bits(body: str, tmp_path: Path) -> None:
    assert _change(body, tmp_path) is Change.SAME_BITS


def test_the_fix_says_what_autocast_changes(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(_program(_MAY_CHANGE[0]))
    run = check_files([tmp_path / "m.py"], Config(root=tmp_path, select=("TCL102",)))
    [repair] = [one.repair for one in run.results]
    assert repair is not None
    assert "under autocast" in repair.changes
    assert "16 bits" in repair.changes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(RELEASE < (2, 13), reason="the table is of this release")
@pytest.mark.parametrize("device", DEVICES)
def test_the_table_holds_what_autocast_widens(device: str) -> None:
    layers = {f"torch.nn.{name}" for name in section("modules")}
    with FakeTensorMode(allow_non_fake_inputs=True):
        found = {
            key
            for key in {*section("operations"), *layers}
            if not key.endswith("_")
            if any(_widens(key, device, shape) for shape in ((4,), (4, 4), (2, 3, 4, 4)))
            or _widens(key, device, (2, 3, 4, 4, 4))
        }
    assert {key for key in found if not widens(device, key)} == set()


def _widens(key: str, device: str, shape: tuple[int, ...]) -> bool:
    x = torch.ones(shape, dtype=torch.bfloat16, device=device)
    plain = _dtype(key, x)
    was = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
    torch.set_autocast_enabled(device, True)
    torch.set_autocast_dtype(device, x.dtype)
    try:
        return None not in (plain, other := _dtype(key, x)) and plain != other
    finally:
        torch.set_autocast_enabled(device, was[0])
        torch.set_autocast_dtype(device, was[1])


def _dtype(key: str, x: torch.Tensor) -> torch.dtype | None:
    name = key.rpartition(".")[2]
    try:
        if name[0].isupper():
            size = [2] if "ool" in name or "Response" in name else []
            result = getattr(torch.nn, name)(*size)(x)
        else:
            result = resolve_name(key)(x) if "." in key else getattr(x, key)()
    except _REFUSALS:
        return None
    return result.dtype if isinstance(result, torch.Tensor) else None
