"""A number that the project's own functions are given: may it be a tensor instead?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from .proof.equal import difference
from .proof.fixing import fixed
from .proof.run import run_eager

_PRELUDE = """
import functools
import math
import torch

KEPT = []
"""
_HELPERS = {
    "divides": "def helper(x, n):\n    return x / n",
    "multiplies": "def helper(x, n):\n    return x * n",
    "computes first": "def helper(x, n):\n    return x * (n + 1) - n / 3",
    "hands on": (
        "def inner(x, n):\n    return x - n\n\ndef helper(x, n):\n    return inner(x, n) * 2"
    ),
    "compares": "def helper(x, n):\n    return (x > n).float()",
    "compares it alone": "def helper(x, n):\n    return x if n > 2 else x * 2",
    "tests it": "def helper(x, n):\n    if n:\n        return x\n    return x * 2",
    "asks for None": "def helper(x, n=None):\n    return x if n is None else x * n",
    "asks for the type": "def helper(x, n):\n    return x * 2 if isinstance(n, float) else x",
    "asks for the int": "def helper(x, n):\n    return x * 2 if isinstance(n, int) else x",
    "returns": "def helper(x, n):\n    return n",
    "returns both": "def helper(x, n):\n    return x, n",
    "returns what it computes": "def helper(x, n):\n    return n * 2",
    "keeps": "def helper(x, n):\n    KEPT.append(n)\n    return x",
    "keeps by default": "def helper(x, n, into=KEPT):\n    into.append(n)\n    return x",
    "changes": "def helper(x, n):\n    n += 1\n    return x * n",
    "changes twice": "def helper(x, n):\n    m = n\n    m += 1\n    return x * m * n",
    "rebinds": "def helper(x, n):\n    n = n + 1\n    return x * n",
    "writes by it": "def helper(x, n):\n    x.mul_(n)\n    return x",
    "fills": "def helper(x, n):\n    return torch.full((2,), n)",
    "makes a tensor": "def helper(x, n):\n    return torch.tensor(n)",
    "makes one alike": "def helper(x, n):\n    return x.new_tensor([n])",
    "clamps": "def helper(x, n):\n    return x.clamp(min=n)",
    "clamps between": "def helper(x, n):\n    return x.clamp(0, n)",
    "powers": "def helper(x, n):\n    return x**n",
    "is the base": "def helper(x, n):\n    return n**x",
    "rounds": "def helper(x, n):\n    return x * round(n)",
    "takes the root": "def helper(x, n):\n    return x * math.sqrt(abs(n))",
    "takes the larger": "def helper(x, n):\n    return x * max(n, 1.0)",
    "counts": "def helper(x, n):\n    return [x] * int(n)",
    "loops": "def helper(x, n):\n    for _ in range(int(n)):\n        x = x + 1\n    return x",
    "indexes": "def helper(x, n):\n    return x.reshape(-1)[int(n) % 2]",
    "slices": "def helper(x, n):\n    return x.reshape(-1)[: int(n)]",
    "looks up": "def helper(x, n):\n    return {1.0: 2}.get(n, x)",
    "prints": "def helper(x, n):\n    print(n)\n    return x",
    "formats": "def helper(x, n):\n    return x * len(f'{n}')",
    "hashes": "def helper(x, n):\n    return x * (hash(n) % 3)",
    "raises": (
        "def helper(x, n):\n    if x.shape[0] > 1:\n        raise ValueError(n)\n    return x"
    ),
    "is decorated": "@functools.lru_cache\ndef helper(x, n):\n    return x * n",
    "is a lambda": "helper = lambda x, n: x * n",
    "is a closure": "def helper(x, n):\n    def inner():\n        return x * n\n    return inner()",
    "is recursive": "def helper(x, n, k=2):\n    return x if k == 0 else helper(x, n, k - 1) * n",
    "is a generator": (
        "def each(x, n):\n    yield x * n\n\ndef helper(x, n):\n    return next(each(x, n))"
    ),
    "is a partial": (
        "def inner(n, x):\n    return x * n\n\nhelper = lambda x, n: functools.partial(inner, n)(x)"
    ),
    "takes stars": "def helper(x, *ns):\n    return x * ns[0]",
    "takes two stars": (
        "def inner(x, **ns):\n    return x * ns['n']\n\ndef helper(x, n):\n    return inner(x, n=n)"
    ),
    "is declared": "def helper(x, n: float):\n    return x * n",
    "is declared a tensor": "def helper(x, n: torch.Tensor):\n    return x * n",
    "under no_grad": "@torch.no_grad()\ndef helper(x, n):\n    return x * n",
    "under inference": (
        "def helper(x, n):\n    with torch.inference_mode():\n        return (x * n).sum()"
    ),
    "mixes": "def helper(x, n):\n    return torch.where(x > n, x, n)",
    "is truth": "def helper(x, n):\n    return x * (n and 2)",
    "swallows": (
        "def helper(x, n):\n    try:\n        return x * len([0] * n)\n    except TypeError:\n"
        "        return x"
    ),
    "joins": "def helper(x, n):\n    return torch.stack([x, x * n])",
    "numbers": "def helper(x, n):\n    return x * (n / 2 + 3 * n)",
    "is of integers": "def helper(x, n):\n    return x.long() * n",
    "is of halves": "def helper(x, n):\n    return x.half() + n",
    "is of doubles": "def helper(x, n):\n    return x.double() * n",
    "is of complex numbers": "def helper(x, n):\n    return x.to(torch.complex64) * n",
    "is of bools": "def helper(x, n):\n    return x.bool() * n",
}
_READS = {
    "a float": "x.float().sum().item()",
    "an int": "x.long().sum().item()",
    "a double": "x.double().sum().item()",
    "a bool": "(x.float().sum() > 1).item()",
}
_INPUTS = "[(torch.rand(4) * 2 + 1,), (torch.rand(2, 2) * 3,), (torch.tensor([2, 3]),)]"
_PAIRS = [(helper, "a float") for helper in _HELPERS] + [
    (helper, read)
    for helper in ("divides", "computes first", "is of integers", "is of bools", "numbers")
    for read in _READS
    if read != "a float"
]


@pytest.mark.parametrize(("helper", "read"), _PAIRS)
def test_a_helper_does_the_same_with_what_it_is_given(
    helper: str, read: str, tmp_path: Path
) -> None:
    code = f"""{_PRELUDE}
{_HELPERS[helper]}

