"""Numbers that numpy makes, where Python needs them: what tclint says, and what Dynamo does."""

from __future__ import annotations

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files

from .dynamo import breaks, skip_before
from .samples import one_in

BEFORE = """\
import math

import numpy as np
import torch
import torch.nn.functional as F

G = np.array([1, 4])[1]
H = np.prod([2, 2])


def width():
    return np.prod([2, 2])


def cut(x, n):
    return x[:n]


def stored(x, n):
    y = x.clone()
    y[:n] = 0
    return y


"""
COMPUTED = ("np.prod([2, 2])", "np.argmax([1, 2, 1, 3, 5])", "np.count_nonzero([1, 2, 3, 4])")
CONSTANTS = ("np.int64(4)", "np.abs(-4)", "np.minimum(5, 4)", "np.floor(4.5).astype(int)")
FLOATS = ("np.float32(4)", "np.log2(16)", "np.rint(4.2)")
BEFOREHAND = ("G", "H")
CONVERSIONS = (
    ("'int'", True),
    ("int", True),
    ("dtype='int64'", True),
    ("np.bool_", True),
    ("'float32'", False),
)
ALWAYS = (
    "x + 1 if n > 3 else x",
    "x + 1 if n else x",
    "x + (not n)",
    "x + 1 if n in (4, 5) else x",
    "x * len(str(n))",
)
COUNTED = ("[x + i for i in range(n)]", "x + divmod(n, 3)[0]")
CONVERTED = ("x[:n]", "x * float(n)", "x[: int(n)]", "x * n.item()", "[x, x, x, x, x + 1][n]")
CONVERTED_MORE = ("stored(x, n)", "x[: max(n, 1)]", "x * len('abcdefg'[:n])")
SIZES = (
    "x[n]",
    "torch.zeros(n) + 1",
    "x.view(n, -1)",
    "x.narrow(0, 0, n)",
    "torch.topk(x, n)[0]",
    "F.pad(x, (0, n))",
    "x * math.sqrt(n)",
    "torch.from_numpy(np.zeros(n)) + x[:4]",
    "x.new_full((2,), n)",
)
SHAPES = (
    "torch.from_numpy(np.zeros((2, n))).sum() + x",
    "torch.from_numpy(np.ones(shape=[n, n])).sum() + x",
    "torch.from_numpy(np.full((2, 3), n)).sum() + x",
    "torch.from_numpy(np.empty([n] * 2)).shape[0] + x",
    "torch.from_numpy(np.eye(N=3, M=n)).sum() + x",
    "torch.from_numpy(np.reshape(np.ones(4), (1, n))).sum() + x",
    "torch.from_numpy(np.ones(4).reshape(1, n)).sum() + x",
    "torch.from_numpy(np.ones(4).reshape((n, -1))).sum() + x",
    "torch.from_numpy(np.broadcast_to(np.ones(1), (n,)).copy()).sum() + x",
    "torch.from_numpy(np.roll(np.ones(4), n)).sum() + x",
    "torch.from_numpy(np.indices((2, n))).sum() + x",
)
NEVER = (
    "torch.full((8,), n) + x",
    "torch.clamp(x, max=n)",
    "torch.tensor(n) + x",
    "x ** n",
    "x + (n == 4)",
    "x if n is None else x + 1",
    "[x] * int(x.dim()), n",
)
HANDED_ON = (
    "return x[: width()]",
    "return cut(x, np.prod([2, 2]))",
    "ns = [np.prod([2, 2]), 1]\n    return x[: ns[0]]",
    "a, b = np.prod([2, 2]), 1\n    return x[b:a]",
    'd = {"n": np.prod([2, 2])}\n    return x[: d["n"]]',
    "n = np.prod([2, 2])\n    def g():\n        return x[:n]\n    return g()",
    "assert np.prod([2, 2]) > 3 and x.dim() == 1\n    return x + 1",
    "assert not np.prod([2, 2]) > 5\n    return x + 1",
    "return x * np.size([1, 2])",
    "return x * np.ndim(np.zeros((2, 3)))",
)


def _texts() -> list[tuple[str, bool]]:
    """Programs, and whether they break."""
    groups = (
        (COMPUTED, ALWAYS + COUNTED + CONVERTED + CONVERTED_MORE + SIZES + SHAPES, True),
        (COMPUTED, NEVER, False),
        (CONSTANTS, ALWAYS + COUNTED + CONVERTED + CONVERTED_MORE, True),
        (CONSTANTS, SIZES[:-1] + SHAPES + NEVER, False),
        (FLOATS, ALWAYS, True),
        (FLOATS, ("x * float(n)", "x[: int(n)]", "x * n.item()", *NEVER), False),
        (BEFOREHAND, (*ALWAYS, *COUNTED, "x[: n // 2 + 1]", "x[-n:]"), True),
        (BEFOREHAND, ("x[:n]", "x[n]", "torch.zeros(n) + 1", *NEVER), False),
    )
    made = [
        (f"n = {number}\n    return {use}", breaking)
        for numbers, uses, breaking in groups
        for place, number in enumerate(numbers)
        # All uses of the first number; of its like every third.
        for use in (uses if place == 0 else uses[place::3])
    ]
    whole = [("assert np.prod([2, 2]) == 4\n    return x + 1", False)]
    converted = [
        (f"return x * np.ceil(np.log1p(x.size(0))).astype({dtype}).item()", breaking)
        for dtype, breaking in CONVERSIONS
    ]
    return made + [(text, True) for text in HANDED_ON] + converted + whole


_TEXTS = _texts()


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The rules that report a graph break in each program."""
    folder = tmp_path_factory.mktemp("numbers")
    paths = [folder / f"p{number}.py" for number in range(len(_TEXTS))]
    for path, (text, _) in zip(paths, _TEXTS, strict=True):
        path.write_text(f"{BEFORE}def f(x):\n    {text}\n")
    results = check_files(paths, Config(root=folder, compiled=("*:f",))).results
    told = [one.diagnostic for one in results if one.diagnostic.effect is Effect.GRAPH_BREAK]
    return [[one.code for one in told if one.path == path] for path in paths]


@pytest.mark.parametrize("place", one_in(6, range(len(_TEXTS))), ids=[text for text, _ in _TEXTS])
def test_a_number_of_numpy_is_reported_where_it_breaks_the_graph(
    place: int, reported: list[list[str]]
) -> None:
    torch = pytest.importorskip("torch")
    skip_before((2, 13))
    text, breaking = _TEXTS[place]
    assert bool(reported[place]) == breaking
    assert len(reported[place]) <= 1
    program = f"{BEFORE}def f(x):\n    {text}\n"
    try:
        broken = breaks(program, torch.arange(1.0, 9.0))
    except TypeError:  # what is left of the frame hands torch a tensor for a number
        broken = True
    assert broken == breaking
