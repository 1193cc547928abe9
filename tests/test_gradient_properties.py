"""Switching gradients on in eager code only: eager and compiled code compute what they did."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.equal import difference

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.flag = True

    def forward(self, x, w):
"""
TAIL = "        return self.layer(y) + z\n"

sources = st.sampled_from(["x[None]", "x.detach()", "x * 2", "x.detach() + 1", "x", "x.abs()[0]"])
switches = st.sampled_from(
    [
        "{}.requires_grad = True", "{}.requires_grad_()", "{}.requires_grad_(True)",
        "{}.requires_grad_(requires_grad=True)", "kept = {}.requires_grad_()",
    ]
)  # fmt: skip
tests = st.sampled_from(
    ["", "if self.training:", "if self.flag and x.ndim:", "if y.is_floating_point():"]
)
uses = st.sampled_from(
    [
        "z = y * w",
        "z = (y.exp() * w).sum()",
        "z = w if y.requires_grad else w * 2",
        "z = y",
        "z = w",
    ]
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A module that switches the gradients of a tensor on, under a flag or always."""
    switch, test = draw(switches).format("y"), draw(tests)
    lines = [f"y = {draw(sources)}", f"{test}" if test else switch]
    lines += [f"    {switch}"] if test else []
    lines.append(draw(uses))
    return HEAD + "".join(f"        {line}\n" for line in lines) + TAIL


@dataclass(slots=True)
class Outcome:
    """Results, and what came back through them to the inputs and the parameters."""

    results: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)


@settings(max_examples=60, deadline=None)
@given(programs(), st.booleans(), st.booleans())
def test_eager_code_keeps_results_and_gradients(program: str, training: bool, leaf: bool) -> None:
    fixed = _fixed(program)
    before, after = (_run(code, training, leaf, compiled=False) for code in (program, fixed))
    for name in Outcome.__slots__:
        assert difference(getattr(before, name), getattr(after, name), name) is None, fixed


@settings(max_examples=25, deadline=None)
@given(programs(), st.booleans())
def test_compiled_code_keeps_results_and_gradients(program: str, training: bool) -> None:
    fixed = _fixed(program)
    if fixed == program:
        return
    eager, compiled = (_run(fixed, training, True, compiled=c) for c in (False, True))
    for name in Outcome.__slots__:
        assert difference(getattr(eager, name), getattr(compiled, name), name) is None, fixed


@settings(max_examples=30, deadline=None)
@given(programs())
def test_fixing_twice_changes_nothing_more(program: str) -> None:
    once = _fixed(program)
    assert _fixed(once) == once


def _fixed(program: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(program, encoding="utf-8")
        config = Config(root=Path(folder), select=("TCL183", "TCL188"))
        run = fix_files([path], config, unsafe=True)
    return run.changed[0].after if run.changed else program


def _run(code: str, training: bool, leaf: bool, *, compiled: bool) -> Outcome:
    names: dict[str, Any] = {}
    exec(code, names)
    torch._dynamo.reset()
    torch.manual_seed(0)
    net = names["Net"]().train(training)
    call = torch.compile(net, backend="eager", dynamic=False) if compiled else net
    x, w = torch.rand(3), torch.rand(3, requires_grad=True)
    if not leaf:
        x = x.requires_grad_() * 1
    outcome = Outcome()
    try:
        result = call(x, w)
        result.sum().backward()
    except RuntimeError as error:
        return Outcome([type(error)])
    outcome.results.append(result.detach())
    outcome.gradients += [w.grad, *(parameter.grad for parameter in net.parameters())]
    return outcome
