"""Whatever Python computes with a number that was read: a safe fix keeps every bit of it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the proofs run PyTorch")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.equal import difference
from .proof.run import run_eager

TENSORS = (
    "x.float()", "x.double().reshape(-1)", "x", "x.half()", "x.long()", "(x > 0.5)", "x.float()[0]",
)  # fmt: skip
READS = (
    "{t}.sum().item()", "{t}.max().item()", "({t} > 0).sum().item()", "{t}.argmax().item()",
    "float({t}.float().mean())", "int(({t} > 0).sum())", "{t}.float().sum().tolist()",
    "{t}.reshape(-1)[0].item()",
)  # fmt: skip
STEPS = (
    "{n} * 2", "{n} + 1", "1 - {n}", "{n} / 2", "{n} // 3", "{n} % 7", "-{n}", "abs({n})",
    "{n} * 0.1", "{n} ** 2", "max({n}, 1)", "min(5, {n})", "float({n})", "int({n})", "{n} / 3",
    "{n} - x.shape[0]", "round({n})", "{n} if x.ndim else 1", "({n} > 2)", "{n} * {n}",
)  # fmt: skip
ENDS = (
    "{t} * {n}", "{t} / {n}", "{n} - {t}", "{t} > {n}", "torch.clamp({t}, max={n})",
    "{t}.masked_fill({t} > 1, {n})", "torch.where({t} > 0, {t}, {n})", "torch.full((2,), {n})",
    "{t} ** {n}", "{t}.add({n})", "{t} == {n}",
)  # fmt: skip
INPUTS = "[" + ", ".join(
    f"((torch.rand({shape}, requires_grad={grad}) * {scale}).to(torch.{dtype}),)"
    for shape in ("(3, 2)", "(1,)", "(4,)")
    for dtype, grad in (("float32", True), ("float64", True), ("float16", False), ("int64", False))
    for scale in (1, -9)
) + "]"  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function that reads a number, computes with it on several lines, and meets tensors."""
    one = st.sampled_from
    tensor = draw(one(TENSORS))
    lines = ["t = " + tensor, "n = " + draw(one(READS)).format(t="t")]
    names = ["n"]
    for number in range(draw(st.integers(0, 3))):
        form = draw(st.integers(0, 5))
        source = names[-1]
        step = draw(one(STEPS)).format(n=source)
        if form == 0:
            lines.append(f"{source} {draw(one(['+=', '*=', '-=']))} {draw(one(['1', '2', '0.5']))}")
        elif form == 1:
            lines += ["total = 0", "for _ in range(2):", f"    total += {step}"]
            names.append("total")
        elif form == 2:
            lines += [f"m{number} = 1.0", "if x.ndim > 1:", f"    m{number} = {step}"]
            names.append(f"m{number}")
        else:
            lines.append(f"m{number} = {step}")
            names.append(f"m{number}")
    ends = [
        draw(one(ENDS)).format(t=draw(one(["t", tensor, "x"])), n=draw(one(names)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    if draw(st.booleans()):
        bounds = draw(one([":{n}", "{n}:", "1:{n}"])).format(n=draw(one(names)))
        lines += [
            "z = t.reshape(-1, 1) * 1",
            f"z[{bounds}] = {draw(one(['0', '1', 'True', '0.5']))}",
        ]
        ends.append("z")
    lines.append(f"return {', '.join(ends)}, t")
    return "\ndef f(x):\n" + "".join(f"    {line}\n" for line in lines)


def _fixed(code: str, root: Path, *, unsafe: bool = False) -> str:
    path = root / "example.py"
    path.write_text("import math\nimport torch\n" + code, encoding="utf-8")
    config = Config(root=root, select=("TCL1",), compiled=("*:f",))
    changed = fix_files([path], config, unsafe=unsafe).changed
    return changed[0].after.partition("import torch\n")[2] if changed else code


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_safe_fix_keeps_every_bit(code: str, tmp_path: Path) -> None:
    fixed = _fixed(code, tmp_path)
    if fixed == code:
        return
    before, after = run_eager(code, INPUTS), run_eager(fixed, INPUTS)
    assert difference(before.results, after.results) is None, fixed
    assert difference(before.raised, after.raised, "exceptions") is None, fixed


@pytest.mark.slow
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_unsafe_fix_still_runs(code: str, tmp_path: Path) -> None:
    fixed = _fixed(code, tmp_path, unsafe=True)
    if fixed == code:
        return
    before, after = run_eager(code, INPUTS), run_eager(fixed, INPUTS)
    for left, right in zip(before.results, after.results, strict=True):
        assert isinstance(left, Exception) or not isinstance(right, Exception), (fixed, right)
