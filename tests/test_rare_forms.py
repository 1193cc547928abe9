"""Forms of code that no example of a rule has: what is found there, and what fixes make of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

FIXED = {
    "a device that a parameter is declared as": (
        """
        def f(x, device: torch.device):
            return x + torch.tensor([1.0]).to(device)
        """,
        """
        def f(x, device: torch.device):
            return x + torch.ones(1, device=device)
        """,
    ),
    "a device in a variable": (
        """
        def f(x):
            device = torch.device("cpu")
            return x + torch.tensor([1.0]).to(device)
        """,
        """
        def f(x):
            device = torch.device("cpu")
            return x + torch.ones(1, device=device)
        """,
    ),
    "a message that is multiplied": (
        """
        def f(x):
            if x.sum() > 0:
                raise ValueError("-" * 3)
            return x
        """,
        """
        def f(x):
            if torch.compiler.is_compiling():
                torch._assert_async(torch.logical_not(x.sum() > 0), "---")
            elif x.sum() > 0:
                raise ValueError("-" * 3)
            return x
        """,
    ),
}
# ``# X`` marks the line of the finding.
FOUND = {
    "a collective that gradients pass": (
        "TCL150",
        """
        import torch.distributed.nn.functional as D

        def f(x):
            return D.all_gather(x)  # X
        """,
    ),
    "a dict with a default, filled when it is made": (
        "TCL101",
        """
        from collections import defaultdict

        def f(x: torch.Tensor):
            d = defaultdict(list, {"a": [x]})
            return d["a"][0].item()  # X
        """,
    ),
}


def _text(program: str) -> str:
    return f"import torch\n{dedent(program)}"


def _written(folder: Path, text: str) -> tuple[Path, Config]:
    path = folder / "net.py"
    path.write_text(text, encoding="utf-8")
    return path, Config(folder, compiled=("*:f",))


@pytest.mark.parametrize(("program", "fixed"), FIXED.values(), ids=FIXED.keys())
def test_a_rare_form_is_fixed(tmp_path: Path, program: str, fixed: str) -> None:
    path, config = _written(tmp_path, _text(program))
    [changed] = fix_files([path], config).changed
    assert changed.after == _text(fixed)


@pytest.mark.parametrize(("code", "program"), FOUND.values(), ids=FOUND.keys())
def test_a_rare_form_is_found(tmp_path: Path, code: str, program: str) -> None:
    text = _text(program)
    path, config = _written(tmp_path, text)
    run = check_files([path], config)
    [row] = [row for row, line in enumerate(text.splitlines(), 1) if line.endswith("# X")]
    assert [(r.diagnostic.code, r.diagnostic.span.start.row) for r in run.results] == [(code, row)]
