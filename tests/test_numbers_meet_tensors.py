"""A 0-d tensor in the place of its number: what torch makes of both, for every dtype."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from .proof.equal import difference
from .proof.fixing import fixed
from .proof.run import run_eager
from .samples import one_in

_IMPORTS = "import math\nimport torch\n"
_COMPARISONS = [
    f"{left} {op} {right}"
    for op in ("<", "==")
    for constant in ("-1", "1", "127", "128", "255", "256", "300", "60000", "0.5", "300.0", "0.1")
    for left, right in (("N", constant), (constant, "N"))
]
_USES = [
    *(f"x * ({comparison})" for comparison in _COMPARISONS),
    "x * (N < x.shape[0] * 100)",
    "x * (N != len(x) - 1)",
    *(f"x {op} N" for op in ("+", "-", "*", "/", "//", "%", "**", "<", "==", ">=")),
    *(f"N {op} x" for op in ("+", "-", "*", "/", "//", "%", "**", "<", "==", ">=")),
    "x.clamp(max=N)",
    "x.clamp(min=N)",
    "x.clamp(N, N)",
    "torch.clamp(x, N)",
    "x.clamp_min(N)",
    "x.clamp_max(N)",
    "x.masked_fill(x > 0, N)",
    "x.clone().fill_(N)",
    "torch.where(x > 0, x, N)",
    "torch.where(x > 0, N, x)",
    "torch.full((2,), N)",
    "x.add(N)",
    "x.sub(N)",
    "x.rsub(N)",
    "torch.remainder(x, N)",
    "x.floor_divide(N)",
    "x.div(N, rounding_mode='floor')",
    "x * max(N, 1)",
    "x * max(N, 300)",
    "x * min(N, 0.1)",
    "x * abs(N)",
    "x * -N",
    "x * (N + 1)",
    "x * (N * 300)",
    "x * (N / 2)",
    "x * (N - N)",
    "x * float(N)",
    "x * int(N)",
    "x * round(N)",
    "x * math.sqrt(abs(N))",
    "x + (N if len(x) > 2 else 1)",
]
_READS = ("x.max().item()", "x.sum().item()", "x[0].item()", "float(x.min())", "x.mean().item()")
_DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64".split()
_CALLS = ", ".join(
    f"(torch.tensor({values}).to(torch.{dtype}),)" for dtype in _DTYPES for values in ("[2, 1, 3]",)
)


@pytest.mark.parametrize("use", one_in(6, _USES))
def test_a_tensor_meets_what_its_number_met(use: str, tmp_path: Path) -> None:
    functions = [
        f"def f{i}(x: torch.Tensor):\n    return {use.replace('N', read)}\n"
        for i, read in enumerate(_READS)
    ]
    functions += [
        f"def g{i}(x: torch.Tensor):\n    x = x.{way}()\n    return {use.replace('N', read)}\n"
        for i, (way, read) in enumerate((w, r) for w in ("float", "long", "byte") for r in _READS)
    ]
    names = [function[4 : function.index("(")] for function in functions]
    code = "@torch.compile\n" + "@torch.compile\n".join(functions)
    code += (
        f"def f(x):\n    found = []\n    for function in ({', '.join(names)}):\n        try:\n"
        "            found.append(function(x))\n        except Exception as error:\n"
        "            found.append((type(error).__name__, str(error)))\n    return found\n"
    )
    text = fixed(_IMPORTS + code, tmp_path)
    before, after = run_eager(code, f"[{_CALLS}]"), run_eager(text, f"[{_CALLS}]")
    assert difference(before.results, after.results) is None, text


def test_float_still_refuses_a_complex_number(tmp_path: Path) -> None:
    body = "    y = y.exp()\n    return y * float(y.sum().item())\n"
    code = _IMPORTS + "@torch.compile\ndef f(y: torch.Tensor):\n" + body
    assert fixed(code, tmp_path) == code
    assert "float(" not in fixed(code.replace("y.exp()", "y.double().exp()"), tmp_path)
