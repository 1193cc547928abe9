"""The guards of prints, logger calls, warnings and progress bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

IMPORTS = """\
import logging
import sys
import warnings

import torch

logger = logging.getLogger(__name__)
"""


def config(root: Path) -> Config:
    return Config(root, Settings((2, 13)), select=("TCL12",), compiled=("*:f",))


def fixed(root: Path, code: str, *, unsafe: bool = False, imports: str = IMPORTS) -> str:
    path = root / "example.py"
    path.write_text(imports + code)
    changed = fix_files([path], config(root), unsafe=unsafe).changed
    return changed[0].after.removeprefix(imports) if changed else code


def declined(root: Path, code: str) -> str:
    path = root / "example.py"
    path.write_text(IMPORTS + code)
    (result,) = check_files([path], config(root)).results
    assert result.diagnostic.declined is not None
    return result.diagnostic.declined.reason


def body(*lines: str) -> str:
    inside = "".join(f"    {line}\n" for line in ("y = x * 2", *lines, "return y + 1"))
    return f"\n\ndef f(x: torch.Tensor):\n{inside}"


def test_prints_next_to_each_other_share_a_guard(tmp_path: Path) -> None:
    assert fixed(tmp_path, body('print("a")  # first', 'print("b")')) == body(
        "if not torch.compiler.is_compiling():",
        '    print("a")  # first',
        '    print("b")',
    )


def test_print_on_the_line_of_its_if(tmp_path: Path) -> None:
    code = "\n\ndef f(x: torch.Tensor, loud=True):\n    if loud: print('a')\n    return x + 1\n"
    after = fixed(tmp_path, code)
    assert "is_compiling" in after
    compile(after, "example.py", "exec")


def test_standard_error_is_output_too(tmp_path: Path) -> None:
    assert fixed(tmp_path, body('sys.stderr.write("a")')) == body(
        "if not torch.compiler.is_compiling():", '    sys.stderr.write("a")'
    )


def test_if_that_asks_a_tensor_only_to_warn_goes_under_the_guard(tmp_path: Path) -> None:
    before = body(
        "if torch.isnan(y).any() or y.max() > 9:", '    logger.warning("bad")', "    print(y)"
    )
    assert fixed(tmp_path, before) == body(
        "if not torch.compiler.is_compiling():",
        "    if torch.isnan(y).any() or y.max() > 9:",
        '        logger.warning("bad")',
        "        print(y)",
    )


def test_if_that_does_more_than_warn_stays(tmp_path: Path) -> None:
    before = body("if torch.isnan(y).any():", "    print(y)", "    y = y + 1")
    assert fixed(tmp_path, before) == body(
        "if torch.isnan(y).any():",
        "    if not torch.compiler.is_compiling():",
        "        print(y)",
        "    y = y + 1",
    )


def test_elif_stays_in_its_chain(tmp_path: Path) -> None:
    before = body("if x is None:", "    y = x", "elif y.max() > 9:", "    print(y)")
    after = fixed(tmp_path, before)
    assert "    elif y.max() > 9:\n        if not torch.compiler.is_compiling():" in after


@pytest.mark.parametrize(
    "argument", ["y.add_(1)", "torch.rand(3)", "next(rows)", "helper(y)", "f'{helper(y)}'"]
)
def test_argument_that_may_do_more_than_compute_makes_the_guard_unsafe(
    tmp_path: Path, argument: str
) -> None:
    code = f"\n\ndef helper(y): ...\n\n\nrows = iter([])\n{body(f'print({argument})')}"
    assert fixed(tmp_path, code) == code
    assert "is_compiling" in fixed(tmp_path, code, unsafe=True)


@pytest.mark.parametrize(
    "argument",
    ["y.shape[0]", "y.sum().tolist()", "len(y)", "'%s' % y", "'{}'.format(y.mean())", "y.dtype, 3"],
)
def test_argument_that_only_computes_keeps_the_guard_safe(tmp_path: Path, argument: str) -> None:
    assert "is_compiling" in fixed(tmp_path, body(f"print({argument})"))


def test_torch_is_written_as_the_file_knows_it(tmp_path: Path) -> None:
    imports = "import torch as t\nfrom torch.compiler import is_compiling\n"
    code = "\n\ndef f(x: t.Tensor):\n    print(1)\n    return x + 1\n"
    after = fixed(tmp_path, code, imports=imports)
    assert "    if not is_compiling():\n        print(1)\n" in after


def test_torch_is_imported_where_it_is_missing(tmp_path: Path) -> None:
    code = """\
