"""Functions that libraries call, and decorators that compile: what Dynamo traces is walked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import breaks
from tests.test_names_and_training import found

HEAD = """\
import functools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def inner(y):
    print("inside")
    return y * 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        print("inside")
        return self.linear(x)


block = Block()


"""
CALLS = (
    "torch.vmap(inner)(x)",
    "torch.func.vmap(inner, in_dims=0)(x)",
    "torch.func.jacrev(inner)(x)",
    "torch.func.vjp(inner, x)[0]",
    "torch.func.jvp(inner, (x,), (x,))[0]",
    "torch.func.functional_call(block, dict(block.named_parameters()), (x,))",
    "checkpoint(inner, x, use_reentrant=False)",
    "checkpoint(block, x, use_reentrant=False)",
    "checkpoint(block.__call__, x, use_reentrant=False)",
    "block.__call__(x)",
    "functools.partial(inner)(x)",
    "functools.reduce(lambda a, b: inner(a), [x, x])",
    "next(filter(inner, [x.sum()]))",
    "list(map(inner, [x]))[0]",
)


@pytest.mark.parametrize("call", CALLS)
def test_what_is_called_there_is_found(call: str, tmp_path: Path) -> None:
    text = f"{HEAD}@torch.compile\ndef f(x):\n    return {call}\n"
    rows = {row for _, row in found(text, tmp_path, "TCL120")}
    assert rows & {9, 19 if "block" in call else 9}


def test_both_branches_of_cond_are_walked(tmp_path: Path) -> None:
    text = (
        f"{HEAD}@torch.compile\ndef f(x):\n"
        "    return torch.cond(x.sum() > 0, inner, lambda y: y, (x,))\n"
    )
    assert ("TCL120", 9) in found(text, tmp_path, "TCL120")


def test_a_checkpoint_gives_what_its_function_gives(tmp_path: Path) -> None:
    text = (
        f"{HEAD}@torch.compile\ndef f(x: torch.Tensor):\n"
        "    total = checkpoint(lambda y: y.sum(), x, use_reentrant=False)\n"
        "    return total.item()\n"
    )
    assert "TCL101" in [code for code, _ in found(text, tmp_path, "TCL101")]


def test_outside_of_compiled_code_nothing_is_walked(tmp_path: Path) -> None:
    text = f"{HEAD}def f(x):\n    return checkpoint(inner, x, use_reentrant=False)\n"
    assert 9 not in {row for _, row in found(text, tmp_path, "TCL120")}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_dynamo_traces_it(call: str) -> None:
    torch = pytest.importorskip("torch")
    assert breaks(f"{HEAD}def f(x):\n    return {call}\n", torch.ones(3))


BODY = "def f(x):\n    print(1)\n    return x\n"
DECORATED = {
    "another name": f"compiled = torch.compile\n\n\n@compiled\n{BODY}",
    "another name, called": f"compiled = torch.compile\n\n\n@compiled(dynamic=True)\n{BODY}",
    "partial": f"@functools.partial(torch.compile, dynamic=True)\n{BODY}",
    "a partial with a name": (
        f"fast = functools.partial(torch.compile, dynamic=True)\n\n\n@fast\n{BODY}"
    ),
    "a decorator": f"def fast(fn):\n    return torch.compile(fn)\n\n\n@fast\n{BODY}",
    "a decorator that may": (
        "def fast(fn):\n    return torch.compile(fn) if torch.cuda.is_available() else fn\n\n\n"
        f"@fast\n{BODY}"
    ),
    "a maker of decorators": (
        "def fast(**options):\n    def compiled(fn):\n        return torch.compile(fn, **options)\n"
        f"    return compiled\n\n\n@fast(dynamic=True)\n{BODY}"
    ),
}


@pytest.mark.parametrize("text", DECORATED.values(), ids=DECORATED)
def test_decorators_that_compile_start_a_region(text: str, tmp_path: Path) -> None:
    whole = f"import functools\nimport torch\n\n\n{text}"
    row = whole[: whole.index("print")].count("\n") + 1
    assert found(whole, tmp_path, "TCL120") == [("TCL120", row)]


def test_each_function_with_the_decorator_is_a_region(tmp_path: Path) -> None:
    functions = "".join(f"@fast\n{BODY.replace('def f', f'def f{n}')}\n\n" for n in range(9))
    text = f"import torch\n\n\ndef fast(fn):\n    return torch.compile(fn)\n\n\n{functions}"
    assert len(found(text, tmp_path, "TCL120")) == 9


def test_a_decorator_of_another_file_is_looked_up_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "import torch\n\n\ndef maybe_compile(fn):\n    return torch.compile(fn)\n", "utf-8"
    )
    text = f"from tools import maybe_compile\n\n\n@maybe_compile\n{BODY}"
    path = tmp_path / "program.py"
    path.write_text(text, "utf-8")
    run = check_files([path, tmp_path / "tools.py"], Config(tmp_path, select=("TCL120",)))
    assert [result.diagnostic.path for result in run.results] == [path]


def test_another_decorator_starts_none(tmp_path: Path) -> None:
    text = f"import torch\n\n\ndef compiled_late(fn):\n    return fn\n\n\n@compiled_late\n{BODY}"
    assert found(text, tmp_path, "TCL120") == []
