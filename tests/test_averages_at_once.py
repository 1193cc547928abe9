"""Averages of models: what is one, and that all at once has the bits of one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.diagnostics import Confidence
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

HEAD = """\
import copy
from collections import OrderedDict
from itertools import chain

import torch
from torch import nn


"""


def checked(tmp_path: Path, source: str) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(HEAD + source, encoding="utf-8")
    config = Config(tmp_path, select=("TCL520",), weak=True)
    return [r.diagnostic.confidence.value for r in check_files([path], config).results]


def fixed(tmp_path: Path, source: str) -> str:
    path = tmp_path / "train.py"
    path.write_text(HEAD + source, encoding="utf-8")
    config = Config(tmp_path, select=("TCL520",), weak=True)
    changed = fix_files([path], config, unsafe=True).changed
    return changed[0].after if changed else ""


UPDATES = {
    "two models": """\
for a, p in zip(average.parameters(), model.parameters()):
    a.mul_(decay).add_(p, alpha=1 - decay)
""",
    "lengths asked": """\
for a, p in zip(average.parameters(), model.parameters(), strict=True):
    a.lerp_(p, 1 - decay)
""",
    "data": """\
for a, p in zip(average.parameters(), model.parameters()):
    a.data.mul_(decay).add_(p.data, alpha=1.0 - decay)
""",
    "detached": """\
for a, p in zip(average.parameters(), model.parameters()):
    a.detach().mul_(decay).add_(p.detach(), alpha=1.0 - decay)
""",
    "ordered by name": """\
averages = OrderedDict(average.named_parameters())
parameters = OrderedDict(model.named_parameters())
for name, parameter in parameters.items():
    averages[name].mul_(decay).add_(parameter.data, alpha=1 - decay)
""",
    "both named": """\
for (_, a), (_, p) in zip(average.named_parameters(), model.named_parameters()):
    a.lerp_(p, weight=1 - decay)
""",
    "lists": """\
averages, values = list(average.parameters()), list(model.parameters())
for a, p in zip(averages, values):
    a.mul_(decay).add_(p, alpha=1 - decay)
""",
    "below with": """\
for a, p in zip(average.parameters(), model.parameters()):
    with torch.no_grad():
        a.mul_(decay)
        a.add_(p, alpha=1 - decay)
""",
    "by their names alone": """\
averages, parameters = dict(average.named_parameters()), dict(model.named_parameters())
for name in parameters.keys():
    averages[name].data.mul_(decay).add_(parameters[name].data, alpha=1 - decay)
""",
    "a gradient's": """\
for a, p in zip(average.parameters(), model.parameters()):
    a.mul_(decay).add_(p.grad, alpha=1 - decay)
""",
}
MODELS = {
    "float32": "nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Linear(7, 3))",
    "float64": "nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7)).double()",
    "mixed": "nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 3).double())",
    "tied": "tied()",
    "frozen": "nn.Sequential(nn.Linear(5, 7).requires_grad_(False), nn.Linear(7, 3))",
}
SETUP = """\
def tied():
    model = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 5))
    model[1].weight = model[0].weight
    return model


