"""Two classes or methods of one name in a condition: both are meant, whichever one is made."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

READ = "x * x.max().item()"
PLAIN = "x * 2"
CLASS = """\
import os
import torch
from torch import nn

if os.environ.get("TWO_WAYS"):
    class Block(nn.Module):
        def forward(self, x):
            return FIRST
else:
    class Block(nn.Module):
        def forward(self, x):
            return SECOND
"""
NET = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x) + 1


net = torch.compile(Net(), backend="eager")
"""
METHOD = """\
import os
import torch
from torch import nn


class Net(nn.Module):
    if os.environ.get("TWO_WAYS"):
        def NAME(self, x):
            return FIRST
    else:
        def NAME(self, x):
            return SECOND

    def other(self, x):
        return self.NAME(x) + 1


net = Net()
"""
FROM = "from ways_blocks import Block\n"
FORMS = {
    "a class": {"ways_program.py": CLASS + NET},
    "a class of another file": {
        "ways_blocks.py": CLASS,
        "ways_program.py": "import torch\nfrom torch import nn\nfrom ways_blocks import Block\n"
        + NET,
    },
    "a method": {
        "ways_program.py": METHOD.replace("NAME", "helper").replace("other", "forward")
        + "net = torch.compile(net, backend='eager')\n"
    },
    "a forward": {"ways_program.py": METHOD.replace("NAME", "forward")},
    "a base": {
        "ways_program.py": CLASS
        + "\n\nclass Net(Block):\n    def other(self, x):\n        return x\n\n\nnet = Net()\n"
    },
}


def reads(folder: Path, *, first: bool, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the graph breaks with one of the two definitions."""
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    monkeypatch.setenv("TWO_WAYS", "1" if first else "")
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    torch._dynamo.reset()
    counters.clear()
    try:
        net = importlib.import_module("ways_program").net
        torch.compile(net, backend="eager")(torch.ones(3))
        return bool(counters["graph_break"])
    finally:
        for name in ("ways_program", "ways_blocks"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("reading", ["FIRST", "SECOND", "NONE"])
@pytest.mark.parametrize("form", FORMS)
def test_both_definitions_are_meant(
    form: str, reading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FORMS[form].items():
        first, second = (READ if one == reading else PLAIN for one in ("FIRST", "SECOND"))
        made = text.replace("FIRST", first).replace("SECOND", second)
        (tmp_path / name).write_text(made, encoding="utf-8")
    results = check_files([*tmp_path.glob("*.py")], Config(tmp_path)).results
    codes = [one.diagnostic.code for one in results]
    assert codes == ([] if reading == "NONE" else ["TCL101"])
    assert reads(tmp_path, first=True, monkeypatch=monkeypatch) is (reading == "FIRST")
    assert reads(tmp_path, first=False, monkeypatch=monkeypatch) is (reading == "SECOND")
