"""Escape hatches: eager code stays as it was, and compiled code is whole and computes the same."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.results import Remedies
from tclint.lint.registry import load_rules
from tclint.testing import findings

if TYPE_CHECKING:
    from pathlib import Path

RULES = {rule.code: rule for rule in load_rules()}
HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        masks = torch.stack([x[:, 0] > 0, x[:, 0] <= 0, x[:, 1] > LIMIT])
        y = torch.zeros_like(x)
"""
SKIPPED = """\
for number in range(3):
    rows, = torch.where(masks[number])
    if rows.shape[0] == 0:
        continue
    y.index_add_(0, rows, self.experts[number](x[rows]))
return y.sum()
"""
GUARDED = """\
for number, expert in enumerate(self.experts):
    rows = masks[number].nonzero().flatten()
    if rows.numel() > 0:
        scaled = expert(x[rows]) * 2
        y[rows] = scaled
return y.sum()
"""
LISTED = """\
used = (masks.sum(dim=-1) > 0).nonzero(as_tuple=True)[0].tolist()
for number in used:
    rows, = torch.where(masks[number])
    y = y.index_add(0, rows, self.experts[number](x[rows]))
return y.sum()
"""
MASKED = """\
counts = masks.t().reshape(len(x), 3).sum(dim=0)
for number in torch.nonzero(counts)[:, 0].tolist():
    y[masks[number, :]] = self.experts[number](x[masks[number, :]])
return y.sum()
"""
PROGRAMS = {"skipped": SKIPPED, "guarded": GUARDED, "listed": LISTED, "masked": MASKED}


def program(body: str, limit: float = 0.0) -> str:
    """A module whose `forward` ends with these lines; no row is above a large ``limit``."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return HEAD.replace("LIMIT", str(limit)) + lines


def hatched(code: str, folder: Path) -> str:
    """The program after all escape hatches that it is offered."""
    path = folder / "program.py"
    path.write_text(code)
    config = Config(root=folder, weak=True)
    changed = fix_files([path], config, remedies=Remedies(hatches=True)).changed
    return changed[0].after if changed else code


@dataclass(frozen=True)
class Seen:
    """What a training step gives: the result, the gradients by name, and the number of graphs."""

    result: Any
    gradients: dict[str, Any]
    graphs: int


def step(code: str, folder: Path, name: str, *, compiled: bool) -> Seen:
    """Run one step in training mode, forwards and backwards, with the same seed each time."""
    import torch
    from torch._dynamo import config
    from torch._dynamo.testing import CompileCounter

    path = folder / f"{name}.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch._dynamo.reset()
    torch.manual_seed(0)
    net, x, counter = module.Net(), torch.randn(6, 3), CompileCounter()
    call = torch.compile(net, backend=counter, fullgraph=True) if compiled else net
    settings = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
    with config.patch(settings):
        result = call(x)
    result.backward()
    gradients = {name: one.grad for name, one in net.named_parameters()}
    return Seen(result.detach(), gradients, counter.frame_count)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hatch_keeps_eager_code_and_makes_one_graph(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(PROGRAMS[name])
    after = hatched(code, tmp_path)
    assert "is_compiling()" in after
    assert hatched(after, tmp_path) == after
    known = step(code, tmp_path, "known", compiled=False)
    eager = step(after, tmp_path, "eager", compiled=False)
    whole = step(after, tmp_path, "whole", compiled=True)
    assert whole.graphs == 1
    for seen in (eager, whole):
        assert torch.equal(known.result, seen.result)
    for parameter, gradient in known.gradients.items():
        for seen in (eager, whole):
            given = seen.gradients[parameter]
            assert gradient is given is None or torch.equal(gradient, given)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_expert_without_rows_gets_zeros_as_the_hatch_says(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(PROGRAMS[name], limit=100.0)
    known = step(code, tmp_path, "known", compiled=False)
    whole = step(hatched(code, tmp_path), tmp_path, "whole", compiled=True)
    assert torch.equal(known.result, whole.result)
    assert known.gradients["experts.2.weight"] is None
    assert not whole.gradients["experts.2.weight"].any()


def test_a_list_of_unknown_length_is_reported_where_numbers_are_captured(tmp_path: Path) -> None:
    captured = "@torch.compile(fullgraph=True)\ndef f(x, y):\n"
    loop = "    for i in (x > 0).nonzero()[:, 0].tolist():\n        y[i] = 1\n"
    code = f"{captured}{loop}    return y\n"
    assert len(findings(RULES["TCL103"], code, tmp_path)) == 1
    assert not findings(
        RULES["TCL103"], code.replace("(x > 0).nonzero()[:, 0]", "x.long()"), tmp_path
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("for i in used:\n    y = y + i\nreturn y", id="counts"),
        pytest.param("for i in used:\n    y[i] = 1\nelse:\n    y = x\nreturn y", id="else"),
        pytest.param("for i in used:\n    y[masks[i]] = 1\nreturn y, used", id="used twice"),
        pytest.param("for i, j in used:\n    y[masks[i]] = 1\nreturn y", id="two variables"),
        pytest.param("for i in used:\n    y[masks[0]] = x[i]\nreturn y", id="another mask"),
        pytest.param("for i in used:\n    y[masks[i]] = x[masks[i]].mean()\nreturn y", id="mean"),
        pytest.param("for i in used:\n    y[masks[i]] = 1\n    break\nreturn y", id="break"),
        pytest.param("for i in used:\n    y[masks[i]] = 1\nreturn y, i", id="used behind"),
        pytest.param("return y[used]", id="no loop"),
    ],
)
def test_a_loop_that_does_more_than_to_write_rows_is_not_run_for_all(
    body: str, tmp_path: Path
) -> None:
    code = program(f"used = masks.sum(dim=1).nonzero()[:, 0].tolist()\n{body}")
    assert "range(len(" not in hatched(code, tmp_path)


@pytest.mark.parametrize(
    "read",
    [
        "masks.nonzero()[0].tolist()", "masks.nonzero(as_tuple=True)[1].tolist()",
        "masks.nonzero(as_tuple=False)[0].tolist()", "masks.sum(dim=1).tolist()",
        "torch.where(masks, 1, 0)[0].tolist()", "masks.nonzero().flatten().tolist()",
    ],
)  # fmt: skip
def test_numbers_that_are_no_indices_have_no_hatch(read: str, tmp_path: Path) -> None:
    code = program(f"for i in {read}:\n    y[masks[i]] = 1\nreturn y")
    assert "range(len(" not in hatched(code, tmp_path)


def test_a_module_is_left_as_it_is_where_it_becomes_itself(tmp_path: Path) -> None:
    body = "self.layer = self.layer.to(torch.float64)\nreturn self.layer(x.double())"
    other = body.replace("self.layer = ", "self.other = ")
    code = {name: program(text) for name, text in (("same", body), ("other", other))}
    has = {name: hatched(text, tmp_path) != text for name, text in code.items()}
    assert has == {"same": True, "other": False}
