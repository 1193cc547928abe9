"""Lists that went into a tensor and are read back: the list itself says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.equal import difference
from .proof.run import run_eager

LISTS = ("[-1, 3]", "[n]", "[]", "(2, n)", "rest", "x.shape", "list(rest)", "[1.5, 2]", "[True, 2]")
MAKERS = (
    "torch.tensor({})", "torch.tensor({}, dtype=torch.long)", "torch.as_tensor({})",
    "torch.as_tensor({}, dtype=torch.int64, device=x.device)", "torch.LongTensor({})",
    "torch.tensor({}, dtype=torch.float64)", "torch.tensor({}, dtype=torch.uint8)",
)  # fmt: skip
JOINS = ("torch.cat([{}, {}])", "torch.cat(({}, {}), dim=0)", "torch.concat([{}, {}], 0)")
CHANGES = ("", "", "", "t[0] = 7", "t.add_(1)", "rest = rest[:0]", "n = n + 1", "t = t + 1")
INPUTS = "[(torch.ones(4, 3),), (torch.ones(2, 3, 5),), (torch.ones(6),)]"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function that makes a tensor of lists, perhaps changes something, and reads it."""
    one = st.sampled_from

    def made() -> str:
        return draw(one(MAKERS)).format(draw(one(LISTS)))

    lines = ["n = x.shape[0]", "rest = x.shape[1:]"]
    joined = draw(one(JOINS)).format(made(), made())
    lines.append(f"t = {draw(one([made(), joined]))}")
    if draw(st.booleans()):
        lines += ["u = t", "t = torch.cat([u, u])"] if draw(st.booleans()) else ["u = t * 1"]
    change = draw(one(CHANGES))
    lines += [change] if change else []
    lines.append("return x, t.tolist()")
    return "\ndef f(x):\n" + "".join(f"    {line}\n" for line in lines)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_the_list_is_the_same(code: str, tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text("import torch\n" + code, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL103",), compiled=("*:f",))
    changed = fix_files([path], config).changed
    if not changed:
        return
    fixed = changed[0].after.partition("import torch\n")[2]
    before, after = run_eager(code, INPUTS), run_eager(fixed, INPUTS)
    assert difference(before.results, after.results) is None, fixed
    assert difference(before.raised, after.raised, "exceptions") is None, fixed
