"""Tensors of one integer that a module keeps: its methods compute with the numbers instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch import nn
from torch.nn import functional as F


class Conv(nn.Module):
    def __init__(self, size: int = 5, step: int = 2):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, size, step, dilation=2)
        size = self.conv.kernel_size[0]
        step = torch.tensor(self.conv.stride[0], dtype=torch.int64)
        # with the holes
        size = torch.tensor((size - 1) * self.conv.dilation[0] + 1, dtype=torch.int64)
        self.step = nn.Buffer(step, persistent=False)
        self.register_buffer("size", size, persistent=False)
        self.total = nn.Buffer(size - step, persistent=False)

    def _missing(self, x) -> torch.Tensor:
        length = x.shape[-1]
        n = (length - self.size + self.total) / self.step + 1
        n = torch.ceil(n).to(torch.int64) - 1
        return n * self.step + self.size - self.total - length

    @staticmethod
    def _pad(x, widths, value=0.0):
        left, right = widths
        most = max(left, right)
        more = 0
        if x.shape[-1] <= most:
            more = most - x.shape[-1] + 1
            x = F.pad(x, (0, more))
        y = F.pad(x, widths, "reflect", value)
        end = y.shape[-1] - more
        return y[..., :end]

    def forward(self, x):
        missing = self._missing(x)
        right = self.total // 2
        return self.conv(self._pad(x, (self.total - right, right + missing)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = Conv()

    def forward(self, x):
        return self.conv(x) * 2


def reset(conv):
    size = conv.conv.kernel_size[0]
    step = torch.tensor(conv.conv.stride[0], dtype=torch.int64)
    size = torch.tensor((size - 1) * conv.conv.dilation[0] + 1, dtype=torch.int64)
    nn.init.constant_(conv.step, conv.conv.stride[0])
    conv.size.copy_(size)
"""
FIXED_INIT = """\
        size = self.conv.kernel_size[0]
        step_int = self.conv.stride[0]
        step = torch.tensor(step_int, dtype=torch.int64)
        size_int = (size - 1) * self.conv.dilation[0] + 1
        # with the holes
        size = torch.tensor(size_int, dtype=torch.int64)
        self.step = nn.Buffer(step, persistent=False)
        self.step_int = step_int
        self.register_buffer("size", size, persistent=False)
        self.size_int = size_int
        self.total = nn.Buffer(size - step, persistent=False)
        self.total_int = size_int - step_int

    def _missing(self, x) -> int:
        length = x.shape[-1]
        n = (length - self.size_int + self.total_int) / self.step_int + 1
        n = math.ceil(n) - 1
        return n * self.step_int + self.size_int - self.total_int - length

"""
LENGTHS = (4, 9, 10, 11, 33)


def test_methods_compute_with_numbers(tmp_path: Path) -> None:
    code = CODE.replace("    conv.size.copy_(size)\n", "")
    fixed = _fixed(tmp_path, code)
    assert FIXED_INIT in fixed
    assert "import math\n" in fixed
    assert "right = self.total_int // 2" in fixed
    assert "(self.total_int - right, right + missing)" in fixed
    assert _fixed(tmp_path, fixed) == fixed
    assert not check_files([tmp_path / "model.py"], Config(root=tmp_path)).results


