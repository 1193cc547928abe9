"""Layers dropped by numpy's or Python's numbers: the fix keeps results and random streams."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the proofs run PyTorch")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files

from .dynamo import MEASURED
from .proof.equal import difference
from .proof.run import run_compiled, run_eager

_DRAWS = ("np.random.uniform(0, 1)", "np.random.random()", "np.random.rand()", "random.random()")
_TESTS = (
    "self.training and p < self.rate",
    "not self.training or p > self.rate",
    "self.training and (self.kept or p < self.rate)",
    "not (self.training and p < self.rate)",
    "self.kept and self.training and not p < self.rate",
    "p < self.rate",
)
_INPUTS = "[(torch.ones(2, 3),) for _ in range(3)]"


def _program(draw: str, test: str, *, named: bool, rate: float, training: bool, kept: bool) -> str:
    """Five layers that ``test`` leaves out, and the states of both generators in the end."""
    decision = [f"skip = {test}", "if skip:"] if named else [f"if {test}:"]
    lines = [f"p = {draw}", *decision, "    x = layer(x)", "x = x * 2"]
    body = "\n".join(f"            {line}" for line in lines)
    return f"""
import random


class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(5))
        self.rate = {rate}
        self.kept = {kept}
        self.train({training})

    def forward(self, x):
        for layer in self.layers:
{body}
        return x
"""


_STATES = """

class g(f):
    def forward(self, x):
        y = super().forward(x)
        return y, np.random.get_state()[1:3], random.getstate()


f = g
"""

PROGRAMS = st.builds(
    _program,
    st.sampled_from(_DRAWS),
    st.sampled_from(_TESTS),
    named=st.booleans(),
    rate=st.sampled_from([0.0, 0.3, 1.0]),
    training=st.booleans(),
    kept=st.booleans(),
)


def _fixed(code: str, root: Path) -> str:
    path = root / "example.py"
    head = "import numpy as np\nimport torch\nfrom torch import nn\n"
    path.write_text(head + code, encoding="utf-8")
    config = Config(
        root=root, select=("TCL180", "TCL181"), compiled=("*:f.forward",), settings=MEASURED
    )
    changed = fix_files([path], config).changed
    return changed[0].after.removeprefix(head) if changed else code


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=PROGRAMS)
def test_eager_code_draws_the_same_numbers(code: str, tmp_path: Path) -> None:
    fixed = _fixed(code, tmp_path)
    before, after = run_eager(code + _STATES, _INPUTS), run_eager(fixed + _STATES, _INPUTS)
    assert not before.raised
    assert difference(before.results, after.results) is None, fixed


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    code=st.builds(
        _program,
        st.sampled_from(_DRAWS),
        st.sampled_from(_TESTS[:4]),
        named=st.booleans(),
        rate=st.sampled_from([0.0, 0.3]),
        training=st.just(value=False),
        kept=st.just(value=False),
    )
)
def test_evaluation_compiles_whole(code: str, tmp_path: Path) -> None:
    fixed = _fixed(code, tmp_path)
    assert "is_compiling" in fixed
    compiled = run_compiled(fixed, _INPUTS)
    assert compiled.compilation.reasons == []
    assert difference(run_eager(code, _INPUTS).results, compiled.results) is None
