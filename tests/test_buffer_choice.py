"""A buffer that each way of a branch replaces: compiled code chooses, in one graph, ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch import nn


def frequencies(factor):
    return 1.0 / (factor * torch.arange(1, 4))


def updated(forward):
    def update(self, positions):
        length = torch.max(positions) + 1
        if length > 4:
            if not hasattr(self, "long"):
                self.long = self.make(2.0)
            self.register_buffer("inverse", self.long, persistent=False)
        else:
            self.original = self.original.to(positions.device)
            self.register_buffer("inverse", self.original, persistent=False)

    def wrapper(self, positions):
        update(self, positions)
        return forward(self, positions)

    return wrapper


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.make = frequencies
        self.register_buffer("inverse", self.make(1.0), persistent=False)
        self.original = self.inverse

    @torch.no_grad()
    @updated
    def forward(self, positions):
        return positions[:, None] * self.inverse
"""
INHERITED = "\n\nclass Derived(Rotary):\n    pass\n"
# A caller in another project, which the fix has not seen: its buffer belongs to the state dict.
STRANGER = """

class Stranger(nn.Module):
    def __init__(self):
        super().__init__()
        self.make = frequencies
        self.register_buffer("inverse", self.make(1.0))
        self.original = self.inverse

    @updated
    def forward(self, positions):
        return positions[:, None] * self.inverse
"""
LENGTHS = (3, 7, 2, 9, 9)


@pytest.fixture
def fixed(tmp_path: Path) -> str:
    return _fixed(CODE, tmp_path)


def _fixed(code: str, folder: Path) -> str:
    path = folder / "rotary.py"
    path.write_text(code, encoding="utf-8")
    run = fix_files([path], Config(root=folder, select=("TCL160",)))
    return run.changed[0].after


def test_the_branch_is_found_behind_the_decorator(fixed: str) -> None:
    assert 'self._buffers["inverse"] = torch.where(length > 4, long, original)' in fixed
    assert CODE.partition("    def wrapper")[2] == fixed.partition("    def wrapper")[2]


@pytest.mark.parametrize("compiled", [False, True])
def test_results_and_buffers_are_those_of_eager_code(fixed: str, compiled: bool) -> None:
    expected, given = _make(CODE), _make(fixed)
    call = torch.compile(given, backend="eager", dynamic=False) if compiled else given
    for length in LENGTHS:
        positions = torch.arange(float(length))
        assert torch.equal(expected(positions), call(positions))
        assert torch.equal(expected.inverse, given.inverse)
        assert torch.equal(expected.original, given.original)
        assert given.state_dict() == {}


def test_one_graph_that_is_compiled_once(fixed: str) -> None:
    graphs: list[object] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    call = torch.compile(_make(fixed), backend=backend, fullgraph=True, dynamic=False)
    for _ in LENGTHS:
        call(torch.arange(7.0))
    assert len(graphs) == 1


def test_a_class_that_inherits_the_buffer_is_chosen_for_as_well(tmp_path: Path) -> None:
    code = CODE + INHERITED
    fixed = _fixed(code, tmp_path)
    expected, given = _make(code, "Derived"), _make(fixed, "Derived")
    call = torch.compile(given, backend="eager", fullgraph=True, dynamic=False)
    for length in LENGTHS:
        positions = torch.arange(float(length))
        assert torch.equal(expected(positions), call(positions))


def test_a_module_with_another_kind_of_buffer_does_as_before(fixed: str) -> None:
    expected, given = _make(CODE + STRANGER, "Stranger"), _make(fixed + STRANGER, "Stranger")
    call = torch.compile(given, backend="eager", dynamic=False)
    for length in LENGTHS:
        positions = torch.arange(float(length))
        assert expected.state_dict().keys() == given.state_dict().keys()
        assert torch.equal(expected(positions), call(positions))
    assert not given.state_dict()


def _make(code: str, cls: str = "Rotary") -> Any:
    torch._dynamo.reset()
    names: dict[str, Any] = {}
    exec(code, names)
    return names[cls]()
