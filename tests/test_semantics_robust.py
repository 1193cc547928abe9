"""Whatever Python is written: no crash, no flood, no finding where no tensor is."""

from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.lint.engine import check_files
from tclint.semantics.interpreter import memory, run
from tests.semantics_probe import PRELUDE, events_of, put

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])


def findings(folder: Path, text: str, scope: str = "modules") -> list[str]:
    paths = put(folder, {"program.py": text})
    results = check_files(paths, Config(folder, scope=scope)).results
    return [f"{r.diagnostic.span.start.row} {r.diagnostic.code}" for r in results]


def plain_program(rows: int) -> str:
    """Tensor-free Python of every kind, as long as wanted."""
    part = '''
class Account{n}(dict):
    """An account."""
    rate = {n}
    def __init__(self, owner, balance=0, *entries, **extra):
        super().__init__()
        self.owner, self.balance = owner, balance
        self.entries = [entry for entry in entries if entry > {n}]
        self.index = {{key: value for key, value in extra.items()}}
    @property
    def total(self):
        return sum(self.entries) + self.balance
    def forward(self, amount: float, debug=False) -> float:
        for position, entry in enumerate(self.entries):
            if entry > amount or debug and not position:
                print(f"{{entry:.2f}} of {{amount}}")
                logger.info("%s", entry)
            while entry > 1:
                entry = entry / 2
                if int(entry) % 2:
                    continue
                break
            else:
                self.balance += float(entry)
        try:
            assert self.balance >= 0, f"overdrawn: {{self.balance}}"
            return max(self.total, amount) if self.total else min(amount, len(self.owner))
        except (ValueError, AssertionError) as error:
            raise RuntimeError(str(error)) from error
        finally:
            self.log = open("log", "a").write(str(amount))

def transfer{n}(source, target, amount, *, fee=lambda x: x * 0.01):
    with lock as held, other:
        if (cost := fee(amount)) is not None and held:
            source["balance"] -= amount + cost
            target["balance"] += amount
    match source:
        case {{"kind": "a", **rest}} if rest:
            return [item for item in rest.values() if item]
        case [first, *others]:
            return sorted(others, key=lambda item: item[0])[first:]
    return any(x == amount for x in (source, target))
'''
    head = "import logging\nlogger = logging.getLogger(__name__)\n"
    parts = rows // (part.count("\n") - 1) + 1
    return head + "".join(part.format(n=n) for n in range(parts))


def test_there_is_nothing_to_say_about_plain_python(tmp_path: Path) -> None:
    text = plain_program(5000)
    assert text.count("\n") >= 5000
    assert findings(tmp_path, text) == []


def forward(*body: str) -> str:
    lines = "".join(f"        {line}\n" for line in body)
    return f"{PRELUDE}class Net(nn.Module):\n    def forward(self, x: torch.Tensor):\n{lines}"


def nested(opening: str, inside: str, depth: int) -> str:
    blocks = "".join(" " * (n + 1) + opening.format(n=n) + "\n" for n in range(depth))
    return (
        f"{PRELUDE}@torch.compile\ndef f(x: torch.Tensor):\n{blocks}{' ' * (depth + 1)}{inside}\n"
    )


