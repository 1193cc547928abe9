"""Names in torch.compile calls: which torch knows them, and where the calls get them from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.lint.engine import check_files
from tclint.torch_facts.compile_names import compile_names
from tclint_rules.compile_calls.unknown_mode import meant_mode
from tests.cli_runs import tclint


@pytest.mark.parametrize(
    ("version", "known"),
    [((2, 5), False), ((2, 6), False), ((2, 9), True), ((2, 13), True), ((2, 99), True)],
)
def test_a_name_of_a_later_torch_counts_from_the_first_version_that_may_have_it(
    version: tuple[int, int], known: bool
) -> None:
    assert ("lite" in compile_names(version).modes) is known


def test_a_removed_option_is_still_known_to_the_torch_that_had_it() -> None:
    assert "benchmark_epilogue_fusion" in compile_names((2, 13)).options
    assert "benchmark_epilogue_fusion" not in compile_names((2, 15)).options


@pytest.mark.parametrize(
    "call",
    [
        'torch.compile(step, mode="lite")',
        "torch.compile(step, mode=MODE)",
        "torch.compile(step, mode=Settings().mode)",
        'torch.compile(step, mode={"mode": "lite"}["mode"])',
    ],
    ids=["a literal", "a constant", "a field of a dataclass", "an entry of a dict"],
)
def test_a_mode_is_judged_wherever_the_file_has_it_from(call: str, tmp_path: Path) -> None:
    assert codes(call, tmp_path, (2, 6)) == ["TCL401"]
    assert codes(call, tmp_path, (2, 13)) == []


@pytest.mark.parametrize(
    "call",
    [
        "torch.compile(step, mode=unknown())",
        'torch.compile(step, backend=chosen(), mode="fastest")',
        "torch.compile(step, options=unknown())",
        "torch.compile(step, **unknown())",
        'torch.compile(step, backend="tensorrt")',
        'torch.compile(step, options={"guard_filter_fn": all})',
    ],
)
def test_what_is_not_known_is_not_judged(call: str, tmp_path: Path) -> None:
    assert codes(call, tmp_path, (2, 13)) == []


def test_a_backend_of_the_file_s_own_is_known(tmp_path: Path) -> None:
    register = "@torch._dynamo.register_backend\ndef mine(graph, inputs):\n    return graph\n\n\n"
    call = 'torch.compile(step, backend="mine")'
    assert codes(call, tmp_path, (2, 13)) == ["TCL402"]
    assert codes(call, tmp_path, (2, 13), register) == []


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("max-performance", "max-autotune"),
        ("reduce-latency", "reduce-overhead"),
        ("max-autotune-cudagraphs", "max-autotune"),
        ("max-no-cudagraphs", "max-autotune-no-cudagraphs"),
        ("MAX_AUTOTUNE_NOCUDAGRAPHS", "max-autotune-no-cudagraphs"),
        ("no-cudagraphs", None),
        ("fast", None),
        ("-", None),
    ],
)
def test_a_mode_is_put_right_where_only_one_can_be_meant(written: str, meant: str | None) -> None:
    found = meant_mode(written, compile_names((2, 13)).modes)
    assert (found.name if found and found.clear else None) == meant


PROGRAM = """\
from dataclasses import dataclass

import torch

MODE = "lite"


@dataclass
class Settings:
    mode: str = "lite"


def step(x):
    return x + 1


{before}compiled = {call}
"""


def codes(call: str, root: Path, torch: tuple[int, int], before: str = "") -> list[str]:
    """The codes that a program with this call gets."""
    path = root / "program.py"
    path.write_text(PROGRAM.format(call=call, before=before), encoding="utf-8")
    config = Config(root=root, settings=Settings(target_torch=torch), select=("TCL4",), weak=True)
    return [result.diagnostic.code for result in check_files([path], config).results]


KEPT = [
    'GIVEN = {"mode": "fastest"}\ncompiled = torch.compile(step, **GIVEN)',
    'GIVEN = dict(mode="fastest")\n@torch.compile(**GIVEN)\ndef other(x):\n    return x',
    'def build(f):\n    given = {"mode": "fastest"}\n    return torch.compile(f, **given)',
    'compiled = torch.compile(step, **{"mode": "fastest"})',
]
CHANGED = [
    'given["mode"] = "default"',
    'given.update(mode="default")',
    "given.pop('mode')",
    "del given['mode']",
    "given |= {'mode': 'default'}",
    "fill(given)",
    "alias = given",
    "given = unknown()",
]


@pytest.mark.parametrize("code", KEPT)
def test_what_a_dict_passes_is_judged_like_what_is_written(code: str, tmp_path: Path) -> None:
    assert codes("step", tmp_path, (2, 13), f"{code}\n\n\n") == ["TCL401"]


@pytest.mark.parametrize("change", CHANGED)
def test_a_dict_that_may_be_changed_is_not_judged(change: str, tmp_path: Path) -> None:
    lines = ('given = {"mode": "fastest"}', change, "compiled = torch.compile(step, **given)")
    inside = "\n    ".join(("def build(step):", *lines, "return compiled"))
    for code in ("\n".join(lines), inside):
        compile(code, "program.py", "exec")
        assert codes("step", tmp_path, (2, 13), f"{code}\n\n\n") == []


def test_a_name_of_another_dict_is_not_judged(tmp_path: Path) -> None:
    made = 'first = {"mode": "fastest"}\ngiven = first\nfirst["mode"] = "default"\n'
    assert codes("torch.compile(step, **given)", tmp_path, (2, 13), made) == []


def test_compiling_in_place_keeps_what_a_dict_passes(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(
        "import torch\nfrom torch import nn\n\nGIVEN = dict(fullgraph=True)\n\n\n"
        "def make(net: nn.Module):\n    torch.compile(net, dynamic=True, **GIVEN)\n    return net\n"
    )
    tclint("fix", "--isolated", "--unsafe-fixes", "code.py", cwd=tmp_path)
    assert "    net.compile(dynamic=True, **GIVEN)\n" in path.read_text()
