"""Functions of autograd: Dynamo traces their ``forward`` where ``apply`` is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import breaks, skip_before
from tests.test_names_and_training import found

FUNCTION = """\
import torch


class Double(BASE):
    @staticmethod
    def forward(ctx, x, n=2):
        BODY
        return x * n

    @staticmethod
    def backward(ctx, grad):
        return grad, None


"""
CALLS = {
    "apply": "@torch.compile\ndef f(x: torch.Tensor):\n    return Double.apply(x, 3)\n",
    "an alias": "double = Double.apply\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
    "    return double(x, 3)\n",
    "a module": "class Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
    "        return Double.apply(x, 3)\n",
}
MARKED = "x.mul_(2); ctx.mark_dirty(x); return x"
BODIES = [
    ("n = x.sum().item()", ["TCL101"]),
    ("print(n)", ["TCL120"]),
    ("x = x if x.sum() > 0 else -x", ["TCL160"]),
    (MARKED, ["TCL189"]),
    ("ctx.save_for_backward(x)", []),
    ("ctx.n = n", []),
    ("n = n if n > 2 else 2", []),
]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_what_forward_does_is_found(
    call: str, body: str, expected: list[str], tmp_path: Path
) -> None:
    text = FUNCTION.replace("BODY", body).replace("BASE", "torch.autograd.Function") + call
    assert [code for code, row in found(text, tmp_path, "TCL1") if row == 7] == expected


def test_a_forward_without_context_gets_the_arguments(tmp_path: Path) -> None:
    text = FUNCTION.replace("forward(ctx, x", "forward(x").replace("BODY", "n = x.sum().item()")
    context = "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        pass\n\n\n"
    text = text.replace("BASE", "torch.autograd.Function").rstrip("\n") + "\n\n" + context
    assert [c for c, _ in found(text + CALLS["apply"], tmp_path, "TCL1")] == ["TCL101"]


def test_a_base_of_the_project_counts(tmp_path: Path) -> None:
    base = "class Base(torch.autograd.Function):\n    pass\n\n\n"
    text = FUNCTION.replace("BODY", "n = x.sum().item()").replace("BASE", "Base")
    text = text.replace("class Double", base + "class Double") + CALLS["apply"]
    assert [code for code, _ in found(text, tmp_path, "TCL1")] == ["TCL101"]


def test_another_class_with_apply_is_not_one(tmp_path: Path) -> None:
    text = FUNCTION.replace("BODY", "n = x.sum().item()").replace("BASE", "object")
    assert found(text + CALLS["apply"], tmp_path, "TCL1") == []


BACKWARD = """\
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        BODY
        return grad


@torch.compile
def f(x: torch.Tensor):
    return Double.apply(x)
"""
BACKWARDS = [
    ("grad = grad * x.sum().item()", ["TCL101"]),
    ("print('back')", ["TCL120"]),
    ("grad = grad if grad.abs().max() < 1 else grad / 2", ["TCL160"]),
    ("grad = grad * 2 if ctx.needs_input_grad[0] else None", []),
]


@pytest.mark.parametrize(("body", "expected"), BACKWARDS)
def test_what_backward_does_is_found(body: str, expected: list[str], tmp_path: Path) -> None:
    assert [code for code, _ in found(BACKWARD.replace("BODY", body), tmp_path, "TCL1")] == expected


def test_marking_an_input_breaks_where_none_needs_a_gradient(tmp_path: Path) -> None:
    text = FUNCTION.replace("BASE", "torch.autograd.Function") + CALLS["apply"]
    program = tmp_path / "program.py"
    program.write_text(text.replace("BODY", MARKED), encoding="utf-8")
    [result] = check_files([program], Config(tmp_path, select=("TCL189",), weak=True)).results
    assert "where no input needs a gradient: the graph breaks" in result.diagnostic.message


@pytest.mark.slow
@pytest.mark.parametrize("needs", [True, False])
def test_dynamo_breaks_at_marked_inputs_where_none_needs_a_gradient(needs: bool) -> None:
    skip_before((2, 13))
    torch = pytest.importorskip("torch")
    text = FUNCTION.replace("BASE", "torch.autograd.Function").replace("BODY", MARKED)
    call = CALLS["apply"].replace("@torch.compile\n", "")
    assert breaks(text + call, torch.ones(3, requires_grad=needs) * 1) is not needs


@pytest.mark.slow
@pytest.mark.parametrize("body", [*(body for body, _ in BODIES), *(body for body, _ in BACKWARDS)])
def test_dynamo_agrees(body: str) -> None:
    torch = pytest.importorskip("torch")
    if "mark_dirty" in body:
        skip_before((2, 13))
    forwards = dict(BODIES)
    text = FUNCTION.replace("BASE", "torch.autograd.Function") + CALLS["apply"]
    text = (text if body in forwards else BACKWARD).replace("BODY", body)
    x = torch.ones(3, requires_grad="mark_dirty" not in body) * 1
    broke = breaks(text.replace("@torch.compile\n", ""), x)
    assert broke == bool({**forwards, **dict(BACKWARDS)}[body])
