"""Compiled code may be made for the number of its first call: eager code does not change."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.results import Remedies

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import numpy as np
import torch
from torch import nn

LIMIT = 3


def halved(x, n):
    return x[:n] / 2


def gate():
    return torch.rand(()) < 0.5


# What is compiled.
def f(x: torch.Tensor, counts: torch.Tensor):
    total = counts.long()[0]
"""
BODIES = {
    "if": "if counts[1] > 1:\n    return x + 1\nreturn x.flatten()",
    "not": "if not counts[0] > 0:\n    return x.flatten()\nreturn x * 2",
    "and": "if x.dim() > 1 and total > 2:\n    return x.flatten()\nreturn x * 2",
    "nothing": "if x is None or total == 0:\n    return x.flatten()\nreturn x * 2",
    "ternary": "return x.flatten() if total > 2 else x",
    "elif": "if x.dim() == 7:\n    return x\nelif total < 3:\n    return x.flatten()\nreturn x * 2",
    "item": "n = total.item()\nif n > 1:\n    return x[:n]\nreturn x.flatten()",
    "an item of any kind": "if counts[0].item() < x.shape[0] * x.shape[1]:\n"
    "    return x.flatten()\nreturn x",
    "compared": "if counts[0].item() != 0:\n    return x.flatten()\nreturn x",
    "sizes": "if total.item() < x.shape[0] * x.shape[1]:\n    return x.flatten()\nreturn x",
    "int": "if int(total) > 2:\n    return x.flatten()\nreturn x",
    "range": "for i in range(total):\n    x = x + i\nreturn x",
    "arange": "return torch.arange(total, total + 6, 2) + x.sum()",
    "float": "return torch.arange(0, 1 - 1e-6, 1 / total) + x.sum()",
    "paddings": "sizes = (total, 1, total // 2, 2)\n"
    "return torch.nn.functional.pad(x, sizes).flatten()",
    "a list of sizes": "sizes = [total, 2]\nreturn x.sum() + torch.zeros(sizes)",
    "sizes of a shape, too": "sizes = (x.shape[0], total)\nreturn x.sum() + torch.ones(sizes)",
    "slice": "return x[:total].flatten() * 2",
    "repeat": "return torch.cat([x] * total)",
    "twice": "if total > 2:\n    x = x + 1\nif total > 3:\n    x = x.flatten()\nreturn x",
    "walrus": "if (n := counts[0]) > 2:\n    return x.flatten() * n\nreturn x",
    "the condition of a comprehension": "return x + sum([n for n in (1, 2) if total > n])",
    "what a helper is given": "return halved(x, total)",
}
LEFT_ALONE = {
    "the value of `or` is used": "return (total or x) + 1",
    "the last bits of a float may differ": "n = x.float()[0, 0].item()\n"
    "return x if n > 0.1 else x[:1]",
    "a float may round the number": "if x.float()[0, 0].item() > 0.1:\n    return x[:1]\nreturn x",
    "sizes that may be anything": "sizes = given(total)\nreturn torch.zeros(sizes) + x.sum()",
    "it may be no tensor": "if LIMITS.get(1):\n    return x.flatten()\nreturn x",
    "the name is taken": "first_item = 1\nif total > 2:\n    return x[:1]\nreturn x * first_item",
}
VARYING = {
    "whether any element is true": "if (x > 0).any():\n    return x + 1\nreturn x.flatten()",
    "whether all elements are true": "if not torch.all(x > 0):\n    return x + 1\nreturn x",
    "how many elements are true": "n = (x > 0).sum()\nreturn x[:n] + 1",
    "how many elements differ": "if int((x != 0).sum()) > 3:\n    return x * 3\nreturn x",
    "what a mask selects": "return x[x > 0] + 1",
    "the rows that a mask selects": "k = x[x[:, 0] > 0, :]\nreturn k if 2 >= len(k) else k + 1",
    "where elements are": "return (x > 0).nonzero() + x.sum()",
    "where elements are, as a function": "return torch.argwhere(x > 0) + x.sum()",
    "the values that occur": "return counts.unique() + x.sum()",
    "how often rows are repeated": "return x.repeat_interleave(counts.long(), dim=0) + 1",
    "the sizes of groups": "parts = x.split(torch.bincount(counts.long()).tolist())\n"
    "return parts[0] * 2",
    "the sizes of groups, by comparison": "groups = (counts.long() == 1).sum(0).tolist()\n"
    "return x[: groups]",
    "the longest": "return x[: counts.long().max()]",
    "the last one, after sorting": "return x[: counts.long().sort().values[0]]",
    "which is largest": "return x[: x[0].argmax()]",
    "a drawn number": "n = torch.randint(3, (1,))[0]\nreturn x[:n]",
    "a drawn truth": "if torch.rand(()) < 0.5:\n    return x + 1\nreturn x",
    "a truth that a helper draws": "if gate():\n    return x + 1\nreturn x",
    "a loss": "if x.pow(2).mean() > 9:\n    return x.flatten()\nreturn x",
    "what a helper computes": "return halved(x, (x > 0).sum())",
    "one of two": "n = counts.long()[0]\nif x.dim() > 1:\n    n = (x > 0).sum()\nreturn x[:n]",
    "what is bound twice": "n = counts[0]\nif x.dim() > 7:\n    n = counts[1]\nreturn x[:n]",
    "an element of floats": "if x.float()[0, 0] > 0:\n    return x + 1\nreturn x.flatten()",
    "an attribute of what is passed": "return x[: counts.batch.longest]",
    "an index that varies": "return x[: counts.long()[x[0].argmax()]]",
}
"""What is another number at each call."""
PLACES = {
    "no import": HEAD.replace("import torch\n", "torch = __import__('torch')\n"),
    "imported below": "class A: pass\n" + HEAD,
    "imported by chance": HEAD.replace(
        "import torch\n", "try:\n    import torch\nexcept ImportError:\n    pass\n"
    ),
    "another helper": HEAD.replace("# What", "def first_item(x):\n    return 1\n\n\n# What"),
    "run before": HEAD.replace("LIMIT = 3", "g = torch.compile(lambda x: x[: x.sum()])"),
}
BRANCH = "if total > 2:\n    return x.flatten()\nreturn x"