@torch.compile
def f(x: torch.Tensor):
    y = x.float() * 2
    n = {_READS[read]}
    return helper(y, n)
"""
    text = fixed(code, tmp_path)
    before, after = run_eager(code, _INPUTS), run_eager(text, _INPUTS)
    assert difference(_plain(before), _plain(after)) is None, text


def _plain(outcome: Any) -> tuple[Any, ...]:
    return outcome.results, [type(e) for e in outcome.raised], outcome.state


@pytest.mark.parametrize("helper", ["multiplies", "hands on", "compares"])
def test_a_helper_that_only_computes_is_given_the_tensor(helper: str, tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
{_HELPERS[helper]}

@torch.compile
def f(x: torch.Tensor):
    n = x.float().sum().item()
    return helper(x.float(), n)
"""
    assert "n = x.float().sum().detach()\n" in fixed(code, tmp_path)


def test_a_helper_is_judged_by_all_that_it_is_called_with(tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
def helper(x, n):
    return x * n

@torch.compile
def f(x: torch.Tensor):
    n = x.double().sum().item()
    return helper(x.float(), n), helper(x.long(), 2)
"""
    text = fixed(code, tmp_path)
    before, after = run_eager(code, _INPUTS), run_eager(text, _INPUTS)
    assert difference(_plain(before), _plain(after)) is None, text


_KINDS = ("float", "half", "double", "bfloat16", "short", "byte", "int", "long")


@pytest.mark.parametrize("last", _KINDS)
def test_a_helper_that_is_called_in_many_ways_is_judged_by_each(last: str, tmp_path: Path) -> None:
    others = [kind for kind in _KINDS if kind != last]
    calls = "".join(f"    helper(x.{kind}(), 2)\n" for kind in others)
    code = f"""{_PRELUDE}
def helper(x, n):
    return x * n

@torch.compile
def f(x: torch.Tensor):
{calls}    n = x.double().sum().item()
    return helper(x.{last}(), n)
"""
    text = fixed(code, tmp_path)
    before, after = run_eager(code, _INPUTS), run_eager(text, _INPUTS)
    assert difference(_plain(before), _plain(after)) is None, text