CHAIN = "".join(
    f"def f{n}(x, n):\n    return f{n + 1}(x, n * 2) + f{n + 1}(x + 1, n * 3)\n" for n in range(60)
)
EXTREME = {
    "an expression of 5,000 terms": forward("return " + " + ".join(["x"] * 5000)),
    "an expression of 900 terms": forward("return " + " + ".join(["x"] * 900)),
    "a chain of 800 calls": forward("return x" + ".relu()" * 800),
    "a chain of 800 attributes": forward("return x" + ".T" * 800),
    "800 signs": forward("return " + "-" * 800 + "x"),
    "800 negations": forward("return " + "not " * 800 + "x"),
    "80 nested calls": forward("return " + "abs(" * 80 + "x" + ")" * 80),
    "60 nested comprehensions": forward("return " + "[" * 60 + "x" + " for x in x]" * 60),
    "500 branches of one if": forward(
        "if x is None: pass", *(f"elif x.shape[0] == {n}: pass" for n in range(500))
    ),
    "2,000 ifs in a row": forward(*["if x.shape[0] > 3: x = x + 1"] * 2000),
    "15 nested for loops": nested("for i{n} in range(3):", "x = [x, x.item()]", 15),
    "15 nested while loops": nested("while x.shape[0] > {n}:", "x = [x]", 15),
    "80 nested ifs": nested("if x.a{n}:", "x = x + 1", 80),
    "18 nested withs": nested("with x.a{n}:", "x.item()", 18),
    "30 nested functions": nested("def f{n}(x):", "return x", 30),
    "a call graph that doubles 60 times": CHAIN + "import torch\ntorch.compile(f0)\n",
    "the same where nothing is compiled": CHAIN + "import torch.optim\nf0(1, 2)\n",
    "arguments that double 30 times": "".join(
        f"def f{n}(*a):\n    return f{n + 1}(a, a)\n" for n in range(30)
    )
    + "import torch\ntorch.compile(f0)\n",
    "a list that doubles 60 times": forward("y = [x]", *["y = y + y"] * 60, "return y"),
    "a tuple that doubles 60 times": forward("y = (x,)", *["y = (y, y)"] * 60, "return y"),
    "a dict that doubles 60 times": forward("d = {}", *["d['a'] = d", "d['b'] = d"] * 60),
    "an iterator that doubles 60 times": forward("y = [x]", *["y = zip(y, y)"] * 60),
    "a dict of 3,000 keys": forward("d = {}", *(f"d['k{n}'] = x" for n in range(3000))),
    "a list of 50,000 numbers": f"T = {list(range(50_000))}\n" + forward("return x[T]"),
    "an f-string of 2,000 parts": forward('return f"' + "{x}" * 2000 + '"'),
    "an annotation of 2,000 alternatives": (
        "import torch\n@torch.compile\ndef f(x: " + " | ".join(["int"] * 2000) + "): return x\n"
    ),
    "60 classes above each other": PRELUDE
    + "class C0(nn.Module):\n    def forward(self, x): return x\n"
    + "".join(
        f"class C{n}(C{n - 1}, C{max(n - 2, 0)}):\n"
        "    def forward(self, x): return super().forward(x)\n"
        for n in range(1, 60)
    ),
    "a function that compiles itself": (
        "import torch\ndef f(x):\n    g = torch.compile(f)\n    return torch.compile(g)(x)\n"
        "torch.compile(f)\n"
    ),
    "functions made of functions": PRELUDE
    + "@torch.compile\ndef f(x):\n    g = lambda a: a\n"
    + "    g = (lambda h: lambda a: h(h(a)))(g)\n" * 30
    + "    return g(x)\n",
}


