"""What `torch.jit.script` compiles is never rewritten, whichever way it gets there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

HEAD = "import torch\nfrom torch import nn, jit\nfrom torch.jit import script\n\n\n"
NET = """\
class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert not (x < 0).any(), "negative"
        return x * 2


"""
FUNCTION = """\
def f(x: torch.Tensor) -> torch.Tensor:
    assert not (x < 0).any(), "negative"
    return x * 2


"""
SCRIPTED = {
    "a decorated function": "@torch.jit.script\n" + FUNCTION,
    "a decorator by another name": "@script\n" + FUNCTION,
    "a decorator through the package": "@jit.script\n" + FUNCTION,
    "script_if_tracing": "@torch.jit.script_if_tracing\n" + FUNCTION,
    "a call": FUNCTION + "g = torch.jit.script(f)\n",
    "a call with the same name": FUNCTION + "f = script(f)\n",
    "a module": NET + "net = torch.jit.script(Net())\n",
    "a module in a variable": NET + "net = Net()\nnet = torch.jit.script(net)\n",
    "a module that was moved": NET + 'net = torch.jit.script(Net().eval().to("cpu"))\n',
    "a module in a function": NET + "def save():\n    net = Net()\n    return jit.script(net)\n",
    "a module from a function": NET
    + "def build():\n    return Net()\n\n\ndef save():\n    return jit.script(build())\n",
    "a module from anywhere": NET + "def save(net):\n    return jit.script(net)\n",
    "a part of a module": NET
    + "class Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.net = Net()\n\n    def forward(self, x: torch.Tensor):\n"
    "        return self.net(x)\n\n\nouter = torch.jit.script(Outer())\n",
    "parts in a list": NET
    + "class Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.nets = nn.ModuleList([Net() for _ in range(3)])\n\n"
    "    def forward(self, x: torch.Tensor):\n        for net in self.nets:\n"
    "            x = net(x)\n        return x\n\n\nouter = torch.jit.script(Outer())\n",
    "a part that is scripted": NET
    + "class Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.net = torch.jit.script(Net())\n\n    def forward(self, x: torch.Tensor):\n"
    "        return self.net(x)\n",
    "a function that a module calls": FUNCTION
    + "class Net(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return f(x)\n\n\n"
    "net = torch.jit.script(Net())\n",
    "a method that forward calls": "class Net(nn.Module):\n"
    "    def forward(self, x: torch.Tensor):\n        return self.check(x)\n\n"
    '    def check(self, x: torch.Tensor):\n        assert not (x < 0).any(), "negative"\n'
    "        return x * 2\n\n\nnet = torch.jit.script(Net())\n",
    "an exported method": NET.rstrip()
    + "\n\n    @torch.jit.export\n    def more(self, x: torch.Tensor):\n        return x\n",
    "a script module": NET.replace("nn.Module", "torch.jit.ScriptModule").replace(
        "    def", "    @torch.jit.script_method\n    def"
    ),
    "a base class": NET + "class More(Net):\n    pass\n\n\nmore = torch.jit.script(More())\n",
    "a nested function": "@torch.jit.script\n" + FUNCTION.replace("x * 2", "torch.relu(x)"),
}
PLAIN = {
    "no script": NET,
    "another class": NET
    + "class Other(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x\n\n\n"
    "other = torch.jit.script(Other())\n",
    "an ignored method": "class Net(nn.Module):\n"
    "    def forward(self, x: torch.Tensor):\n        return self.check(x)\n\n"
    "    @torch.jit.ignore\n    def check(self, x: torch.Tensor):\n"
    '        assert not (x < 0).any(), "negative"\n'
    "        return x * 2\n\n\nnet = torch.jit.script(Net())\n",
    "a method that nobody scripts": NET.rstrip().replace("def forward", "def check")
    + "\n\n    def forward(self, x: torch.Tensor):\n        return x\n\n\nn = script(Net())\n",
}


def _reasons(folder: Path, *texts: str) -> tuple[bool, list[str]]:
    """Whether `fix` changes anything, and why the findings of TCL110 have no fix."""
    paths = [folder / f"part_{number}.py" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    config = Config(root=folder, scope="all")
    found = [r.diagnostic for r in check_files(paths, config).results]
    declined = [d.declined.reason for d in found if d.code == "TCL110" and d.declined]
    return bool(fix_files(paths, config, unsafe=True).changed), declined


@pytest.mark.parametrize("text", SCRIPTED.values(), ids=SCRIPTED)
def test_scripted_code_is_told_and_left_alone(text: str, tmp_path: Path) -> None:
    changed, reasons = _reasons(tmp_path, HEAD + text)
    assert not changed
    assert len(reasons) == 1
    assert "torch.jit.script compiles" in reasons[0]


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_other_code_beside_it_is_fixed(text: str, tmp_path: Path) -> None:
    assert _reasons(tmp_path, HEAD + text) == (True, [])


def test_a_class_that_another_file_scripts_is_left_alone(tmp_path: Path) -> None:
    user = "import torch\nfrom part_0 import Net\n\nnet = torch.jit.script(Net())\n"
    changed, reasons = _reasons(tmp_path, HEAD + NET, user)
    assert not changed
    assert len(reasons) == 1


READ = """\
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * (x.sum().item() / 3)
"""


def test_no_unsafe_fix_is_made_in_it(tmp_path: Path) -> None:
    path = tmp_path / "part.py"
    changed = []
    for text in (HEAD + READ, HEAD + READ + "\n\nnet = torch.jit.script(Net())\n"):
        path.write_text(text)
        done = fix_files([path], Config(tmp_path), unsafe=True)
        changed.append(bool(done.changed))
    assert changed == [True, False]
