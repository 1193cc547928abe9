"""`tclint upgrade`: what another release of torch changes for a program."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.cli_runs import tclint

GUARDED = """\
import random
import torch


@torch.compile
def f(x):
    if torch.compiler.is_compiling():
        y = x
    else:
        y = x * {call}
    if not torch.compiler.is_compiling():
        y = y * {call}
    return y * {call}
"""


def upgraded(folder: Path, code: str, *options: str) -> CompletedProcess[str]:
    (folder / "net.py").write_text(code, encoding="utf-8")
    given = options or ("--from", "2.13", "--to", "2.15")
    return tclint("upgrade", "--isolated", *given, "net.py", cwd=folder)


def changes(folder: Path, code: str, *options: str) -> list[tuple[str, int, str | None]]:
    """The kind, the row and the rule of each change."""
    given = options or ("--from", "2.13", "--to", "2.15")
    told = json.loads(upgraded(folder, code, *given, "--output-format", "json").stdout)
    return [(one["kind"], one["row"], one["code"]) for one in told["changes"]]


def test_the_sections_say_what_changes(tmp_path: Path) -> None:
    code = (
        "import torch\n\nCALLS = 0\n\n\n@torch.compile\ndef f(x):\n    global CALLS\n"
        "    CALLS += 1\n    return x * CALLS\n\n\ng = torch.compile(f, shapes_spec=None)\n"
    )
    found = upgraded(tmp_path, code)
    assert found.returncode == 1
    assert found.stdout == (
        "Breaks from now on (1)\n"
        "  net.py:13:5: TCL406 torch.compile of torch 2.15 takes no argument `shapes_spec` and "
        "raises TypeError\n\n"
        "No longer a problem (1)\n"
        "  net.py:8:5: TCL225 `CALLS` is compiled in as a constant: each call with a new value "
        "recompiles\n\n"
        "From torch 2.13 to 2.15: 2 changes in 1 file.\n"
    )


def test_what_only_gets_better_is_no_failure(tmp_path: Path) -> None:
    code = "import random, torch\n\n\n@torch.compile\ndef f(x):\n    return x * random.random()\n"
    found = upgraded(tmp_path, code)
    assert found.returncode == 0
    assert "No longer a problem (1)\n  net.py:6:16: TCL180" in found.stdout


def test_what_stays_as_it_is_is_not_told(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x * x.sum().item()\n"
    )
    found = upgraded(tmp_path, code)
    assert (found.returncode, found.stdout) == (
        0,
        "From torch 2.13 to 2.15: no changes in 1 file.\n",
    )


def test_names_that_are_gone_are_found_as_attributes_and_as_imports(tmp_path: Path) -> None:
    code = (
        "import torch._inductor.config as config\nimport torch\n"
        "from torch import _opaque_base\n\n"
        "if torch._inductor.config.partitioned_scatter_memory_budget:\n    print(_opaque_base)\n"
    )
    found = changes(tmp_path, code)
    assert ("gone", 3, None) in found
    assert ("gone", 5, None) in found


def test_a_guard_around_what_the_new_torch_traces_can_go(tmp_path: Path) -> None:
    code = GUARDED.format(call="random.random()")
    assert changes(tmp_path, code) == [
        ("solved", 13, "TCL180"), ("removable", 7, None), ("removable", 11, None),
    ]  # fmt: skip


def test_a_guard_around_what_still_breaks_stays(tmp_path: Path) -> None:
    assert changes(tmp_path, GUARDED.format(call="random.choice([1, 2])")) == []


def test_a_guard_that_hid_nothing_is_not_told(tmp_path: Path) -> None:
    assert changes(tmp_path, GUARDED.format(call="2")) == []


def test_a_function_need_not_be_disabled_where_the_new_torch_traces_it(tmp_path: Path) -> None:
    code = (
        "import random\nimport time\nimport torch\n\n\n"
        "@torch.compiler.disable\ndef drawn(x):\n    return x * random.random()\n\n\n"
        "@torch.compiler.disable\ndef timed(x):\n    return x * time.time()\n\n\n"
        "@torch.compile\ndef f(x):\n    return drawn(x) + timed(x)\n"
    )
    assert changes(tmp_path, code) == [("removable", 6, None)]


def test_a_polyfill_can_go_where_the_new_torch_traces_the_function(tmp_path: Path) -> None:
    code = (
        "import random\nimport time\nfrom torch.compiler import substitute_in_graph\n\n\n"
        "@substitute_in_graph(random.random)\ndef drawn():\n    return 0.5\n\n\n"
        "@substitute_in_graph(time.time)\ndef told():\n    return 0.0\n"
    )
    assert changes(tmp_path, code) == [("removable", 6, None)]


def test_files_that_do_not_parse_are_told_of_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def\n", encoding="utf-8")
    (tmp_path / "net.py").write_text(
        "import torch\ntorch.compile(shapes_spec=1)\n", encoding="utf-8"
    )
    found = tclint("upgrade", "--isolated", "--from", "2.13", "--to", "2.14", cwd=tmp_path)
    assert "net.py:2:1: TCL406" in found.stdout
    assert "broken.py" in found.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2.15", "2.13", "--from 2.15 is not older than --to 2.13"),
        ("2.13", "2.13", "--from 2.13 is not older than --to 2.13"),
        ("old", "2.13", "`old` is not a version of torch"),
    ],
)
def test_the_releases_come_in_their_order(old: str, new: str, said: str, tmp_path: Path) -> None:
    found = upgraded(tmp_path, "", "--from", old, "--to", new)
    assert found.returncode == 2
    assert said in found.stderr
