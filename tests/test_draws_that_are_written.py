"""A rate is asked first only where the number stays as it was drawn: nothing writes the tensor."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run before and after their fixes")

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.before_and_after import fixed, outcome
from tests.samples import one_in

PROGRAM = """
import operator
import functools
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def center(p):
    p.sub_(0.9)


def keep(p, kept=[]):
    kept.append(p)
    kept[0].sub_(0.9)


def same(p):
    return p


def quiet(p):
    return p + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.layerdrop = 0.0
        for p in self.parameters():
            nn.init.constant_(p, 0.5)

    def center(self, p):
        p -= 0.9

    def forward(self, x):
        for layer in self.layers:
            p = torch.rand([])
{body}
            if p < self.layerdrop:
                continue
            x = layer(x)
        return x


def main():
    return Net()(torch.ones(1, 3))
"""
WRITTEN = {
    "method": "p.sub_(0.9)",
    "store": "p[...] = -1.0",
    "augmented": "p -= 0.9",
    "an output argument": "torch.sub(p, 0.9, out=p)",
    "an initializer": "nn.init.constant_(p, -1.0)",
    "helper": "center(p)",
    "own method": "self.center(p)",
    "alias": "q = p\nq -= 0.9",
    "alias of an alias": "q = r = p\nr.sub_(0.9)",
    "view": "p.view(1)[0] = -1.0",
    "view in a variable": "q = p.view(-1)\nq.sub_(0.9)",
    "detached": "p.detach().sub_(0.9)",
    "data": "p.data -= 0.9",
    "new data": "p.data = torch.tensor(-1.0)",
    "kept": "keep(p)",
    "returned": "same(p).sub_(0.9)",
    "returned and named": "q = same(p)\nq.sub_(0.9)",
    "list": "both = [p]\nboth[0].sub_(0.9)",
    "dict": "both = {'p': p}\nboth['p'].sub_(0.9)",
    "tuple": "(q, _) = p, 1\nq.sub_(0.9)",
    "loop": "for q in [p]:\n    q.sub_(0.9)",
    "walrus": "(q := p).sub_(0.9)",
    "either": "(p if x is None else p).sub_(0.9)",
    "or": "(None or p).sub_(0.9)",
    "numpy": "p.numpy()[...] = -1.0",
    "numpy in a variable": "a = p.numpy()\na -= 0.9",
    "a tensor of an array": "torch.from_numpy(p.numpy()).sub_(0.9)",
    "in place of torch's": "F.leaky_relu(p.sub_(0.9), inplace=True)",
    "a flag": "F.threshold(p, 2.0, -1.0, inplace=True)",
    "a function of lists": "torch._foreach_sub_([p], 0.9)",
    "operator": "operator.isub(p, 0.9)",
    "a special method": "p.__isub__(0.9)",
    "another special method": "p.__setitem__(..., -1.0)",
    "getattr": "getattr(p, 'sub_')(0.9)",
    "partial": "functools.partial(center, p)()",
    "lambda": "(lambda q: q.sub_(0.9))(p)",
    "nested": "def inner():\n    p.sub_(0.9)\ninner()",
    "attribute": "self.p = p\nself.p.sub_(0.9)",
    "locals": "locals()['p'].sub_(0.9)",
    "eval": "eval('p.sub_(0.9)')",
    "exec": "exec('p.sub_(0.9)')",
    "exec with a scope": "exec('p.sub_(0.9)', {'p': p})",
    "map": "list(map(center, [p]))",
    "method name": "step = p.sub_\nstep(0.9)",
    "two methods": "torch.sigmoid_(p.sub_(2.0).log_()) if False else torch.neg_(p)",
    "a function that ends in _": "torch.neg_(p)",
    "copy to": "p.copy_(torch.tensor(-1.0))",
    "index put": "p.index_put_((), torch.tensor(-1.0))",
    "storage": "p.untyped_storage().fill_(255)",
    "another storage": "p.set_(torch.tensor(-1.0))",
    "starred": "center(*[p])",
    "keyword": "center(p=p)",
    "its parts": "for q in p.view(1).unbind():\n    q.sub_(0.9)",
    "global": "global kept\nkept = p\nkept.sub_(0.9)",
    "vmap": "torch.vmap(lambda q: q.sub_(0.9))(p.view(1))",
    "a sum": "sum([p]).sub_(0.9)",
    "a maximum": "max(p, p).sub_(0.9)",
    "as_tensor": "torch.as_tensor(p).sub_(0.9)",
    "a conversion to the same": "p.to(torch.float32).sub_(0.9)",
    "a cast to the same": "p.float().sub_(0.9)",
    "a layout that it has": "p.contiguous().sub_(.9)",
    "a method that returns it": "p.requires_grad_(False).sub_(.9)",
    "a clamp": "p.clamp_(max=-1)",
    "dlpack": "torch.utils.dlpack.from_dlpack(p).sub_(.9)",
    "without gradients": "with torch.no_grad() as g:\n    p.sub_(.9)",
    "a try": "try:\n    p.sub_(.9)\nfinally:\n    pass",
    "a match": "match p:\n    case q:\n        q.sub_(.9)",
    "a loop over pairs": "for q, _ in zip([p],[1]):\n    q.sub_(.9)",
    "a comprehension": "[q.sub_(.9) for q in (p,)]",
    "assert": "assert p.sub_(.9) is not None",
}
READ = {
    "a written result": "q = p + 1\nq.sub_(0.9)",
    "a read": "x = x + p.item()",
    "a helper that reads": "x = x * quiet(p)",
    "nothing else": "pass",
    "a written copy": "q = p.clone()\nq.sub_(.9)",
    "a size": "n = p.shape",
}


def program(body: str) -> dict[str, str]:
    """LayerDrop at a rate of zero, with something that happens to the number."""
    lines = "\n".join(f"            {line}" for line in body.split("\n"))
    return {"program.py": PROGRAM.format(body=lines)}


@pytest.mark.parametrize("name", one_in(4, WRITTEN))
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_a_number_that_is_written_may_be_below_zero(
    name: str, unsafe: bool, tmp_path: Path
) -> None:
    files = program(WRITTEN[name])
    after = fixed(tmp_path, files, unsafe=unsafe)
    assert "self.layerdrop != 0.0" not in after["program.py"]
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize("name", READ)
def test_a_number_that_is_read_is_asked_for_its_rate(name: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(program(READ[name])["program.py"], encoding="utf-8")
    results = check_files([tmp_path / "program.py"], Config(root=tmp_path)).results
    told = [one.diagnostic for one in results if one.diagnostic.code == "TCL161"]
    [reason] = [one.declined.reason for one in told if one.declined is not None]
    assert reason.startswith("test first whether the rate is zero")


READ_BEFORE = PROGRAM.replace(
    "            p = torch.rand([])\n{body}\n            if p < self.layerdrop:\n"
    "                continue\n            x = layer(x)\n",
    "            p = x.abs().max()\n            n = p.item()\n{body}\n"
    "            x = layer(x) + n\n",
)


@pytest.mark.parametrize("name", one_in(8, [*WRITTEN, *READ]))
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_a_number_that_was_read_before_stays_what_it_was(
    name: str, unsafe: bool, tmp_path: Path
) -> None:
    lines = "\n".join(f"            {line}" for line in (WRITTEN | READ)[name].split("\n"))
    files = {"program.py": READ_BEFORE.format(body=lines)}
    assert "n = p.item()" in files["program.py"]
    after = fixed(tmp_path, files, unsafe=unsafe)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)
