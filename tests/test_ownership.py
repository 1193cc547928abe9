"""Numbers that are kept as tensors: nobody who writes the memory they came from may change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from .proof.equal import difference
from .proof.fixing import fixed
from .proof.run import run_eager
from .samples import one_in

_IMPORTS = "import torch\nfrom torch import nn\n"
# How a second name for the memory of `y` may come about, and be written.
_WRITES = {
    "unpacking": "a, b = y.chunk(2)\n    a.add_(1)",
    "a loop over rows": "for row in y:\n        row.add_(1)",
    "an annotation": "a: torch.Tensor = y\n    a.add_(1)",
    "a walrus": "(a := y).add_(1)",
    "a conditional expression": "a = y if len(y) else x\n    a.add_(1)",
    "or": "a = None or y\n    a.add_(1)",
    "with": "with contextlib.nullcontext(y) as a:\n        a.add_(1)",
    "match": "match y:\n        case a:\n            a.add_(1)",
    "a comprehension": "[row.add_(1) for row in y]",
    "a comprehension's own name": "[y.add_(1) for y in [y]]",
    "a generator's own name": "kept = (y.add_(1) for y in [y])\n    list(kept)",
    "a global": "global KEPT\n    KEPT = y\n    KEPT.add_(1)",
    "a dict": "d = {'k': y}\n    d['k'].add_(1)",
    "a list": "[y][0].add_(1)",
    "append": "kept = []\n    kept.append(y)\n    kept[0].add_(1)",
    "a starred name": "first_row, *others = y\n    first_row.add_(1)",
    "an attribute": "box = Box()\n    box.y = y\n    box.y.add_(1)",
    "an unknown callable": "UNKNOWN(y)",
    "foreach": "torch._foreach_add_([y], 1)",
    "operator": "operator.iadd(y, 1)",
    "getattr": "getattr(y, 'add_')(1)",
    "an unbound method": "torch.Tensor.add_(y, 1)",
    "partial": "functools.partial(torch.Tensor.add_, y)(1)",
    "map": "list(map(lambda t: t.add_(1), [y]))",
    "aten": "torch.ops.aten.add_(y, 1)",
    "a method of a box": "box = Box()\n    box.y = y\n    box.bump()",
    "out in a tuple": "torch.max(x, 0, out=(y[1], torch.empty((), dtype=torch.int64)))",
    "out": "torch.add(x, 1, out=y)",
    "reshape_as": "y.reshape_as(x).add_(1)",
    "swapdims": "y.view(2, -1).swapdims(0, 1).add_(1)",
    "moveaxis": "y.view(2, -1).moveaxis(0, 1).add_(1)",
    "as_strided": "y.as_strided((2,), (1,)).add_(1)",
    "unfold": "y.unfold(0, 2, 2).add_(1)",
    "tensor_split": "y.tensor_split(2)[0].add_(1)",
    "hsplit": "y.hsplit(2)[0].add_(1)",
    "split_with_sizes": "y.split_with_sizes([1, len(y) - 1])[0].add_(1)",
    "broadcast_to": "y.broadcast_to(y.shape).add_(1)",
    "atleast_1d": "torch.atleast_1d(y).add_(1)",
    "type": "y.type(y.dtype).add_(1)",
    "numpy": "y.detach().numpy()[0] = 9",
    "conj": "y.conj().add_(1)",
    "resolve_conj": "y.resolve_conj().add_(1)",
    "unary plus": "(+y).add_(1)",
    "positive": "y.positive().add_(1)",
    "data": "y.data.add_(1)",
    "a store": "y[0] = 7",
    "an augmented store": "y[0] += 1",
    "an augmented name": "y += 1",
    "list": "list(y)[0].add_(1)",
    "next": "next(iter(y)).add_(1)",
    "a module": "nn.Identity()(y).add_(1)",
    "an in-place module": "nn.Threshold(100.0, 3.0, inplace=True)(y)",
    "a helper": "same(y).add_(1)",
    "a lambda": "(lambda t: t)(y).add_(1)",
    "a nested function": "def write():\n        y.add_(1)\n    write()",
    "a default argument": "def write(t=y):\n        t.add_(1)\n    write()",
    "a generator": "next(t.add_(1) for t in [y])",
    "a copy of the reference": "import copy\n    copy.copy([y])[0].add_(1)",
    "zip": "for a, b in zip([y], [x]):\n        a.add_(1)",
    "enumerate": "for i, a in enumerate([y]):\n        a.add_(1)",
    "vars": "a = locals()['y']\n        \n    a.add_(1)",
    "set_": "y.set_(x.detach() + 40)",
    "copy_": "y.copy_(x + 5)",
    "swap": "y, z = x, y\n    z.add_(1)",
    "a yield": "list(each(y))",
    "asserted": "assert y.add_(1) is not None",
    "an f-string": "f'{y.add_(1)}'",
    "a numpy view": "torch.from_numpy(y.detach().numpy()).add_(1)",
    "dlpack": "torch.utils.dlpack.from_dlpack(y.detach()).add_(1)",
}
_READS = {
    "an element": "y[0].item()",
    "a whole tensor": "y[:1].squeeze().item()",
    "float": "float(y[0])",
    "through a comprehension": "[y.item() for y in y.flatten()][0]",
    "through a list": "list(y)[0].item()",
    "through next": "next(iter(y)).item()",
    "through a module": "nn.Identity()(y)[0].item()",
    "through a parameter": "nn.Parameter(y)[0].item()",
    "through a helper": "same(y)[0].item()",
    "through a lambda": "(lambda t: t)(y)[0].item()",
    "max of one": "y[:1].max().item()",
}
_PRELUDE = """
import contextlib, functools, operator
KEPT = None
UNKNOWN = [lambda t: t.add_(1)][0]
class Box:
    def bump(self):
        self.y.add_(1)