def program(body: str, head: str = HEAD) -> str:
    """A file with a function that is compiled."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{head}{lines}\n\nrun = torch.compile(f)\n"


def opened(code: str, folder: Path) -> str:
    """The program after the hatches that it is offered."""
    path = folder / "program.py"
    path.write_text(code)
    config = Config(root=folder, weak=True)
    changed = fix_files([path], config, remedies=Remedies(hatches=True)).changed
    return changed[0].after if changed else code


def load(code: str, folder: Path, name: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", BODIES)
def test_numbers_are_read_through_the_helper_and_nothing_else_changes(
    name: str, tmp_path: Path
) -> None:
    code = program(BODIES[name])
    after = opened(code, tmp_path)
    assert after.count("def first_item(number):") == 1
    assert opened(after, tmp_path) == after
    kept = [line for line in after.splitlines() if "first_item" not in line]
    assert HEAD.splitlines()[:4] == after.splitlines()[:4]
    assert "# What is compiled." in kept


@pytest.mark.parametrize("name", BODIES)
def test_eager_code_stays_and_compiled_code_is_whole_for_its_number(
    name: str, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(BODIES[name])
    before = load(code, tmp_path, "before").f
    after = load(opened(code, tmp_path), tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    x = torch.randn(5, 4)
    every = [torch.tensor(numbers) for numbers in ([3, 1], [0, 1], [20, 2])]
    for counts in every:
        for one in (x, torch.zeros(5, 4)):
            expected, given = outcome(before, one, counts), outcome(after, one, counts)
            assert same(expected, given)
    assert same(outcome(before, x, every[0]), outcome(compiled, x, every[0]))
    other = outcome(compiled, x, every[2])
    assert same(other, outcome(before, x, every[2])) or "another number" in str(other)


def outcome(function: Any, *args: Any) -> Any:
    """What a call returns, or raises."""
    try:
        return function(*args)
    except (RuntimeError, ValueError, ZeroDivisionError) as error:
        return error


def same(one: Any, other: Any) -> bool:
    torch = pytest.importorskip("torch")
    if isinstance(one, Exception) or isinstance(other, Exception):
        return type(one) is type(other) and str(one) == str(other)
    return bool(one.dtype == other.dtype and torch.equal(one, other))


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_what_is_no_number_to_compile_for_is_left_alone(why: str, tmp_path: Path) -> None:
    assert "def first_item(number)" not in opened(program(LEFT_ALONE[why]), tmp_path)


@pytest.mark.parametrize("what", VARYING)
def test_what_varies_by_its_nature_has_no_hatch(what: str, tmp_path: Path) -> None:
    code = program(VARYING[what])
    assert opened(code, tmp_path) == code


KEPT = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("size", torch.tensor(2))

    def forward(self, x: torch.Tensor):
        y = x[: self.size]
        WRITE
        return y * 2


run = torch.compile(Net())
"""
WRITES = [
    "self.size.add_(1)", "self.size = (x > 0).sum()", "self.size[...] = x.argmax()",
    "self.size += 1", "self.size.data.copy_(x.argmax())", "torch.add(x, 1, out=self.size)",
    "setattr(self, 'size', x.argmax())",
]  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_what_a_module_writes_in_its_calls_has_no_hatch(write: str, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import nn\n\n\n"
    code = head + KEPT.replace("WRITE", write)
    assert "first_item(self.size)" not in opened(code, tmp_path)
    kept = head + KEPT.replace("        WRITE\n", "")
    assert "first_item(self.size)" in opened(kept, tmp_path)


TRAINED = """\
@torch.compile
def train_step(model, optimizer, x: torch.Tensor, counts: torch.Tensor):
    if counts[0] > 0:
        x = x * 2
    model(x).sum().backward()
    optimizer.step()
"""
LOOPED = """\
def train(model, optimizer, batches, counts: torch.Tensor):
    for x in batches:
        if counts[0] > 0:
            x = x * 2
        model(x).sum().backward()
        optimizer.step()


run = torch.compile(train)
"""
GRADIENT = """\
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, counts):
        ctx.save_for_backward(x, counts)
        return x * 2

    @staticmethod
    def backward(ctx, grad: torch.Tensor):
        x, counts = ctx.saved_tensors
        if grad[0, 0] > 0:
            return grad * 2, None
        return grad, None


@torch.compile
def f(x: torch.Tensor, counts: torch.Tensor):
    return Scale.apply(x, counts).sum()
"""
EXPORTED = """\
class Net(nn.Module):
    def forward(self, x: torch.Tensor, counts: torch.Tensor):
        if counts[0] > 0:
            return x * 2
        return x


program = torch.export.export(Net(), (torch.ones(2), torch.tensor([1])))
"""


EXPORTED_TOO = EXPORTED.replace("torch.export.export(", "export.export(")


@pytest.mark.parametrize(
    "code",
    [TRAINED, LOOPED, GRADIENT, EXPORTED, f"from torch import export\n\n\n{EXPORTED_TOO}"],
)
def test_no_hatch_is_opened_in_training_in_gradients_and_for_an_export(
    code: str, tmp_path: Path
) -> None:
    head = "import torch\nfrom torch import nn\n\n\n"
    assert opened(head + code, tmp_path) == head + code


@pytest.mark.parametrize("why", PLACES)
def test_the_helper_has_to_have_a_place_above_what_calls_it(why: str, tmp_path: Path) -> None:
    changed = opened(program(BRANCH, PLACES[why]), tmp_path)
    assert "first_item(total" not in changed or "lambda x: x[: x.sum()]" in changed


WRITTEN = {
    "by its place": "counts[0] = 1\ntotal = counts[0]",
    "by a method": "counts.add_(1)\ntotal = counts[0]",
    "by a view": "n = counts.view(-1)\nn[1:] = 2\ntotal = counts[1]",
    "twice": "counts.add_(1)\ncounts.mul_(0)\ntotal = counts[0]",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_what_was_written_before_is_never_computed_with_as_it_was(how: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(f"{WRITTEN[how]}\nif total > 0:\n    return x + 1\nreturn x - 1")
    code = code.replace("    total = counts.long()[0]\n", "")
    after = opened(code, tmp_path)
    assert "first_item(total > 0)" in after
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    x = torch.randn(5, 4)
    given = outcome(compiled, x, torch.tensor([0, 0]))
    expected = outcome(before, x, torch.tensor([0, 0]))
    assert same(expected, given) or "another number" in str(given)


def test_floats_of_a_kind_that_is_not_told_are_read_as_before(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program("n = x[0, 0].item()\nreturn x * n if n > 0.1 else x[:1]")
    after = opened(code, tmp_path)
    assert "n = first_whole(x[0, 0])" in after
    assert opened(after, tmp_path) == after
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    mask = torch.ones(2)
    for x in (torch.randn(5, 4), torch.ones(5, 4), torch.randn(5, 4, dtype=torch.complex64).real):
        expected = outcome(before, x, mask)
        assert same(expected, outcome(function, x, mask))
        assert same(expected, outcome(compiled, x, mask))


def test_numbers_of_numpy_are_read_as_before(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    head = "import numpy as np\nimport torch\n\n\n"
    read = "def f(x: torch.Tensor, n: np.int64 | torch.Tensor):\n    return x[: n.item()] + 1\n"
    code = f"{head}{read}\n\nrun = torch.compile(f)\n"
    after = opened(code, tmp_path)
    assert "x[: first_whole(n)]" in after
    function, x = load(after, tmp_path, "after").f, torch.randn(5)
    torch._dynamo.reset()
    for one in (function, torch.compile(function, backend="eager")):
        for n in (torch.tensor(2), importlib.import_module("numpy").int64(2)):
            assert torch.equal(one(x, n), x[:2] + 1)


ARRAYS = {
    "of something unknown": "tuple(changed(x).cpu().numpy().tolist())",
    "of a tensor, or of something unknown": "read(x) + read(changed(x))",
    "its number": "changed(x).max().numpy().item()",
}


@pytest.mark.parametrize("what", ARRAYS)
def test_arrays_of_numpy_break_where_a_helper_reads_them_and_are_left_alone(
    what: str, tmp_path: Path
) -> None:
    head = "import torch\nfrom somewhere import changed\n\n\n"
    read = "def read(x):\n    array = x.cpu().numpy()\n    return array.tolist()\n\n\n"
    net = f"def f(x: torch.Tensor):\n    return {ARRAYS[what]}\n\n\nrun = torch.compile(f)\n"
    assert opened(head + read + net, tmp_path) == head + read + net


def test_gradients_and_draws_before_the_number_are_those_of_eager_code(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    body = "x = torch.dropout(x, 0.5, True) * 2\nif total > 0:\n    x = x * 3\nreturn x"
    after = load(opened(program(body), tmp_path), tmp_path, "after").f
    torch._dynamo.reset()
    seen = []
    for function in (after, torch.compile(after, backend="aot_eager", fullgraph=True)):
        x = torch.ones(5, 4, requires_grad=True)
        torch.manual_seed(0)
        function(x, torch.ones(2)).sum().backward()
        seen.append((x.grad, torch.get_rng_state()))
    assert all(torch.equal(one, other) for one, other in zip(*seen, strict=True))


def test_a_number_that_is_none_of_a_tensor_stays_what_it_is(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program("return x[: counts[0]]").replace("    total = counts.long()[0]\n", "")
    changed = opened(code, tmp_path)
    assert "x[: first_item(counts[0])]" in changed
    x, after = torch.ones(5, 4), load(changed, tmp_path, "after").f
    assert after(x, [2, 3]).shape == after(x, torch.tensor([2, 3])).shape == (2, 4)
