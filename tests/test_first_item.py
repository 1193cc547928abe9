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


# What is compiled.
def f(x: torch.Tensor, mask: torch.Tensor):
    total = mask.long().sum()
"""
BODIES = {
    "any": "if torch.any(mask):\n    return x + 1\nreturn x.flatten()",
    "not": "if not torch.any(mask):\n    return x.flatten()\nreturn x * 2",
    "and": "if x.dim() > 1 and total > 2:\n    return x.flatten()\nreturn x * 2",
    "nothing": "if x is None or total == 0:\n    return x.flatten()\nreturn x * 2",
    "ternary": "return x.flatten() if total > 2 else x",
    "elif": "if x.dim() == 7:\n    return x\nelif total < 3:\n    return x.flatten()\nreturn x * 2",
    "item": "n = total.item()\nif n > 1:\n    return x[:n]\nreturn x.flatten()",
    "an item of any kind": "if mask.sum().item() < x.shape[0] * x.shape[1]:\n"
    "    return x.flatten()\nreturn x",
    "an item of what is not known": "rows = {0: iter(mask.long()), 1: None}\n"
    "return x[: next(rows[0])[1].item()]",
    "compared": "if x.abs().sum().item() != 0:\n    return x.flatten()\nreturn x",
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
    "walrus": "if (n := mask.sum()) > 2:\n    return x.flatten() * n\nreturn x",
    "mask": "return x[mask] + 1",
    "rows": "k = x[x[:, 0] > 0, :]\nreturn k.flatten() if 2 >= len(k) else k",
    "nonzero": "at = torch.nonzero(mask)\nif len(at) > 2:\n    x = x + 1\nreturn x[at.t()[0]]",
    "nonzero, by its default": "at = mask.nonzero(as_tuple=False)\nreturn x[at.t()[0]] * 2",
    "argwhere": "return torch.argwhere(mask) + x.sum()",
    "repeats": "return x.repeat_interleave(mask.sum(1), dim=0) + 1",
    "repeats by a function": "return torch.repeat_interleave(x, mask.sum(1), 0) + 1",
    "one repeat for all": "return torch.repeat_interleave(x, total.reshape(1)) + 1",
    "unique": "return mask.nonzero()[:, 0].unique() + x.sum()",
    "unique of two dimensions": "return torch.unique(mask.long()) + x.sum()",
    "both": "y = x[mask.nonzero()[:, 0]][:total]\nreturn y[y[:, 0] > 0]",
    "no dimensions": "return x[x.sum() > 0]",
    "the condition of a comprehension": "return x + sum([n for n in (1, 2) if total > n])",
}
LEFT_ALONE = {
    "the value of `or` is used": "return (total or x) + 1",
    "the last bits of a float may differ": "n = x.float().sum().item()\n"
    "return x if n > 0.1 else x[:1]",
    "rows and their counts": "return torch.unique(mask.long(), return_counts=True)",
    "places for each dimension": "return x[mask.nonzero(as_tuple=True)]",
    "repeats alone": "return torch.repeat_interleave(mask.sum(1))",
    "a float may round the number": "if x.float().sum().item() > 0.1:\n    return x[:1]\nreturn x",
    "sizes that may be anything": "sizes = given(total)\nreturn torch.zeros(sizes) + x.sum()",
    "an array is no mask": "return x[np.ones(5, dtype=bool)]",
    "a tuple of places": "return x[torch.where(mask)]",
    "the rows are put back": "x[mask] = x[mask].cos()\nreturn x",
    "the rows become one number": "return x[mask].prod()",
    "a mask beside another index": "return x[mask[:, 0], 0]",
    "it may be no tensor": "if LIMITS.get(1):\n    return x.flatten()\nreturn x",
    "the name is taken": "first_item = 1\nif total > 2:\n    return x[:1]\nreturn x * first_item",
}
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
    config = Config(root=folder, min_confidence="low")
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
    masks = [torch.arange(20).view(5, 4) < n for n in (3, 0, 20)]
    for mask in masks:
        for one in (x, torch.zeros(5, 4)):
            expected, given = outcome(before, one, mask), outcome(after, one, mask)
            assert same(expected, given)
    if name == "no dimensions":
        return  # a number of rows of another kind: the graph still breaks
    assert same(outcome(before, x, masks[0]), outcome(compiled, x, masks[0]))
    other = outcome(compiled, x, masks[2])
    assert same(other, outcome(before, x, masks[2])) or "another number" in str(other)


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


@pytest.mark.parametrize("why", PLACES)
def test_the_helper_has_to_have_a_place_above_what_calls_it(why: str, tmp_path: Path) -> None:
    changed = opened(program(BRANCH, PLACES[why]), tmp_path)
    assert "first_item(total" not in changed or "lambda x: x[: x.sum()]" in changed


WRITTEN = {
    "by its place": "m = torch.zeros(3, dtype=torch.bool)\nm[0] = True\ntotal = m.sum()",
    "by a method": "m = torch.zeros(3)\nm.add_(1)\ntotal = m.sum()",
    "by a view": "m = torch.zeros(3)\nn = m.view(-1)\nn[1:] = 2\ntotal = m.sum()",
    "by an operator": "m = mask.clone()\nm |= True\ntotal = m.sum()",
    "twice": "m = torch.zeros(3)\nm.add_(1)\nm.mul_(0)\ntotal = m.sum()",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_what_was_written_before_is_never_computed_with_as_it_was(how: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program(f"{WRITTEN[how]}\nif total > 0:\n    return x + 1\nreturn x - 1")
    after = opened(code, tmp_path)
    assert "first_item(total > 0)" in after
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    x, mask = torch.randn(5, 4), torch.zeros(5, 4, dtype=torch.bool)
    given = outcome(compiled, x, mask)
    assert same(outcome(before, x, mask), given) or "another number" in str(given)


def test_floats_of_a_kind_that_is_not_told_are_read_as_before(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program("n = x.sum().item()\nreturn x * n if n > 0.1 else x[:1]")
    after = opened(code, tmp_path)
    assert "n = first_whole(x.sum())" in after
    assert opened(after, tmp_path) == after
    before, function = load(code, tmp_path, "before").f, load(after, tmp_path, "after").f
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    mask = torch.ones(5, 4, dtype=torch.bool)
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
    body = "x = torch.dropout(x, 0.5, True) * 2\nif (x != 0).sum() > 3:\n    x = x * 3\nreturn x"
    after = load(opened(program(body), tmp_path), tmp_path, "after").f
    torch._dynamo.reset()
    seen = []
    for function in (after, torch.compile(after, backend="aot_eager", fullgraph=True)):
        x = torch.ones(5, 4, requires_grad=True)
        torch.manual_seed(0)
        function(x, torch.ones(5, 4)).sum().backward()
        seen.append((x.grad, torch.get_rng_state()))
    assert all(torch.equal(one, other) for one, other in zip(*seen, strict=True))


def test_a_number_that_is_none_of_a_tensor_stays_what_it_is(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the proofs run torch.compile")
    code = program("return x[: mask[0]]").replace("    total = mask.long().sum()\n", "")
    changed = opened(code, tmp_path)
    assert "x[: first_item(mask[0])]" in changed
    x, after = torch.ones(5, 4), load(changed, tmp_path, "after").f
    assert after(x, [2, 3]).shape == after(x, torch.tensor([2, 3])).shape == (2, 4)