def same(t):
    return t
def each(t):
    t.add_(1)
    yield t
"""
_INPUTS = "[(torch.rand(4),), (torch.rand(2, 2),)]"


def _assert_same(code: str, folder: Path, inputs: str) -> None:
    text = fixed(_IMPORTS + code, folder)
    before, after = run_eager(code, inputs), run_eager(text, inputs)
    assert difference(_plain(before), _plain(after)) is None, text


def _plain(outcome: Any) -> tuple[Any, ...]:
    return outcome.results, [type(e) for e in outcome.raised], outcome.state


_PAIRS = [
    *((write, read) for write in _WRITES for read in ("an element", "float")),
    *((write, read) for write in ("unpacking", "a dict", "a helper") for read in _READS),
]


@pytest.mark.parametrize(("write", "read"), one_in(6, sorted({*_PAIRS})))
def test_a_kept_number_does_not_change_when_its_tensor_is_written(
    write: str, read: str, tmp_path: Path
) -> None:
    code = f"""{_PRELUDE}
@torch.compile
def f(x: torch.Tensor):
    y = x.float().reshape(-1) * 2
    z = y.float() * 1
    first = {_READS[read]}
    {_WRITES[write]}
    return z * first
"""
    _assert_same(code, tmp_path, _INPUTS)


@pytest.mark.parametrize("write", one_in(6, _WRITES))
def test_a_computed_tensor_that_is_written_is_not_kept(write: str, tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
@torch.compile
def f(x: torch.Tensor):
    y = x.float().reshape(-1) + x.float().max()
    v = y[0]
    z = y.float() * 1
    first = v.item()
    {_WRITES[write]}
    return z * first
"""
    _assert_same(code, tmp_path, _INPUTS)


