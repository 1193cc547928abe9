"""Masks without dimensions: a store by one breaks the graph, and is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="the programs run torch")

import torch

from tclint.config import Config
from tclint.lint.engine import check_files

from .proof.fixing import fixed

if TYPE_CHECKING:
    from pathlib import Path

    from tclint.diagnostics import Diagnostic

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, n: torch.Tensor):\n"
FOUND = [
    "y = x.float().sum()\n    y[y < 0] = 0",
    "y = x.half().amax()\n    y[y > 1] = 65504",
    "y = x.sum()\n    y[y < 0] = 2.5",
    "y = x * 2\n    y[x.sum() < 0] = 7",
    "y = x * 2\n    y[n.sum() < 0] = 0",
]
SILENT = [
    "y = x * 2\n    y[y < 0] = 0",
    "y = x.reshape(-1) * 2\n    y[y < 0] = 0",
    "y = x.sum(-1)\n    y[y < 0] = 0",
    "y = x.sum()\n    y.masked_fill_(y < 0, 0)",
    "y = x.sum()\n    y[...] = 0",
]


def program(body: str) -> str:
    return f"{HEAD}    {body}\n    return y\n"


def function(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(code: str, x: torch.Tensor) -> tuple[Any, ...]:
    given = x.clone().requires_grad_() if x.is_floating_point() else x.clone()
    try:
        y = function(code)(given, torch.ones(2))
        if y.requires_grad:
            y.sum().backward()
    except RuntimeError as error:
        return (type(error),)
    return y.dtype, y.detach(), given.grad


def found(code: str, folder: Path) -> list[Diagnostic]:
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    results = check_files([path], Config(root=folder, weak=True)).results
    return [one.diagnostic for one in results if one.diagnostic.code == "TCL170"]


@pytest.mark.parametrize("body", FOUND)
def test_a_store_by_one_value_is_found_and_left(body: str, tmp_path: Path) -> None:
    code = program(body)
    [one] = found(code, tmp_path)
    assert one.declined is not None
    assert "masked_fill_" in one.declined.reason
    assert fixed(code, tmp_path, unsafe=True) == code


@pytest.mark.parametrize("body", SILENT)
def test_other_stores_are_traced(body: str, tmp_path: Path) -> None:
    assert found(program(body), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("body", SILENT)
def test_torch_traces_what_is_left(body: str) -> None:
    torch._dynamo.reset()
    run = function(program(body))
    compiled = torch.compile(run, backend="eager", fullgraph=True)
    x = torch.ones(2, 2)
    assert torch.equal(compiled(x, x), run(x, x))


@pytest.mark.slow
@pytest.mark.parametrize("body", FOUND)
def test_torch_breaks_the_graph_before(body: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function(program(body)), backend="eager", fullgraph=True)
    with pytest.raises((torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError)):
        compiled(torch.tensor([1.0, 2.0]), torch.ones(2))


@pytest.mark.parametrize(
    "store", ["y[y > 1] *= 3", "y[y > 1] = 7 - y[y > 1] * 2", "y[~(y > 1)] += 1"]
)
@pytest.mark.parametrize("made", ["x.long() * 2", "x.int() + 1"])
def test_integers_are_the_same(made: str, store: str, tmp_path: Path) -> None:
    code = program(f"y = {made}\n    {store}")
    after = fixed(code, tmp_path)
    assert "y.copy_(torch.where(" in after
    for x in (torch.tensor([1.0, -2.0, 5.0]), torch.zeros(0), torch.zeros(2, 2)):
        for one, other in zip(outcome(code, x), outcome(after, x), strict=True):
            assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
