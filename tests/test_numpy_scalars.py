"""A counter of numpy's that becomes one of Python's: nobody may see the difference."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from .proof.equal import difference
from .proof.fixing import fixed
from .proof.run import run_eager
from .samples import one_in

_IMPORTS = "import json, math\nimport numpy as np\nimport torch\n"
_USES = [
    "out = out * (k > 1)",
    "out = out + (k > 1)",
    "out += k > 1",
    "out = out + ((k > 0) + (k > 1))",
    "out = out + ((k > 0) & (k > 1))",
    "out = out + ~(k > 1)",
    "out = out * (not k > 1)",
    "out = out[k > 5].sum() + out",
    "out = out.sum(0, keepdim=k > 5) + out",
    "out = torch.full((3,), k > 1) + out",
    "print([k])",
    "print((k, 1))",
    "print({k: 1})",
    "print([k > 1])",
    "print(k, k > 1)",
    "print(f'{k} {k > 1} {k!r}')",
    "print(str([k]))",
    "print('%d' % k, '%s' % k, '%r' % k)",
    "print('{} {!r}'.format(k, k))",
    "kept = k or 3; print([kept])",
    "kept = k and 3; print(type(kept))",
    "print(type(k or 3))",
    "print((k or 3) is k)",
    "print(repr(round(k / 2, 1)))",
    "print([round(k / 2, 1)])",
    "print([math.prod([k, 2])])",
    "print(slice(k, 3))",
    "print([abs(k - 1)])",
    "print([max(k, 1)])",
    "print(repr(k * 4611686018427387904))",
    "out = out + k * 4611686018427387904",
    "print(repr(k / 2))",
    "print(repr(k ** 2))",
    "print(repr(2 ** -k))",
    "print(repr(1 / (k + 1)))",
    "print(json.dumps([1]) if k else '')",
    "seen = {k: 1}; print(list(seen))",
    "seen = [k]; print(seen)",
    "print(isinstance(k, int))",
    "print(k.dtype if hasattr(k, 'dtype') else '')",
    "print([*[k]])",
    "print([k if x.dim() else 0])",
    "print([i for i in [k]])",
    "print(sum([k]))",
    "print([sum([k])])",
    "print(divmod(k, 2))",
    "print(pow(k, 2), [pow(k, 2)])",
    "out = out + float(k > 1)",
    "out = out + int(k > 1)",
    "print(bool(k > 1), [bool(k)])",
    "print([int(k), float(k), complex(k)])",
    "print([int(k / 2)])",
    "print([k // 2, k % 2])",
    "print([k << 1])",
    "print(k == 1, [k == 1])",
    "print([k in (0, 1)])",
    "print([0 < k < 2])",
    "print([[1, 2, 3][k]])",
    "print(['abc'[k]])",
    "print({0: 'a', 1: 'b', 2: 'c'}[k])",
    "out = out + x[k]",
    "out = out + torch.tensor(k)",
    "out = out + torch.tensor([k, 1])",
    "out = out + torch.tensor(k / 2)",
    "out = out + torch.full((3,), k)",
    "out = out + torch.full((3,), k / 2)",
    "out = out + np.ones(3)[k]",
    "print(np.array([k]).dtype, np.float32(1) * k)",
    "print([np.float32(1) * k])",
    "print([np.int8(1) + k])",
    "print(hash(k), [hash(k)])",
    "def inner(j=k):\n            return j\n        print([inner()])",
    "print((lambda: [k])())",
    "out.k = k; print([out.k])",
]


def _shown(text: str) -> list[str]:
    """What was printed, without warnings: each is given once in a process."""
    return [line for line in text.splitlines() if "Warning" not in line]


@pytest.mark.parametrize("use", one_in(6, _USES))
@pytest.mark.parametrize("annotation", [": torch.Tensor", ""])
def test_a_counter_of_python_does_what_one_of_numpy_did(
    use: str, annotation: str, tmp_path: Path
) -> None:
    code = (
        f"@torch.compile\ndef f(x{annotation}):\n    out = x\n"
        f"    for k in np.arange(3):\n        {use}\n    return out\n"
    )
    text = fixed(_IMPORTS + code, tmp_path)
    numbers = "torch.arange(3).to(torch.bool), torch.arange(3), torch.ones(3), torch.ones(3).half()"
    inputs = f"[(t,) for t in ({numbers}, *([] if '{annotation}' else [2, 1.5, True]))]"
    before, after = (run_eager("import json\n" + c, inputs) for c in (code, text))
    assert difference(before.results, after.results) is None, text
    assert _shown(before.text) == _shown(after.text), text