@pytest.mark.parametrize("write", one_in(6, _WRITES))
def test_an_argument_that_is_written_is_not_kept(write: str, tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    z = y.float() * 1
    first = y[0].item()
    {_WRITES[write]}
    return z * first
"""
    _assert_same(code, tmp_path, "[(torch.rand(4), torch.rand(4))]")


def test_two_arguments_may_be_the_same_memory(tmp_path: Path) -> None:
    code = """
@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    w = y * 2
    first = y.reshape(-1)[0].item()
    x.add_(1)
    return w * first
"""
    shared = (
        "(lambda t: [(t, t, torch.rand(3)), (t.view(-1), t[:2], torch.rand(3))])(torch.rand(4))"
    )
    _assert_same(code, tmp_path, shared)


_LATER = {
    "a buffer": (
        "self.register_buffer('scale', torch.tensor(1.5))",
        "return self.w * self.scale.item()",
        "m.scale.mul_(3)",
    ),
    "a parameter": (
        "self.scale = nn.Parameter(torch.tensor(1.5))",
        "return self.w * self.scale.item()",
        "m.scale.data.mul_(3)",
    ),
    "a parameter and an optimizer": (
        "self.scale = nn.Parameter(torch.tensor(1.5))",
        "return (self.w * self.scale.item()) * self.scale",
        "m.scale.grad = torch.ones(()); torch.optim.SGD([m.scale], lr=0.1).step()",
    ),
    "an element of a buffer": (
        "self.register_buffer('scales', torch.rand(3))",
        "return self.w * self.scales[1].item()",
        "m.scales.zero_()",
    ),
    "a number that is counted up": (
        "self.register_buffer('scale', torch.tensor(1.5))",
        "n = self.scale.item()\n        y = self.w * n\n        n += 1\n        return y * n",
        "m.scale.zero_()",
    ),
    "a number of a returned tensor": (
        "pass",
        "y = x * 2\n        self.y = y\n        return self.w * y[0].item()",
        "m.y.zero_()",
    ),
    "a total in a loop": (
        "pass",
        """y, total = self.w * 1, 0.0
        for i in range(3):
            total += x[i].item()
            y = y * total
        return y""",
        "x.zero_()",
    ),
}


@pytest.mark.parametrize("case", _LATER)
def test_a_tensor_that_is_saved_for_backward_is_nobody_elses(case: str, tmp_path: Path) -> None:
    setup, body, later = _LATER[case]
    code = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(3))
        {setup}
    def forward(self, x: torch.Tensor):
        {body}
def f(x):
    torch.manual_seed(0)
    m = Net()
    out = m(x)
    with torch.no_grad():
        {later}
    out.sum().backward()
    return out, m.w.grad
"""
    _assert_same(code, tmp_path, "[(torch.rand(3),)]")


_MODES = {
    "a block": """
    with torch.inference_mode():
        s = x.max().item()
    y = w * s""",
    "a block around a block": """
    with torch.no_grad(), torch.inference_mode():
        s = (x * 2).max().item()
    y = w * s""",
    "a block by another name": """
    with mode():
        s = x.max().item()
    y = w * s""",
    "a block of an object": """
    quiet = torch.inference_mode()
    with quiet:
        s = x.sum().item()
    y = w * s""",
    "an unknown block": """
    with UNKNOWN_MODE():
        s = x.sum().item()
    y = w * s""",
    "a decorated helper": """
    s = helper(x)
    y = w * s""",
    "a nested block": """
    with torch.inference_mode():
        if True:
            s = x.sum().item()
            t = s + 1
    y = w * t""",
    "a block that is left by return": """
    y = w * method(x)""",
    "an argument that was made there": """
    with torch.inference_mode():
        z = x + 1
    s = z.max().item()
    y = w * s""",
}


@pytest.mark.parametrize("case", _MODES)
def test_an_inference_tensor_does_not_meet_a_weight(case: str, tmp_path: Path) -> None:
    code = f"""
import contextlib
from torch import inference_mode as mode
UNKNOWN_MODE = [torch.inference_mode][0]
@torch.inference_mode()
def helper(x: torch.Tensor) -> float:
    return x.max().item()
def method(x: torch.Tensor):
    with torch.inference_mode():
        return x.max().item()
@torch.compile
def step(x: torch.Tensor):
    x = x.float()
    w = x * 1{_MODES[case]}
    return y
def f(x):
    x.requires_grad_()
    y = step(x)
    y.sum().backward()
    return y, x.grad
"""
    _assert_same(code, tmp_path, "[(torch.rand(3),)]")
