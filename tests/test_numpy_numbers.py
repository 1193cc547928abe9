"""How far the fixes of numpy's numbers go: what is safe, what is not, and that safe is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.diagnostics import Applicability
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files
from tclint.lint.rule import PRELUDE

if TYPE_CHECKING:
    from pathlib import Path

    from tclint.diagnostics import Diagnostic

LOOPS = ("TCL140", "TCL141")
SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def _loop(head: str, body: str) -> str:
    return f"def f(x: torch.Tensor):\n    out = x\n    {head}\n        {body}\n    return out\n"


def _write(root: Path, code: str) -> Path:
    path = root / "example.py"
    path.write_text(PRELUDE + code, encoding="utf-8")
    return path


def _findings(root: Path, code: str, *rules: str) -> list[Diagnostic]:
    config = Config(root=root, select=rules, compiled=("*:f",))
    return [result.diagnostic for result in check_files([_write(root, code)], config).results]


def _one(root: Path, code: str, *rules: str) -> Diagnostic:
    findings = _findings(root, code, *rules)
    assert len(findings) == 1, findings
    return findings[0]


SAFE_BODIES = [
    "out = out + x[k]",
    "out = out + x[k:] .sum()",
    "out = out + x[:, k % 3 - 1].sum()",
    "out = out + k",
    "out = k * out",
    "out = out ** k",
    "out = out - 1.0 / (k + 1)",
    "out = out * (x[k] if k > 1 else 2)",
    "out = out + x.roll(k, 0)",
    "out = out + torch.full((4, 3), k)",
    "out = out + torch.tensor(k)",
    "out = out + int(k) + float(k)",
    "out = out + math.sqrt(k) + np.sqrt(k)",
    "out = out + len(f'{k}') * x[k]",
    "out = out + (x[k] if k in (0, 2) else 1)",
    "m = min(k, 2); out = out + x[m]",
    "out += k",
]


@pytest.mark.parametrize("body", SAFE_BODIES)
def test_range_is_safe_where_only_the_value_counts(body: str, tmp_path: Path) -> None:
    found = _one(tmp_path, _loop("for k in np.arange(x.shape[0]):", body), *LOOPS)
    assert found.fixable is SAFE, found


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "int8"])
@pytest.mark.parametrize("body", SAFE_BODIES)
def test_safe_fixes_give_bit_equal_results(body: str, dtype: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from .proof.equal import difference
    from .proof.run import run_eager

    code = _loop("for k in np.arange(x.shape[0]):", body)
    config = Config(root=tmp_path, select=LOOPS, compiled=("*:f",))
    (fixed,) = fix_files([_write(tmp_path, code)], config).changed
    inputs = f"(torch.arange(1, 13).reshape(4, 3).to(torch.{dtype}),)"
    before = run_eager(code, inputs)
    after = run_eager(fixed.after.removeprefix(PRELUDE), inputs)
    assert [type(e) for e in before.raised] == [type(e) for e in after.raised]
    if not before.raised:
        assert difference(before.results, after.results) is None


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("out = out - 1.0 / k", "ZeroDivisionError"),
        ("out = out - 1.0 / (k - 1)", "ZeroDivisionError"),
        ("out = out + 2 ** k", "wraps around"),
        ("out = out + (1 << k)", "wraps around"),
        ("out = out + torch.tensor(k / 2)", "float64"),
        ("out = out + helper(k)", "`helper` is given"),
        ("out = [k]", "kept as a Python number"),
        ("return out + x[k], k", "kept as a Python number"),
        ("total = k; self_like.total = total", "kept as a Python number"),
        ("out = out + len(f'{k!r}')", "without its numpy type"),
        ("out = out + (unknown * k)", "meets a Python number"),
    ],
)
def test_range_is_unsafe_where_the_type_shows(body: str, change: str, tmp_path: Path) -> None:
    code = _loop("for k in np.arange(3):", body) + "\n\ndef helper(k):\n    return k\n"
    config = Config(root=tmp_path, select=LOOPS, compiled=("*:f",))
    results = check_files([_write(tmp_path, code)], config).results
    assert [r.diagnostic.fixable for r in results] == [UNSAFE]
    repair = results[0].repair
    assert repair is not None
    assert change in repair.changes


@pytest.mark.parametrize(
    ("head", "body", "reason"),
    [
        ("for k in np.arange(3, dtype=np.int8):", "out = out + x[k]", "no `dtype=`"),
        ("for k in np.arange(0, 1, 0.5):", "out = out + k", "is a float"),
        (
            "for k in np.array([0, 40000]):",
            "out = out + x[k]",
            "only a direct loop over `np.arange`",
        ),
        ("for k in np.arange(3):", "k += 1; out = out + x[k]", "also assigned elsewhere"),
        ("for k in np.arange(3):", "out = out + x[k.item()]", "numpy scalars"),
        (
            "for k in np.arange(3):",
            "out = out + x[k] * isinstance(k, int)",
            "asks for the number's type",
        ),
    ],
)
def test_range_is_declined(head: str, body: str, reason: str, tmp_path: Path) -> None:
    found = _one(tmp_path, _loop(head, body), *LOOPS)
    assert found.declined is not None
    assert reason in found.declined.reason


def test_a_name_of_the_file_that_hides_range_declines_the_fix(tmp_path: Path) -> None:
    code = "range = list\n\n" + _loop("for k in np.arange(3):", "out = out + x[k]")
    found = _one(tmp_path, code, *LOOPS)
    assert found.declined is not None
    assert "`range` means something else" in found.declined.reason


def test_loops_that_share_a_counting_variable_are_fixed_together(tmp_path: Path) -> None:
    code = _loop("for k in np.arange(3):", "out = out + x[k]")
    code = code.replace(
        "    return", "    for k in np.arange(2):\n        out = out * k\n    return"
    )
    assert [d.fixable for d in _findings(tmp_path, code, *LOOPS)] == [SAFE, SAFE]


@pytest.mark.parametrize(
    ("expression", "fixable"),
    [
        ("x.view(int(np.prod(x.shape)))", SAFE),
        ("x.view(np.prod((x.shape[0], x.shape[1])))", SAFE),
        ("x.view(np.prod(x.shape))", UNSAFE),
        ("x[: np.max((x.shape[0], 2))]", SAFE),
        ("x[: np.sum((1, x.shape[0]))]", SAFE),
        ("[x[i] for i in range(np.prod((2, 2)))][0]", SAFE),
        ("x * 2 if np.sqrt(x.shape[0]) > 1 else x", SAFE),
        ("x * 2 if np.log2(x.shape[0]) > 1 else x", UNSAFE),
        ("x.repeat(int(abs((np.log2(x.shape[0]) + 1) / 2)), 1)", UNSAFE),
        ("x.view(int(np.prod(x.shape, axis=0)))", None),
    ],
)
def test_numbers_that_python_needs(
    expression: str, fixable: Applicability | None, tmp_path: Path
) -> None:
    assert (
        _one(tmp_path, f"def f(x: torch.Tensor):\n    return {expression}\n", "TCL142").fixable
        is fixable
    )


@pytest.mark.parametrize(
    "expression",
    [
        "x / np.sqrt(x.shape[0])",
        "x[: int(np.sqrt(x.shape[0]))]",
        "x * np.prod(x.shape)",
        "x.clamp(max=np.prod((2, 3)))",
        "np.sqrt(x)",
        "np.prod(x.numpy())",
    ],
)
def test_numbers_that_stay_in_the_graph(expression: str, tmp_path: Path) -> None:
    assert (
        _findings(tmp_path, f"def f(x: torch.Tensor):\n    return {expression}\n", "TCL142") == []
    )


def test_math_is_imported_where_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    body = "def f(x: torch.Tensor):\n    return x.view(int(np.prod(x.shape)))\n"
    path.write_text("import numpy as np\nimport torch\n\n\n" + body, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL142",), compiled=("*:f",))
    (fixed,) = fix_files([path], config).changed
    assert "import math\n" in fixed.after
    assert "math.prod(x.shape)" in fixed.after


@pytest.mark.parametrize(
    ("index", "fixable"),
    [
        ("range(p.shape[0]), t", SAFE),
        ("list(range(p.size(0))), t", SAFE),
        ("np.arange(len(t)), t", SAFE),
        ("range(2)", SAFE),
        ("range(n), t", SAFE),
        ("range(1, n), t[1:]", UNSAFE),
        ("range(n - 1), t[1:]", UNSAFE),
    ],
)
def test_ranges_as_indices(index: str, fixable: Applicability, tmp_path: Path) -> None:
    code = f"def f(p, t):\n    n, m = p.shape\n    return p[{index}].sum()\n"
    assert _one(tmp_path, code, "TCL320").fixable is fixable


def test_a_stored_range_is_fixed_like_a_loaded_one(tmp_path: Path) -> None:
    code = "def f(p, t):\n    p[range(p.shape[0]), t] = 0.0\n    return p\n"
    assert _one(tmp_path, code, "TCL320").fixable is SAFE
