"""What ``side-effects`` makes of prints, logger calls, warnings and progress bars."""

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


def config(root: Path, style: str, torch: tuple[int, int] = (2, 13)) -> Config:
    return Config(root, Settings(torch, side_effects=style), select=("TCL12",), compiled=("*:f",))


def fixed(
    root: Path, code: str, style: str = "guard", *, unsafe: bool = False, imports: str = IMPORTS
) -> str:
    path = root / "example.py"
    path.write_text(imports + code)
    changed = fix_files([path], config(root, style), unsafe=unsafe).changed
    return changed[0].after.removeprefix(imports) if changed else code


def declined(root: Path, code: str, style: str = "guard", torch: tuple[int, int] = (2, 13)) -> str:
    path = root / "example.py"
    path.write_text(IMPORTS + code)
    (result,) = check_files([path], config(root, style, torch)).results
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
@pytest.mark.parametrize("style", ["guard", "graph-print", "trace-time", "remove"])
def test_call_that_cannot_be_moved_is_declined(
    tmp_path: Path, line: str, reason: str, style: str
) -> None:
    assert reason in declined(tmp_path, body(line), style)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('print("y", y)', 'torch._higher_order_ops.print("y {!s}", y)'),
        (
            'print(f"y {y.sum():.3f} {{}}")',
            'torch._higher_order_ops.print("y {:.3f} {{}}", y.sum())',
        ),
        ('print(f"{y!r}", "{", 3)', 'torch._higher_order_ops.print("{!r} {{ 3", y)'),
        ('print("it\'s \\"so\\"\\n")', 'torch._higher_order_ops.print("it\'s \\"so\\"\\n")'),
        ("print()", 'torch._higher_order_ops.print("")'),
    ],
)
def test_graph_print_says_the_same(tmp_path: Path, before: str, after: str) -> None:
    assert fixed(tmp_path, body(before), "graph-print") == body(after)


def test_graph_print_of_a_shape_is_unsafe(tmp_path: Path) -> None:
    code = body("print(y.shape)")
    assert fixed(tmp_path, code, "graph-print") == code
    after = body('torch._higher_order_ops.print("{!s}", y.shape)')
    assert fixed(tmp_path, code, "graph-print", unsafe=True) == after


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('print("a", file=sys.stderr)', "has no `file=`"),
        ("print(*y)", "the number of values to print is not known"),
        ("print(y.sum().item())", "read from a tensor"),
        ('print(f"{y:{3}}")', "is computed"),
        ('print("$y", y)', "`$`"),
        ('logger.info("a")', "can only replace `print`"),
        ('warnings.warn("a")', "can only replace `print`"),
    ],
)
def test_graph_print_declines(tmp_path: Path, line: str, reason: str) -> None:
    assert reason in declined(tmp_path, body(line), "graph-print")


def test_graph_print_needs_a_torch_that_has_it(tmp_path: Path) -> None:
    assert "needs torch 2.11" in declined(tmp_path, body("print(y)"), "graph-print", (2, 6))


def test_trace_time_emits_through_one_helper(tmp_path: Path) -> None:
    after = fixed(
        tmp_path, body('print("a")', 'print("b")', 'logger.info("c %d", 1)'), "trace-time"
    )
    assert after.count("def _print_when_traced(*args, **kwargs):") == 1
    assert after.count("@torch.compiler.assume_constant_result") == 2
    assert "    logger.info(*args, **kwargs)\n" in after
    assert after.endswith(
        body(
            '_print_when_traced("a")',
            '_print_when_traced("b")',
            '_logger_info_when_traced("c %d", 1)',
        )
    )


def test_trace_time_needs_torch_above_the_helper(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text("def f(x):\n    print('a')\n    return torch.relu(x)\n\n\nimport torch\n")
    (result,) = check_files([path], config(tmp_path, "trace-time")).results
    assert result.diagnostic.declined is not None
    assert "torch is not imported above" in result.diagnostic.declined.reason


def test_trace_time_with_a_size_is_unsafe(tmp_path: Path) -> None:
    code = body("print(y.shape[0])")
    assert fixed(tmp_path, code, "trace-time") == code
    assert "_print_when_traced(y.shape[0])" in fixed(tmp_path, code, "trace-time", unsafe=True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("print(y)", "`y` is not known while tracing"),
        ('logging.getLogger("a").info("b")', "cannot be reached from a helper function"),
        ("print(*[1])", "unpacks its arguments"),
    ],
)
def test_trace_time_declines(tmp_path: Path, line: str, reason: str) -> None:
    assert reason in declined(tmp_path, body(line), "trace-time")


def test_remove_is_never_safe(tmp_path: Path) -> None:
    code = body('logger.info("a")')
    assert fixed(tmp_path, code, "remove") == code
    assert fixed(tmp_path, code, "remove", unsafe=True) == body()


def test_reorder_is_only_shown(tmp_path: Path) -> None:
    code = body("print(y)")
    assert fixed(tmp_path, code, "reorder", unsafe=True) == code
    path = tmp_path / "example.py"
    (result,) = check_files([path], config(tmp_path, "reorder")).results
    assert result.diagnostic.fix_message is not None
    assert "reorderable_logging_functions.add(print)" in result.diagnostic.fix_message


@pytest.mark.parametrize(
    "line", ['logger.info("a")', 'print("a", file=sys.stderr)', "print(y.shape)"]
)
def test_reorder_declines_what_it_cannot_defer(tmp_path: Path, line: str) -> None:
    assert "reorderable_logging_functions" in declined(tmp_path, body(line), "reorder")


def test_message_names_what_the_place_makes_worse(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    code = "def f(x: torch.Tensor):\n    for i in range(3):\n        print(x)\n    return x\n"
    path.write_text(IMPORTS + code)
    (result,) = check_files([path], config(tmp_path, "guard")).results
    assert result.diagnostic.gb_ids == ("GB0059", "GB7000")
    assert result.diagnostic.message == (
        "`print` breaks the graph in a loop: the function runs eagerly, and the CPU waits"
    )


def test_bar_can_be_removed(tmp_path: Path) -> None:
    imports = IMPORTS + "from tqdm import tqdm, trange\n"
    code = "\n\ndef f(x):\n    for i in tqdm(range(3)):\n        x = x + i\n    return x\n"
    after = fixed(tmp_path, code, "remove", unsafe=True, imports=imports)
    assert "    for i in range(3):\n" in after
    code = code.replace("tqdm(range(3))", "trange(3)")
    assert "    for i in range(3):\n" in fixed(
        tmp_path, code, "remove", unsafe=True, imports=imports
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