from torch.nn import Module


class f(Module):
    def forward(self, x):
        print(1)
        return x + 1
"""
    after = fixed(tmp_path, code, imports="")
    assert "import torch\n" in after
    assert "        if not torch.compiler.is_compiling():\n            print(1)\n" in after


@pytest.mark.parametrize(
    "code",
    [
        "\n\ndef f(x, torch=None):\n    print(1)\n    return x + 1\n",
        "\n\ndef f(x):\n    print(1)\n    import torch\n    return x + 1\n",
        "\n\ndef f(x):\n    print(1)\n    torch = None\n    return x + 1\n",
    ],
)
def test_name_torch_that_is_bound_in_the_function_is_declined(tmp_path: Path, code: str) -> None:
    assert "`torch` may not be the torch module" in declined(tmp_path, code)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("r = print('a')", "the call's value is used"),
        ("g = [print(i) for i in range(2)]", "inside a comprehension"),
        ("y is x or print('a')", "part of a larger expression"),
        ("print(n := 3)", "the call binds `n`"),
    ],
)
def test_call_that_cannot_be_moved_is_declined(tmp_path: Path, line: str, reason: str) -> None:
    assert reason in declined(tmp_path, body(line))


def test_message_names_what_the_place_makes_worse(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    code = "def f(x: torch.Tensor):\n    for i in range(3):\n        print(x)\n    return x\n"
    path.write_text(IMPORTS + code)
    (result,) = check_files([path], config(tmp_path)).results
    assert result.diagnostic.gb_ids == ("GB0059", "GB7000")
    assert result.diagnostic.message == (
        "`print` breaks the graph in a loop: the function runs eagerly, and the CPU waits"
    )


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        pytest.param(
            "def f(x):\n    import torch\n\n    print(x)\n    return torch.relu(x)\n",
            "def f(x):\n    import torch\n\n    if not torch.compiler.is_compiling():\n"
            "        print(x)\n    return torch.relu(x)\n",
            id="the function imports torch",
        ),
        pytest.param(
            "def g(x):\n    import torch\n\n"
            "    def f(x):\n        print(x)\n        return x + 1\n\n"
            "    return torch.compile(f)(x)\n",
            "def g(x):\n    import torch\n\n    def f(x):\n"
            "        if not torch.compiler.is_compiling():\n"
            "            print(x)\n        return x + 1\n\n    return torch.compile(f)(x)\n",
            id="the function around does",
        ),
        pytest.param(
            "def f(x):\n    from torch import nn\n\n    print(x)\n    return nn.Linear(2, 2)(x)\n",
            "def f(x):\n    import torch\n    from torch import nn\n\n"
            "    if not torch.compiler.is_compiling():\n"
            "        print(x)\n    return nn.Linear(2, 2)(x)\n",
            id="the function imports something of torch",
        ),
        pytest.param(
            "def f(x):\n    print(x)\n    import torch\n\n    return torch.relu(x)\n",
            "def f(x):\n    print(x)\n    import torch\n\n    return torch.relu(x)\n",
            id="the function imports it later",
        ),
        pytest.param(
            "def f(x, torch):\n    import torch.nn\n\n    print(x)\n    return x + 1\n",
            "def f(x, torch):\n    import torch.nn\n\n    print(x)\n    return x + 1\n",
            id="the name is taken",
        ),
    ],
)
def test_a_file_that_loads_without_torch_still_does(tmp_path: Path, code: str, wanted: str) -> None:
    doc = '"""May be loaded without torch."""\n\nimport os\n\n\n'
    assert fixed(tmp_path, code, imports=doc) == wanted
