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
                assert torch.logical_not(x.sum() > 0), "---"
            elif x.sum() > 0:
                raise ValueError("-" * 3)
            return x
        """,
    ),
    "a device by its number": (
        """
        def f(x):
            return x + torch.tensor([1.0]).cuda(1)
        """,
        """
        def f(x):
            return x + torch.ones(1, device="cuda:1")
        """,
    ),
    "explain, given all kinds of arguments": (
        """
        def explained(f, x, more):
            return torch._dynamo.explain(f, x, *more, y=2, **more)
        """,
        """
        def explained(f, x, more):
            return torch._dynamo.explain(f)(x, *more, y=2, **more)
        """,
    ),
}
FIXED_IF_UNSAFE = {
    "the seed of a device that is moved to": (
        """
        def f(x):
            return x + torch.randn(3).to("cuda")
        """,
        """
        def f(x):
            return x + torch.randn(3, device="cuda")
        """,
    ),
    "a layer with an epsilon": (
        """
        def f(x):
            return torch.nn.LayerNorm(x.shape[-1], eps=1e-6)(x)
        """,
        """
        def f(x):
            return torch.nn.functional.layer_norm(x, (x.shape[-1],), eps=1e-6)
        """,
    ),
    "a constant in a class that has the buffer's name already": (
        """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self._constant = 1

            def forward(self, x: torch.Tensor):
                return x + torch.tensor([5, 1.0], device=x.device)
        """,
        """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self._constant = 1
                self.register_buffer("_constant_2", torch.tensor([5, 1.0]), persistent=False)

            def forward(self, x: torch.Tensor):
                return x + self._constant_2.to(x.device)
        """,
    ),
    "two tests, both negated": (
        """
        def f(x: torch.Tensor, y: torch.Tensor):
            if not (x > 0).all() and not (y > 0).any():
                x = x * 2
            return x
        """,
        """
        def f(x: torch.Tensor, y: torch.Tensor):
            x = torch.where(
                torch.logical_not((x > 0).all()) & torch.logical_not((y > 0).any()),
                x * 2,
                x,
            )
            return x
        """,
    ),
    "averages of what is listed already": (
        """
        def average(net, ema):
            for a, b in zip(list(ema.parameters()), net.parameters()):
                a.lerp_(b, 0.1)
        """,
        """
        def average(net, ema):
            averages = list(ema.parameters())
            news = list(net.parameters())
            torch._foreach_lerp_(averages, news, 0.1)
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


@pytest.mark.parametrize(("program", "fixed"), FIXED_IF_UNSAFE.values(), ids=FIXED_IF_UNSAFE.keys())
def test_a_rare_form_is_fixed_if_unsafe_fixes_are_allowed(
    tmp_path: Path, program: str, fixed: str
) -> None:
    path, config = _written(tmp_path, _text(program))
    assert not fix_files([path], config).changed
    [changed] = fix_files([path], config, unsafe=True).changed
    assert changed.after == _text(fixed)


@pytest.mark.parametrize(("code", "program"), FOUND.values(), ids=FOUND.keys())
def test_a_rare_form_is_found(tmp_path: Path, code: str, program: str) -> None:
    text = _text(program)
    path, config = _written(tmp_path, text)
    run = check_files([path], config)
    [row] = [row for row, line in enumerate(text.splitlines(), 1) if line.endswith("# X")]
    assert [(r.diagnostic.code, r.diagnostic.span.start.row) for r in run.results] == [(code, row)]


def test_output_in_code_that_has_to_be_whole_is_told_so(tmp_path: Path) -> None:
    program = """
        @torch.compile(fullgraph=True)
        def f(x):
            print("a")
            return x
        """
    path, config = _written(tmp_path, _text(program))
    [found] = check_files([path], config).results
    assert found.diagnostic.message == "`print` cannot be compiled with `fullgraph=True`"
