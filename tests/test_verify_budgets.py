"""Budgets, baselines and settings: what makes a run fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, load_config
from tclint.config_verify import Budget
from tclint.verify.arms import Options
from tclint.verify.budgets import over_budget
from tclint.verify.complaints import complaints
from tclint.verify.errors import TargetError
from tclint.verify.events import Break, Equality, Frame, Recompile, Sync
from tclint.verify.results import Arm, Distributed, Failure, Probe, Rank, TargetReport
from tclint.verify.session import exit_code, jobs_for
from tclint.verify.speed import Memory, Speed, Speedup, Timing

SAME = Equality("identical")


def found(breaks: int = 0, *, ratio: float | None = 1.5, recompiles: int = 0) -> TargetReport:
    stack = (Frame("/p/m.py", 3, "f"),)
    one = Break("GB0124", ("GB0124",), "r", "", "/p/m.py", 3, stack)
    probe = Probe("2", "cpu", False, "whole", (one,) * breaks, (1,), (), (), None, SAME, None, ())
    again = (Recompile("0/1", "n == 1", "/p/m.py", 1),) * recompiles
    times = Timing(1.0, 1.0, 1.0, 3)
    waits = (Sync("/p/m.py", 4, 2),)
    speed = Speed(7.0, times, times, Memory(), waits, again, SAME)
    return TargetReport(
        "m", (Arm("after", probe, (speed,)),), SAME, (Speedup("default", ratio, "n", 0.9, 1.1),)
    )


@pytest.mark.parametrize(
    ("report", "budget", "said"),
    [
        (found(recompiles=2), Budget(max_recompiles=1), "2 recompiles, allowed: 1"),
        (found(), Budget(max_syncs=1), "2 host syncs in a compiled call, allowed: 1"),
        (found(), Budget(max_cold_start=5), "cold start of 7.0 s (default), allowed: 5 s"),
        (found(), Budget(min_speedup=2), "speedup: 1.50x, required: 2x"),
        (found(ratio=None), Budget(min_speedup=1.2), "speedup: n, required: 1.2x"),
    ],
)
def test_what_is_over_budget_is_named(report: TargetReport, budget: Budget, said: str) -> None:
    assert over_budget(report, budget) == (said,)


def test_what_is_within_budget_passes() -> None:
    budget = Budget(max_recompiles=2, max_syncs=2, min_speedup=1.5, max_cold_start=7)
    assert over_budget(found(recompiles=2), budget) == ()
    assert over_budget(found(ratio=None), Budget(min_speedup=1)) == ()


def test_ranks_that_fail_or_diverge_fail_the_run() -> None:
    ranks = (Rank(0), Rank(1, Failure("timeout", "took longer")))
    report = TargetReport("m", (), SAME, distributed=Distributed(2, "gloo", "ddp", ranks))
    assert complaints_of(report) == ("rank 1: timeout: took longer",)
    apart = Distributed(2, "gloo", "ddp", (Rank(0), Rank(1)), diverged=(1,))
    report = TargetReport("m", found().arms, SAME, distributed=apart)
    assert complaints(report)[0].startswith("ranks 1 ended with weights or gradients that differ")
    assert exit_code([report]) == 1


def complaints_of(report: TargetReport) -> tuple[str, ...]:
    whole = TargetReport(report.target, found().arms, SAME, distributed=report.distributed)
    return complaints(whole)


CONFIGURED = """\
[[verify]]
target = "a.py:make"
name = "a"
mode = "max-autotune"
phase = "step"
inputs = ["float32[2, 3]"]
max-graph-breaks = 2
min-speedup = 1.2
[[verify]]
target = "pkg.b:make"
"""


def test_configured_targets_bring_their_settings(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text(CONFIGURED)
    config = load_config(tmp_path)
    one, other = jobs_for((), config, Options(phase="backward"))
    assert (one.name, one.text, one.budget) == (
        "a",
        "a.py:make",
        Budget(max_graph_breaks=2, min_speedup=1.2),
    )
    assert (one.options.modes, one.options.phase) == (("max-autotune",), "step")
    assert one.options.inputs == ("float32[2, 3]",)
    assert (other.name, other.options.phase) == ("pkg.b:make", "backward")
    (named,) = jobs_for(["a"], config, Options())
    assert named.text == "a.py:make"


def test_no_target_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="no target"):
        jobs_for((), Config(tmp_path), Options())
