"""`np.lcm` and `np.gcd` of numbers: Python computes the same, and Dynamo knows the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

MULTIPLES = {
    "a multiple": ("np.lcm(a, b)", "math.lcm(a, b)"),
    "a divisor": ("np.gcd(a, 6)", "math.gcd(a, 6)"),
    "more": ("np.lcm(a, b) + 1", "math.lcm(a, b) + 1"),
}
KEPT_BY_NUMPY = {
    "sizes, which may vary": "np.gcd(x.shape[0], 4)",
    "an array": "np.lcm(np.arange(3), 4)[1]",
    "a list": "np.lcm([2, 3], 4)[0]",
    "a dtype": "np.lcm(a, b, dtype=np.int32)",
    "a reduction": "np.lcm.reduce([a, b])",
}


@pytest.mark.parametrize("name", MULTIPLES)
def test_multiples_and_divisors_are_computed_by_python(name: str, tmp_path: Path) -> None:
    old, new = MULTIPLES[name]
    code = multiple(old)
    safe, unsafe = (fixed_in(code, tmp_path, unsafe=unsafe) for unsafe in (False, True))
    assert safe == code, "numpy takes arrays, too"
    assert f"n = {new}" in unsafe
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    before, after = run_of(code), run_of(unsafe)
    torch._dynamo.reset()
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    for rows in (3, 8):
        x = torch.ones(rows, 6)
        assert torch.equal(before(x), after(x))
        assert torch.equal(before(x), compiled(x))


@pytest.mark.parametrize("why", KEPT_BY_NUMPY)
def test_what_python_does_not_compute_alike_is_left_to_numpy(why: str, tmp_path: Path) -> None:
    code = multiple(KEPT_BY_NUMPY[why])
    assert "math" not in fixed_in(code, tmp_path, unsafe=True)


def multiple(value: str) -> str:
    head = "import numpy as np\nimport torch\n\n\n"
    body = f"def f(x: torch.Tensor, a: int = 4, b: int = 6):\n    n = {value}\n"
    return f"{head}{body}    return x * 2 if x.shape[0] % n else x\n\n\nrun = torch.compile(f)\n"


def fixed_in(code: str, folder: Path, *, unsafe: bool) -> str:
    path = folder / "program.py"
    path.write_text(code)
    config = Config(root=folder, select=("TCL142",), weak=True)
    changed = fix_files([path], config, unsafe=unsafe).changed
    return changed[0].after if changed else code


def run_of(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["f"]
