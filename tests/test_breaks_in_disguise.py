"""Breaks in unusual spelling are told; their like that Dynamo traces are not.

All programs were compiled on torch 2.13 with ``backend="eager"``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tclint.lint.rule import PRELUDE

MORE = "import collections\nimport functools\nimport itertools\nimport operator\n\n\n"
BREAKING = {
    "truth": ("return x * 2 if operator.truth(x.sum() > 0) else x", "TCL102"),
    "not_": ("return x * operator.not_(x.sum() > 0)", "TCL160"),
    "index": ("return x * operator.index(x.sum().long())", "TCL106"),
    "contains": ("return x * 2 if operator.contains(x, 1) else x", "TCL102"),
    "in numbers": ("return x * 2 if x[0] in [1.0, 3.0] else x", "TCL164"),
    "position": ("return x * [1.0, 2.0].index(x[0])", "TCL164"),
    "compared": ("return x * 2 if operator.gt(x.sum(), 0) else x", "TCL160"),
    "item of": ("return x * 2 if operator.itemgetter(0)(x) else x", "TCL160"),
    "attribute": ("return x * operator.attrgetter('item')(x.sum())()", "TCL101"),
    "method": ("return x * operator.methodcaller('item')(x.sum())", "TCL106"),
    "dunder": ("return x * 2 if x.sum().__bool__() else x", "TCL102"),
    "mapped": ("return x * sum(map(float, [x.sum(), x.mean()]))", "TCL106"),
    "mapped method": ("return x * list(map(torch.Tensor.item, [x.sum()]))[0]", "TCL106"),
    "filtered": ("return x * len(list(filter(None, [x.sum()])))", "TCL106"),
    "filtered by": ("return x * len(list(filter(lambda t: t > 0, [x.sum()])))", "TCL106"),
    "partial": ("return x * 2 if functools.partial(torch.sum, dim=0)(x) else x", "TCL160"),
    "chained": ("return [t for t in itertools.chain([x.sum()], [x]) if t > 0]", "TCL160"),
    "queue": (
        "q = collections.deque()\n    q.append(x.sum())\n    return x if q.pop() else 1", "TCL160",
    ),
    "default": ("d = {}\n    return x if d.setdefault('a', x.sum()) > 0 else x * 2", "TCL160"),
    "power": ("return x * 2 if pow(x.sum(), 2) > 0 else x", "TCL160"),
    "merged": ("return x if ({'a': 1} | {'b': x.sum()})['b'] > 0 else x * 2", "TCL160"),
    "part of a case": (
        "match (x, 1):\n        case (t, 1):\n            x = t.item()\n    return x", "TCL101",
    ),
    "text of a list": ("return x * len(str([x.sum()]))", "TCL104"),
    "text by name": ("return x * len('{a}'.format(a=x.sum()))", "TCL104"),
    "text by type": ("return x * len(str.format('{}', x.sum()))", "TCL104"),
    "text of a dict": ("return x * len('%(a)s' % {'a': x.sum()})", "TCL104"),
    "ascii": ("return x * len(ascii(x))", "TCL104"),
    "setattr": ("y = x + 1\n    setattr(y, 'data', x * 3)\n    return y", "TCL184"),
    "setattr of gradients": (
        "y = x + 1\n    setattr(y, 'requires_grad', True)\n    return y", "TCL183",
    ),
    "object's setattr": ("object.__setattr__(x, 'k', 1)\n    return x", "TCL180"),
    "descriptor": ("y = x + 1\n    torch.Tensor.data.__set__(y, x)\n    return y", "TCL180"),
    "swapped": (
        "y = x + 1\n    torch.utils.swap_tensors(y, torch.zeros(4))\n    return y", "TCL180",
    ),
    "asserted": ("a = np.array([1, 2])\n    assert a.sum().item() > 0\n    return x", "TCL191"),
    "compiled case": (
        """match torch.compiler.is_compiling():
        case True:
            return x * x.sum().item()
    return x""",
        "TCL101",
    ),
    "usual dtype": (
        "return x * 2 if x.dtype == torch.float32 and x.isnan().any() else x", "TCL160",
    ),
}  # fmt: skip
TRACED = {
    "not_": "return x * operator.not_(x.shape[0] > 0)",
    "contains": "return x * 2 if operator.contains([1, 3], x.shape[0]) else x",
    "in a set": "return x * 2 if x[0] in {1.0, 3.0} else x",
    "none of it": "return x * 2 if x in [None, 'a'] else x",
    "mapped": "return x * len(','.join(map(str, x.shape)))",
    "reduced": "return x * functools.reduce(operator.add, [x.sum(), x.mean()])",
    "setattr of its own": "y = x + 1\n    setattr(y, 'k', 3)\n    return y * 2",
    "setattr of an input": "setattr(x, 'data', x * 3)\n    return x",
    "another case": (
        "match torch.compiler.is_compiling():\n"
        "        case False:\n            print(x.sum())\n    return x"
    ),
    "tried": (
        "try:\n        compiling = torch.compiler.is_compiling()\n"
        "    except AttributeError:\n        compiling = False\n"
        "    if not compiling:\n        print(x.sum())\n    return x"
    ),
}


def _breaks(folder: Path, text: str) -> set[str]:
    path = folder / "program.py"
    path.write_text(PRELUDE + MORE + text, encoding="utf-8")
    results = check_files([path], Config(root=folder, compiled=("*:f",))).results
    found = [result.diagnostic for result in results]
    return {one.code for one in found if one.effect is Effect.GRAPH_BREAK}


@pytest.mark.parametrize(("body", "code"), BREAKING.values(), ids=BREAKING.keys())
def test_a_break_is_told_however_it_is_spelt(tmp_path: Path, body: str, code: str) -> None:
    assert _breaks(tmp_path, f"def f(x: torch.Tensor):\n    {body}\n") == {code}


@pytest.mark.parametrize("body", TRACED.values(), ids=TRACED.keys())
def test_what_dynamo_traces_is_no_break(tmp_path: Path, body: str) -> None:
    assert _breaks(tmp_path, f"def f(x: torch.Tensor):\n    {body}\n") == set()


STARRED = [
    "def f(*xs):\n    x, mask = xs\n    return mask + read(x)\n",
    "def f(*xs):\n    return xs[1] + xs[0].sum().item()\n",
    "def f(*xs):\n    return read(*xs)\n",
    "def f(*xs):\n    first, *rest = xs\n    return rest[0] * read(first)\n",
    "def f(**kwargs):\n    return read(kwargs['x'])\n",
]


@pytest.mark.parametrize("text", STARRED)
def test_what_a_star_brings_is_as_certain_as_a_parameter(tmp_path: Path, text: str) -> None:
    helper = "def read(t):\n    return t.sum().item()\n\n\n"
    assert _breaks(tmp_path, helper + text) == {"TCL101"}


def test_numbers_behind_a_star_are_no_tensors(tmp_path: Path) -> None:
    text = "def f(*args):\n    x, n = args\n    return x * 2 if n > 2 else x\n"
    assert _breaks(tmp_path, text) == set()