"""


def states(program: str, model: str) -> list[Any]:
    """The average after three updates, and the model."""
    import torch

    space: dict[str, Any] = {}
    exec(program, space)
    torch.manual_seed(0)
    first = eval(model, space)
    second = eval(model, space)
    for p in first.parameters():
        p.grad = torch.randn_like(p)
    for decay in (0.9, 0.999, 0.0):
        space["update"](second, first, decay)
    return [*second.state_dict().values(), *first.state_dict().values()]


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_all_at_once_has_the_bits_of_one_after_the_other(update: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    body = "".join(f"    {line}\n" for line in update.splitlines())
    source = f"{SETUP}@torch.no_grad()\ndef update(average, model, decay):\n{body}"
    after = fixed(tmp_path, source)
    assert "_foreach_" in after
    for name, model in MODELS.items():
        pairs = zip(states(HEAD + source, model), states(after, model), strict=True)
        assert all(torch.equal(one, two) for one, two in pairs), name


WRITTEN = {
    "a sum in a dict": "self.kept[name] = decay * self.kept[name] + (1 - decay) * p.data",
    "a sum that has a name": (
        "assert name in self.kept\n"
        "    new = (1.0 - decay) * p.data + decay * self.kept[name]\n"
        "    self.kept[name] = new.clone()"
    ),
    "a difference": "self.kept[name].sub_((1 - decay) * (self.kept[name] - p))",
    "a difference that is added": "self.kept[name].add_((p - self.kept[name]) * (1 - decay))",
    "a difference with an operator": "self.kept[name] += (1 - decay) * (p - self.kept[name])",
    "a sum that is copied": "self.kept[name].copy_(decay * self.kept[name] + (1 - decay) * p)",
}


@pytest.mark.parametrize("update", WRITTEN.values(), ids=WRITTEN)
def test_an_average_that_is_written_out_is_found_and_left(update: str, tmp_path: Path) -> None:
    loop = f"for name, p in model.named_parameters():\n    {update}\n"
    body = "".join(f"    {line}\n" for line in loop.splitlines())
    source = f"def update_ema(self, model, decay):\n{body}"
    assert checked(tmp_path, source) == ["medium"]
    assert fixed(tmp_path, source) == ""


NONE = {
    "a step towards something else": "for n, p in model.named_parameters():\n"
    "    kept[n].sub_((1 - rate) * (other[n] - p))\n",
    "a sum that is kept elsewhere": "for n, p in model.named_parameters():\n"
    "    mixed[n] = (1 - rate) * p.data + rate * other[n]\n",
    "a difference that is kept": "for n, p in model.named_parameters():\n"
    "    moved[n] = (1 - rate) * (p - other[n])\n",
    "a sum of numbers": "for n, p in model.named_parameters():\n"
    "    total += (1 - rate) * (p.numel() - 1)\n",
    "weights that decay": "for p in model.parameters():\n    p.mul_(0.9)\n",
    "a step by hand": "for p in model.parameters():\n    p.data.add_(p.grad, alpha=-0.1)\n",
    "momentum of an optimizer": "for p in group['params']:\n    state[p]['m'].mul_(0.9).add_(p)\n",
    "tensors of no model": "for a, b in zip(images, masks):\n    a.mul_(0.5).add_(b, alpha=0.5)\n",
    "a decay for each": "for a, p, d in zip(average.parameters(), model.parameters(), decays):\n"
    "    a.mul_(d).add_(p, alpha=1 - d)\n",
    "more than an average": "for a, p in zip(average.parameters(), model.parameters()):\n"
    "    a.mul_(0.9).add_(p, alpha=0.1)\n    print(a.shape)\n",
    "a way with foreach": "if fast:\n    torch._foreach_lerp_(a, b, 0.1)\n"
    "for a, p in zip(average.parameters(), model.parameters()):\n    a.lerp_(p, 0.1)\n",
}


@pytest.mark.parametrize("update", NONE.values(), ids=NONE)
def test_what_is_no_average_is_left_alone(update: str, tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in update.splitlines())
    assert checked(tmp_path, f"def update_ema(average, model, group):\n{body}") == []


LOOP = "for a, p in zip(average.parameters(), model.parameters()):\n        a.lerp_(p, 0.1)\n"
TRAIN = """\
def train(model, average, optimizer, batches):
    for x in batches:
        model(x).sum().backward()
        optimizer.step()
        {each}


"""


@pytest.mark.parametrize(
    ("each", "name", "level"),
    [
        ("mix(average, model)", "mix", Confidence.HIGH),
        ("if x.ndim: mix(average, model)", "mix", Confidence.LOW),
        ("pass", "mix", Confidence.LOW),
        ("pass", "update_ema", Confidence.MEDIUM),
    ],
)
def test_it_is_certain_in_a_step(each: str, name: str, level: Confidence, tmp_path: Path) -> None:
    source = TRAIN.format(each=each) + f"def {name}(average, model):\n    {LOOP}"
    assert checked(tmp_path, source) == [level.value]


def test_a_method_of_an_average_s_class_is_one(tmp_path: Path) -> None:
    loop = LOOP.replace("average", "self.module").replace("        a.", "            a.")
    source = f"class ModelEma:\n    def update(self, model):\n        {loop}"
    assert checked(tmp_path, source) == ["medium"]