def test_a_safe_fix_leaves_the_tensors(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(CODE.replace("    conv.size.copy_(size)\n", ""), encoding="utf-8")
    config = Config(root=tmp_path)
    assert not fix_files([path], config).changed
    found = check_files([path], config).results
    changes = {result.repair.changes for result in found if result.repair is not None}
    assert len(found) > 1
    assert len(changes) == 1
    assert "do not see what is stored there later: `step`, `size`, `total`" in changes.pop()


@pytest.mark.parametrize("dynamic", [False, True])
def test_one_graph_and_the_same_results(dynamic: bool, tmp_path: Path) -> None:
    code = CODE.replace("    conv.size.copy_(size)\n", "")
    before, after = (_module(text, "Model") for text in (code, _fixed(tmp_path, code)))
    after.load_state_dict(before.state_dict(), strict=True)
    assert after.state_dict().keys() == before.state_dict().keys()
    torch.compiler.reset()
    compiled = torch.compile(after, backend="eager", fullgraph=True, dynamic=dynamic)
    for length in LENGTHS:
        x = torch.randn(1, 2, length)
        expected = _outcome(before, x)
        assert _outcome(after, x) == expected
        if isinstance(expected, list):
            assert _outcome(compiled, x) == expected


SIZES = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n = torch.tensor(n, dtype=torch.long)
        self.register_buffer("part", self.n // 2, False)

    def forward(self, x):
        BODY
"""
# Where numbers do the same: each is one graph afterwards.
BODIES = {
    "a range": "return x + sum(x[:, i].sum() for i in range(3)) + sum(list(range(self.n)))",
    "a loop": "for i in range(self.n):\n            x = x + i\n        return x",
    "a slice": "return x[:, : self.n - self.part]",
    "a size": "return x.sum() + x.new_zeros(self.n, 2)",
    "a view": "return x.view(-1, self.n)",
    "an item": "k = self.n.item()\n        return x[:k] if k < x.shape[0] else x",
    "an integer": "return x[: int(self.n / 2)]",
    "a floor": "return x[: torch.floor(self.n / 2).long()]",
    "a method": "k = (self.n / 2).trunc().int()\n        return x[:k]",
    "a condition": "return x * 2 if self.part > 0 and self.n != 7 else x",
    "a truth": "return x * 2 if not self.part else x",
    "a while": "k = 0\n        while k < self.n:\n            k += 1\n        return x * k",
    "a choice": "k = self.n if x.shape[0] > 2 else self.part\n        return x[:k]",
    "the least": "return x[: min(self.n, x.shape[0], 2)]",
    "abs": "k = -self.n\n        return x[k:]",
    "a list": "k = [self.n, 2]\n        return x.sum() + x.new_zeros(k)",
    "a pair": "a, b = self.n, self.part\n        return x[b:a]",
    "an assertion": "assert x.shape[0] >= self.n, 'short'\n        return x[: self.n]",
    "another branch": (
        "k = self.part\n        if x.ndim > 1:\n            k = self.n\n        return x[:, :k]"
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_numbers_do_the_same(body: str, tmp_path: Path) -> None:
    code = SIZES.replace("BODY", body)
    fixed = _fixed(tmp_path, code)
    assert "self.n_int" in fixed or "self.part_int" in fixed
    before, after = (_module(text, "Model") for text in (code, fixed))
    torch.compiler.reset()
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    for rows in (6, 9):
        x = torch.randn(rows, 3)
        assert _outcome(before, x) == _outcome(after, x) == _outcome(compiled, x)


# Where they may not, or where the number may be another one: nothing changes.
LEFT_ALONE = {
    "text": "print(f'{self.n}')\n        return x[: self.n]",
    "a device": "return x[: self.n].to(self.n.device)",
    "another tensor": "return x[: self.n] * self.n",
    "a sum of two kinds": "k = self.n + x.long()\n        return x[: self.n] + k",
    "an unknown function": "return helper(x[: self.n], self.n)",
    "in place": "self.n.add_(1)\n        return x[: self.n]",
    "in place by a variable": "k = self.n\n        k += 1\n        return x[:k]",
    "in place through a function": "torch.add(self.n, 1, out=self.n)\n        return x[: self.n]",
    "stored": "self.n = torch.tensor(4)\n        return x[: self.n]",
    "stored elsewhere": "self.last = self.n\n        return x[: self.n]",
    "its data": "self.n.data = torch.tensor(4)\n        return x[: self.n]",
    "set by name": "setattr(self, 'n', torch.tensor(4))\n        return x[: self.n]",
    "returned": "return x[: self.n], self.n",
    "an index": "return x[: self.n] + x[self.n]",
    "a power": "return x[: self.n**2]",
    "a key": "return x[: self.n] * {self.n: 2}.get(self.n, 1)",
    "identity": "return x[: self.n] if self.n is not None else x",
    "a lambda": "f = lambda: self.n\n        return x[: f()]",
    "a function inside": "def f():\n            return x[: self.n]\n\n        return f()",
    "a comprehension": "return x[: sum([self.n for _ in range(2)])]",
    "not an integer": "return x[: self.n] * torch.ceil(self.n / 2)",
    "a try": (
        "try:\n            k = x[: self.n]\n        finally:\n            pass\n        return k"
    ),
    "a float or an integer": (
        "k = self.n if x.ndim > 1 else self.n / 2\n        return x[: int(k)]"
    ),
}


@pytest.mark.parametrize("body", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_what_may_tell_a_tensor_from_a_number_stays(body: str, tmp_path: Path) -> None:
    code = SIZES.replace("BODY", body)
    assert "_int" not in _fixed(tmp_path, code)


N = "self.n = torch.tensor(n, dtype=torch.long)"
READ = "        return x[: self.n]\n"
# What is put in the place of what, so that the number may be another one, or is none.
OTHERS = {
    "a float": (N, "self.n = torch.tensor(n, dtype=torch.float)"),
    "no dtype": (N, "self.n = torch.tensor(n)"),
    "a small dtype": (N, "self.n = torch.tensor(n, dtype=torch.uint8)"),
    "a list": (N, "self.n = torch.tensor([n], dtype=torch.long)"),
    "a quotient": (N, "self.n = torch.tensor(n / 2, dtype=torch.long)"),
    "a tensor": (N, f"n = torch.ones(()) * n\n        {N}"),
    "a call": (N, f"n = helper(n)\n        {N}"),
    "drawn": (N, "self.n = torch.randint(1, 3, ())"),
    "in the state dict": (N, "self.register_buffer('n', torch.tensor(n, dtype=torch.long))"),
    "a buffer in the state dict": (N, "self.n = nn.Buffer(torch.tensor(n, dtype=torch.long))"),
    "set twice": (N, f"{N}\n        self.n = self.n + 1"),
    "on some paths": (N, f"{N}\n        if n > 2:\n            self.n = torch.tensor(2)"),
    "changed in the constructor": (N, f"{N}\n        self.n.mul_(2)"),
    "the same tensor is changed": (N, f"{N}\n        self.m = self.n\n        self.m.mul_(2)"),
    "a variable is changed": (
        N,
        "v = torch.tensor(n, dtype=torch.long)\n        self.n = v\n        v += 1",
    ),
    "a variable is changed before": (
        N,
        "v = torch.tensor(n, dtype=torch.long)\n        v += 1\n        self.n = v",
    ),
    "a variable is handed out": (
        N,
        "v = torch.tensor(n, dtype=torch.long)\n        self.n = v\n        helper(v)",
    ),
    "changed by a function": (READ, f"{READ}\n\ndef change(m):\n    m.n.fill_(2)\n"),
    "stored by a function": (READ, f"{READ}\n\ndef change(m):\n    m.n = torch.tensor(2)\n"),
    "by a value of the same name": (
        READ,
        f"{READ}\n\ndef change(m, n):\n    m.n.fill_(n)\n",
    ),
    "by another value": (
        READ,
        f"{READ}\n\ndef change(m, n):\n    nn.init.constant_(m.n, n + 1)\n",
    ),
    "an element is stored": (READ, f"{READ}\n\ndef change(m):\n    m.n[...] = 2\n"),
    "set by its name": (READ, f"{READ}\n\ndef change(m):\n    setattr(m, 'n', 2)\n"),
    "set among the buffers": (READ, f"{READ}\n\ndef change(m):\n    m._buffers['n'] = None\n"),
    "a class that derives from it": (
        READ,
        f"{READ}\n\nclass Other(Model):\n    def grow(self):\n        self.n += 1\n",
    ),
    "a decorator": ("    def forward", "    @helper\n    def forward"),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS.keys())
def test_what_may_be_another_number_stays(change: tuple[str, str], tmp_path: Path) -> None:
    code = SIZES.replace("BODY\n", READ.lstrip())
    assert change[0] in code
    assert "n_int" not in _fixed(tmp_path, code.replace(*change))


# What another method does with the tensor: it may write it there.
HANDED_OUT = (
    "torch.add(self.n, 1, out=self.n)",
    "torch.distributed.all_reduce(self.n)",
    "torch.distributed.all_reduce(tensor=self.n)",
    "helper(self.n)",
    "helper([self.n])",
    "helper(n=self.n)",
    "self.grow(self.n)",
    "self.part = self.n",
    "k = self.n\n        k += 1",
    "k, _ = self.n, 1\n        k.add_(1)",
    "torch.nn.functional.relu(self.n, inplace=True)",
    "self.kept.append(self.n)",
    "k = {'n': self.n}",
    "k = [self.n]\n        helper(k)",
    "for k in [self.n]:\n            k.add_(1)",
    "helper(*[self.n])",
    "(self.n if self.training else self.part).add_(1)",
    "k = self.n.view(1)\n        k.add_(1)",
    "k = self.n.detach()\n        k.add_(1)",
    "k = self.n[...]\n        k.add_(1)",
    "self.n.unsqueeze(0).add_(1)",
    "self.n.set_(torch.tensor(2))",
    "with self.n as k:\n            pass",
    "yield self.n",
)


@pytest.mark.parametrize("line", HANDED_OUT)
def test_a_tensor_that_another_method_may_write_stays(line: str, tmp_path: Path) -> None:
    other = f"    def change(self):\n        {line}\n"
    code = SIZES.replace("BODY", f"return x[: self.n]\n\n{other}")
    assert "n_int" not in _fixed(tmp_path, code)


READS = (
    "return self.n",
    "return self.n * 2, self.n",
    "return f'{self.n}'",
    "return torch.zeros(2, device=self.n.device)",
    "return torch.full((2,), self.n)",
    "print(self.n, int(self.n), self.n.item())",
)


@pytest.mark.parametrize("line", READS)
def test_a_tensor_that_another_method_reads_may_be_a_number_here(line: str, tmp_path: Path) -> None:
    other = f"    def show(self):\n        {line}\n"
    fixed = _fixed(tmp_path, SIZES.replace("BODY", f"return x[: self.n]\n\n{other}"))
    assert "x[: self.n_int]" in fixed
    assert other in fixed


def test_names_that_are_taken_are_not_used(tmp_path: Path) -> None:
    code = SIZES.replace("BODY", "n_int = 2\n        return x[: self.n] * n_int")
    assert "x[: self.n_int_] * n_int" in _fixed(tmp_path, code)


def test_a_method_that_others_call_returns_what_it_did(tmp_path: Path) -> None:
    body = "return x[: self._least()]\n\n    def _least(self):\n        return self.n // 2"
    code = SIZES.replace("BODY", body)
    assert "self.n_int // 2" in _fixed(tmp_path, code)
    for other in ("def show(m):\n    return m._least().dtype\n", "NAMES = ['_least']\n"):
        assert "n_int" not in _fixed(tmp_path, f"{code}\n\n{other}")
    derived = "class Other(Model):\n    def _least(self):\n        return self.n.sum()\n"
    assert "n_int" not in _fixed(tmp_path, f"{code}\n\n{derived}")
    public = code.replace("_least", "least")
    assert "n_int" not in _fixed(tmp_path, public)


def test_another_method_may_keep_the_tensor(tmp_path: Path) -> None:
    where = "    def where(self):\n        return self.n.device"
    size = "    @property\n    def size(self):\n        return self.n"
    for other in (where, size):
        fixed = _fixed(tmp_path, SIZES.replace("BODY", f"return x[: self.n]\n\n{other}"))
        assert "x[: self.n_int]" in fixed
        assert other in fixed


def _fixed(folder: Path, code: str) -> str:
    path = folder / "model.py"
    path.write_text(code, encoding="utf-8")
    for file in fix_files([path], Config(root=folder), unsafe=True).changed:
        path.write_text(file.after, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def _module(code: str, name: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    torch.manual_seed(0)
    return names[name]()


def _outcome(module: Any, x: Any) -> object:
    """What a call returns, as Python compares it, or the class of what it raises."""
    try:
        return module(x).tolist()
    except (RuntimeError, AssertionError) as error:
        return type(error).__name__
