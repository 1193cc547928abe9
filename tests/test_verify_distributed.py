"""Several processes: ranks in step, ranks that diverge, ranks that never come."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("torch")

from tclint.verify.arms import Options, Side
from tclint.verify.distribute import distribute
from tclint.verify.results import Distributed
from tclint.verify.session import Comparison

pytestmark = pytest.mark.slow

NET = """
    import time
    import torch
    import torch.distributed as dist
    from torch import nn

    class Net(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.inner = nn.Linear(4, 4)
            self.kind = kind
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x):
            if self.kind == "apart":
                self.seen += dist.get_rank()
            if self.kind == "slow" and dist.get_rank() == 1:
                time.sleep(600)
            if self.kind == "raises" and dist.get_rank() == 1:
                raise SystemExit(3)
            return self.inner(x)

    def make():
        return Net("KIND"), (torch.ones(2, 4),), {}
"""


def run(tmp_path: Path, kind: str, parallel: str = "ddp", limit: float = 120.0) -> Distributed:
    (tmp_path / "net.py").write_text(dedent(NET).replace("KIND", kind))
    side = Side("after", "net.py:make", tmp_path)
    options = Options(phase="backward", time_limit=limit, device="cpu", speed=kind == "plain")
    return distribute(side, options, Comparison(processes=2, parallel=parallel))


def test_ranks_of_ddp_stay_in_step(tmp_path: Path) -> None:
    found = run(tmp_path, "plain")
    assert [rank.failure for rank in found.ranks] == [None, None]
    assert found.diverged == ()
    assert found.ranks[0].digest == found.ranks[1].digest != ""
    assert found.efficiency is not None
    assert [b for rank in found.ranks for b in rank.breaks if not b.by_torch] == []


def test_ranks_of_fsdp_run_too(tmp_path: Path) -> None:
    found = run(tmp_path, "sharded", "fsdp")
    assert [rank.failure for rank in found.ranks] == [None, None]


def test_a_rank_that_diverges_is_named(tmp_path: Path) -> None:
    assert run(tmp_path, "apart").diverged == (1,)


def test_a_rank_that_never_comes_is_a_result(tmp_path: Path) -> None:
    found = run(tmp_path, "slow", limit=25.0)
    failures = [rank.failure for rank in found.ranks]
    assert failures[1] is not None
    assert failures[1].kind == "timeout"


def test_a_rank_that_leaves_is_a_result(tmp_path: Path) -> None:
    found = run(tmp_path, "raises", limit=40.0)
    failure = found.ranks[1].failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("exit", "the target called sys.exit(3)")