@pytest.mark.parametrize("text", EXTREME.values(), ids=EXTREME.keys())
def test_extreme_programs_end_quietly_and_soon(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = 0
    walk = memory.walk

    def counted(*args: object, **kwargs: object) -> object:
        nonlocal walks
        walks += 1
        return walk(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(memory, "walk", counted)
    monkeypatch.setattr(run, "walk", counted)
    findings(tmp_path, text)
    assert walks < 1000


def test_a_function_that_nests_too_deeply_is_left_out_alone(tmp_path: Path) -> None:
    deep = forward("return " + " + ".join(["x"] * 900))
    good = "@torch.compile\ndef g(x: torch.Tensor):\n    return x.item()\n"
    rows = deep.count("\n")
    # Compiled, the analysis goes deeper than Python's frames do.
    left_out = [f"{rows} TCL004"] if memory.__file__.endswith(".py") else []
    assert findings(tmp_path, deep + good) == [*left_out, f"{rows + 3} TCL101"]


def sample(count: int) -> list[Path]:
    files = [
        path
        for path in sorted(STANDARD_LIBRARY.rglob("*.py"))
        if "site-packages" not in path.parts and "test" not in path.parts
    ]
    return random.Random(0).sample(files, min(count, len(files)))


def test_the_standard_library_is_analysed_without_a_word(tmp_path: Path) -> None:
    run_ = check_files(sample(60), Config(tmp_path))
    assert [str(r.diagnostic.path) for r in run_.results if r.diagnostic.code != "TCL001"] == []


def test_every_function_of_the_standard_library_can_be_taken_for_compiled(tmp_path: Path) -> None:
    for path in sample(40):
        check_files([path], Config(tmp_path, scope="all"))


@pytest.mark.parametrize(
    "every",
    [pytest.param(20, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)],
)
def test_the_standard_library_and_torch_can_be_taken_for_compiled(
    tmp_path: Path, every: int
) -> None:
    torch = pytest.importorskip("torch")
    files = [*sample(100_000), *sorted(Path(torch.__file__).parent.rglob("*.py"))]
    for path in files[::every]:
        check_files([path], Config(tmp_path, scope="all"))


SEED = """
import torch
from torch import nn
import numpy as np
import math
LIMIT = 3
class Inner(nn.Module):
    def __init__(self, size=3, debug=False):
        super().__init__()
        self.size, self.debug = size, debug
        self.layers = nn.ModuleList([nn.Linear(size, size) for _ in range(LIMIT)])
        self.register_buffer("steps", torch.zeros(1))
    def forward(self, x, mask=None, *rest, scale: float = 1.0, **options):
        for i, layer in enumerate(self.layers):
            x = layer(x) if mask is None else x[mask]
            if self.debug and (total := x.sum()) > 0:
                print(f"{total} {i}")
        self.steps += 1
        table = {"x": x, "n": x.shape[0], **options}
        first, *others = [t * scale for t in rest if t is not None]
        try:
            with torch.no_grad():
                while not x.any():
                    x = x + table["x"].item()
        except ValueError as error:
            raise RuntimeError(f"{error}: {x}") from error
        assert isinstance(x, torch.Tensor) and x.numel() > 0, "empty"
        pair, read = (x, torch.Tensor), x.item
        assert isinstance(*pair) and read() in range(*pair[:1], *rest), math.sqrt(*pair)
        return (lambda y: y.tolist())(x), np.sqrt(2), {k: v for k, v in table.items()}
@torch.compile(fullgraph=True)
def run(net: Inner, x: torch.Tensor, y=None):
    def again(n):
        return again(n - 1) if n else net(x, y)
    return again(3)
"""
NODES = sum(isinstance(node, (ast.expr, ast.stmt)) for node in ast.walk(ast.parse(SEED)))


class Mutation(ast.NodeTransformer):
    """Puts one part of the program in the place of another of the same kind."""

    def __init__(self, swaps: dict[int, int]) -> None:
        self.tree = ast.parse(SEED)
        self.nodes = [n for n in ast.walk(self.tree) if isinstance(n, (ast.expr, ast.stmt))]
        self.swaps = {id(self.nodes[old]): self.nodes[new] for old, new in swaps.items()}

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.swaps.pop(id(node), None)
        for kind in (ast.expr, ast.stmt):
            if isinstance(node, kind) and isinstance(new, kind):
                return new
        return self.generic_visit(node)


def mutated(swaps: dict[int, int]) -> str:
    mutation = Mutation(swaps)
    try:
        return ast.unparse(mutation.visit(mutation.tree))
    except (AttributeError, RecursionError, TypeError, ValueError):  # not syntax, or within itself
        return SEED


@pytest.mark.slow
@settings(max_examples=150)
@given(st.dictionaries(st.integers(0, NODES - 1), st.integers(0, NODES - 1), max_size=6))
def test_programs_with_parts_exchanged_never_crash(
    tmp_path_factory: pytest.TempPathFactory, swaps: dict[int, int]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    paths = put(folder, {"mutated.py": mutated(swaps)})
    events_of(paths, Config(folder, scope="all"))
    check_files(paths, Config(folder, scope="all"))


def test_two_runs_say_the_same(tmp_path: Path) -> None:
    assert findings(tmp_path, SEED) == findings(tmp_path, SEED)
