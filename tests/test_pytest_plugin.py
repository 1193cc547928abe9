"""The plugin of pytest, run on small suites of its own."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tclint.pytest_plugin.budget import FILE

torch = pytest.importorskip("torch")
pytest_plugins = "pytester"

NET = """\
import torch


class Whole(torch.nn.Module):
    def forward(self, x):
        return x.sin() + 1


class Broken(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return x * 2


def again(x, n):
    return x * n
"""
HEAD = "import pytest, torch\nfrom net import Broken, Whole, again\n\n"


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """A suite that ends takes along the modules that it imported, which torch does not survive."""
    from torch._inductor import test_operators  # noqa: F401

    from tclint.pytest_plugin import words  # noqa: F401
    from tclint.pytest_plugin.watching import watched

    def broken(x: torch.Tensor, n: float) -> torch.Tensor:
        return x * n if x.sum() > 0 else x

    with watched(syncs=True):
        for n in (1.0, 2.0):
            torch.compile(broken, backend="eager")(torch.ones(3, requires_grad=True), n)


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(net=NET)
    pytester.syspathinsert()
    return pytester


def run(suite: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    suite.makepyfile(HEAD + test)
    # An installed tclint is loaded by pytest itself.
    installed = any(one.name == "tclint" for one in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "tclint.pytest_plugin")
    return suite.runpytest_inprocess(*plugin, "-p", "no:xdist", *options)


MARKED = "@pytest.mark.compiles({})\ndef test_net(compiled):\n    compiled({}, torch.ones(3))\n"


def test_a_model_that_compiles_whole_passes(suite: pytest.Pytester) -> None:
    run(suite, MARKED.format("graphs=1", "Whole()")).assert_outcomes(passed=1)


def test_a_break_fails_with_its_line_its_id_its_rule_and_its_fix(suite: pytest.Pytester) -> None:
    result = run(suite, MARKED.format("", "Broken()"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "tclint: 1 break, allowed: 0",
            "  *net.py:11: graph break, GB0170 TCL160 *; `tclint fix` can fix it: *",
        ]
    )


def test_a_failure_shows_no_log_of_torchs(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\naddopts = -p logging\nlog_level = DEBUG\n")
    result = run(suite, MARKED.format("breaks=0", "Broken()"), "-p", "no:warnings")
    result.assert_outcomes(failed=1)
    shown = [line for line in result.outlines if line.strip()]
    assert not any("torch.__trace" in line for line in shown)
    first = next(n for n, line in enumerate(shown) if "FAILURES" in line)
    last = next(n for n, line in enumerate(shown) if "short test summary" in line)
    assert last - first <= 10


def test_the_fixture_alone_allows_no_break(suite: pytest.Pytester) -> None:
    test = "def test_net(compiled):\n    compiled(Broken(), torch.ones(3))\n"
    run(suite, test).assert_outcomes(failed=1)


def test_limits_that_are_given_are_allowed(suite: pytest.Pytester) -> None:
    run(suite, MARKED.format("breaks=1, graphs=2", "Broken()")).assert_outcomes(passed=1)
    result = run(suite, MARKED.format("breaks=1, graphs=1", "Broken()"))
    result.stdout.fnmatch_lines(["tclint: 2 graphs, allowed: 1"])


def test_the_mark_watches_what_a_test_compiles_itself(suite: pytest.Pytester) -> None:
    test = (
        "@pytest.mark.compiles\n"
        "def test_net():\n"
        "    net = torch.compile(again, backend='eager')\n"
        "    net(torch.ones(3), 1.0)\n"
        "    net(torch.ones(3), 2.0)\n"
    )
    result = run(suite, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["tclint: 1 recompile, allowed: 0", "  *net.py:*: recompiled, because n == 1.0 failed"]
    )
    run(suite, test.replace("compiles", "compiles(recompiles=1)")).assert_outcomes(passed=1)


def test_a_test_in_which_nothing_is_compiled_proves_nothing(suite: pytest.Pytester) -> None:
    result = run(suite, "@pytest.mark.compiles\ndef test_net():\n    again(torch.ones(3), 2)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["tclint: nothing was compiled in this test"])


def test_the_results_are_those_of_the_model(suite: pytest.Pytester) -> None:
    test = (
        "def test_net(compiled):\n"
        "    x = torch.ones(3, requires_grad=True)\n"
        "    assert torch.equal(compiled(Whole(), x), Whole()(x))\n"
    )
    run(suite, test).assert_outcomes(passed=1)


def test_a_test_that_fails_by_itself_says_only_that(suite: pytest.Pytester) -> None:
    test = "def test_net(compiled):\n    compiled(Broken(), torch.ones(3))\n    assert False\n"
    result = run(suite, test)
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*allowed*")


def test_other_tests_are_left_alone(suite: pytest.Pytester) -> None:
    run(suite, "def test_other():\n    pass\n").assert_outcomes(passed=1)


def test_another_fixture_of_that_name_is_left_alone(suite: pytest.Pytester) -> None:
    test = "@pytest.fixture\ndef compiled():\n    return 1\n\ndef test_it(compiled):\n    pass\n"
    run(suite, test).assert_outcomes(passed=1)


def test_a_limit_that_does_not_exist_is_an_error(suite: pytest.Pytester) -> None:
    result = run(suite, MARKED.format("break_count=1", "Whole()"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*@pytest.mark.compiles(breaks=0, recompiles=0, *"])


def test_the_budget_lets_through_what_is_known_and_only_shrinks(suite: pytest.Pytester) -> None:
    broken, whole = (
        f"def test_net(compiled):\n    compiled({net}(), torch.ones(3))\n"
        for net in ("Broken", "Whole")
    )
    name = "test_the_budget_lets_through_what_is_known_and_only_shrinks.py::test_net"
    run(suite, broken, "--tclint-update")
    assert recorded(suite.path)[name] == {"breaks": 1, "recompiles": 0, "graphs": 2}
    run(suite, broken).assert_outcomes(passed=1)
    run(suite, whole, "--tclint-update").assert_outcomes(passed=1)
    assert recorded(suite.path)[name]["breaks"] == 0
    run(suite, broken, "--tclint-update").assert_outcomes(failed=1)
    assert recorded(suite.path)[name]["breaks"] == 0


def recorded(folder: Path) -> dict[str, dict[str, int]]:
    tests: dict[str, dict[str, int]] = json.loads((folder / FILE).read_text())["tests"]
    return tests


def test_a_budget_that_cannot_be_read_is_one_clear_error(suite: pytest.Pytester) -> None:
    (suite.path / FILE).write_text("[]")
    result = run(suite, "def test_other():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{FILE}: not a budget that tclint wrote *--tclint-update*"])
