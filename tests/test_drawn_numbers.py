"""Numbers that `random` draws, where Python needs them: what tclint says, and what Dynamo does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files

from .dynamo import HERE, breaks, loaded, skip_before

BEFORE = """\
import random

import torch
import torch.nn.functional as F
from torch import nn

R = random.Random(0)
N = random.randint(1, 1)
LABELS = frozenset((2, 3))
NAMES = {1: "one", 2: "two"}


def shifted(x, n):
    return torch.roll(x, n)


"""
BREAKING = (
    "x[n]",
    "x[:, n]",
    "x[n:]",
    "x[n : n + 1]",
    "x[[n]]",
    "x[[random.randint(0, 1) for _ in range(2)]]",
    "x * (n + 1)",
    "x * (1 - n)",
    "x * (n / 2)",
    "x * -n",
    "x * (n + m)",
    "x * int(n)",
    "x * round(n)",
    "x * (n % 2)",
    "x * divmod(n, 2)[0]",
    "x.sum(n)",
    "x.transpose(0, n)",
    "torch.roll(x, n, 0)",
    "shifted(x, n)",
    "torch.zeros(n)",
    "torch.arange(n)",
    "x.repeat(n, 1)",
    "F.pad(x, (n, n))",
    "F.dropout(x, n / 8)",
    "F.interpolate(x[None, None], size=(n, n))",
    "[x, x + 1][n]",
    "{0: x, 1: x + 1}[n]",
    "torch.stack([x] * n)",
    "x + len(str(n))",
    "x + len(f'{n}')",
    "[x + i for i in range(n)]",
    "x + (n in (1, 2))",
    "x.sum(max(n, 1))",
    "F.interpolate(x[None, None], scale_factor=n)",
    "F.interpolate(x[None, None], None, (n, 2))",
    "torch.normal(n, 1.0, (2, 2))",
    "torch.normal(0.0, n, size=(2, 2))",
    "nn.init.normal_(x.clone(), std=n)",
    "nn.init.uniform_(x.clone(), 0, n)",
    "x.repeat_interleave(n, dim=0)",
    "torch.repeat_interleave(x, n, 0)",
    "x + sum([n, 1])",
    "x + sum(random.randint(0, 1) for _ in range(2))",
    "sum([n, x])",
    "x + sorted([n, 2])[0]",
    "x + n.bit_length()",
)
WHOLE = (
    "x * n",
    "n - x",
    "x // n",
    "n**x",
    "x > n",
    "x.add(n)",
    "x.clamp(max=n)",
    "torch.full((2,), n)",
    "torch.tensor([n, 1])",
    "torch.where(x > 0, x, n)",
    "x.masked_fill(x > 0, n)",
    "x * abs(n)",
    "x * max(n, 1) + max(n, m)",
    "(x, n)",
    "x * n + n",
    "x[N:]",
    "F.interpolate(x[None, None], scale_factor=N + 1)",
    "torch.normal(x, n * torch.ones(2, 2))",
    "sum([x, n])",
    "sum([x * n, x])",
    "x.repeat_interleave(N + 1, 0)",
    "x + sorted([2, 1], key=lambda v: -v)[0]",
)
DECIDING = ("x if n > 1 else x + 1", "x if n else x + 1", "x + 1 if n > 0 and m > 0 else x")
OTHERS = (
    ("return x[R.randint(0, 1)]", "TCL143"),
    ("return x if R.random() < 0.5 else x + 1", "TCL161"),
    ("return x * R.random()", ""),
    ("n = random.randrange(2)\n    y = x[n]\n    return y + x.sum(n)", "TCL143"),
    ("n = random.randrange(1)\n    n += 1\n    return x.sum(n)", "TCL143"),
    ("n = random.randint(0, 1)\n    if n > 0:\n        x = x + 1\n    return x[n]", "TCL161"),
    ("return x * random.uniform(0, 1) * 2", ""),
    ("return x[int(random.uniform(0, 2))]", "TCL143"),
)


def _drawn(use: str) -> str:
    return f"n = random.randint(1, 1)\n    m = random.randint(1, 1)\n    return {use}"


_TEXTS = (
    *((_drawn(use), "TCL143") for use in BREAKING),
    *((_drawn(use), "TCL161") for use in DECIDING),
    *((_drawn(use), "") for use in WHOLE),
    *OTHERS,
)


def _told(folder: Path, text: str, settings: Settings) -> list[str]:
    path = folder / "program.py"
    path.write_text(f"{BEFORE}def f(x):\n    {text}\n")
    results = check_files([path], Config(root=folder, compiled=("*:f",), settings=settings)).results
    told = [one.diagnostic for one in results if one.diagnostic.effect is Effect.GRAPH_BREAK]
    return sorted({one.code for one in told})


@pytest.mark.parametrize(("text", "code"), _TEXTS, ids=[text for text, _ in _TEXTS])
def test_a_drawn_number_is_reported_where_it_breaks_the_graph(
    text: str, code: str, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    skip_before((2, 12))
    assert _told(tmp_path, text, HERE) == ([code] if code else [])
    program = f"{BEFORE}def f(x):\n    {text}\n"
    assert breaks(program, torch.ones(2, 2)) == bool(code)


LOOKED_UP = (
    "x * (n in {1, 2})", "x * (n in {1: 2})", "x * (n not in {3})", "x * {1: 5}.get(n, 0)",
    "x if n in {1: 2} else x + 1", "x * (n in frozenset((1, 2)))", "x * (n in {1: 2}.keys())",
    "x * (n in frozenset(range(2)))", "x * (n not in LABELS)", "x * (n in NAMES.keys())",
    "x * ((n, 1) in {(1, 1)})", "x * ((n, 1) in frozenset(((1, 1),)))",
)  # fmt: skip


def test_a_drawn_number_is_like_no_other_key_of_a_dict(tmp_path: Path) -> None:
    """Nothing breaks where it is stored: the dict gets a key more each time."""
    torch = pytest.importorskip("torch")
    skip_before((2, 12))
    path = tmp_path / "program.py"
    store = "n = random.randint(1, 1)\n    d = {1: 2}\n    d[n] = 5\n    return x * 2 + len(d)"
    path.write_text(f"{BEFORE}def f(x):\n    {store}\n")
    results = check_files([path], Config(root=tmp_path, compiled=("*:f",), settings=HERE)).results
    told = [(one.diagnostic.code, one.diagnostic.effect) for one in results]
    assert told == [("TCL143", Effect.INVALID)]
    function, given = loaded(path.read_text()), torch.ones(2, 2)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert not torch.equal(function(given), compiled(given))


@pytest.mark.parametrize("use", LOOKED_UP)
def test_a_drawn_number_is_never_found_in_a_set_or_dict(use: str, tmp_path: Path) -> None:
    """Compiled code does not break there: it gives another answer."""
    torch = pytest.importorskip("torch")
    skip_before((2, 12))
    path, text = tmp_path / "program.py", f"{BEFORE}def f(x):\n    {_drawn(use)}\n"
    path.write_text(text)
    results = check_files([path], Config(root=tmp_path, compiled=("*:f",), settings=HERE)).results
    told = [(one.diagnostic.code, one.diagnostic.effect) for one in results]
    assert told == [("TCL143", Effect.INVALID)]
    function, given = loaded(text), torch.ones(2, 2)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    same = torch.equal(function(given), compiled(given))
    assert same is ("not in" in use)


@pytest.mark.parametrize(
    ("release", "whole"), [((2, 11), False), ((2, 13), False), ((2, 14), True)]
)
def test_the_builtin_pow_of_a_drawn_number_is_traced_since_2_14(
    release: tuple[int, int], whole: bool, tmp_path: Path
) -> None:
    told = _told(tmp_path, _drawn("x + pow(n, 2)"), Settings(target_torch=release))
    assert told == ([] if whole else ["TCL143"])


@pytest.mark.parametrize(
    ("release", "codes"),
    [((2, 11), ["TCL180"]), ((2, 13), ["TCL180"]), ((2, 14), ["TCL161"]), ((2, 15), ["TCL161"])],
)
def test_a_layer_dropped_by_random_is_told_on_every_release(
    release: tuple[int, int], codes: list[str], tmp_path: Path
) -> None:
    """Since 2.14 the draw is traced, and the branch breaks the graph instead."""
    text = "if random.random() < 0.5:\n        x = x + 1\n    return x"
    assert _told(tmp_path, text, Settings(target_torch=release)) == codes


def test_a_size_drawn_by_random_is_told_on_every_release(tmp_path: Path) -> None:
    text = "n = random.random()\n    return x.sum(int(n * 2))"
    assert _told(tmp_path, text, Settings(target_torch=(2, 13))) == ["TCL180"]
    assert _told(tmp_path, text, Settings(target_torch=(2, 14))) == ["TCL143"]
