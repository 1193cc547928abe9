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

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("copied_children")]

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
                self.inner.bias.data += dist.get_rank()
            self.seen += x.sum()
            if self.kind == "slow" and dist.get_rank() == 1:
                time.sleep(600)
            if self.kind == "raises" and dist.get_rank() == 1:
                raise SystemExit(3)
            return self.inner(x)

    def make():
        return Net("KIND"), (torch.rand(8, 4),), {}

    def trained():
        model = Net("KIND")
        def step(model, optimizer, x):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        def held(x):
            model(x).sum().backward()
        return {"model": model, "inputs": (torch.rand(8, 4),),
                "train_step": held if "KIND" == "held" else step}
"""


def run(
    tmp_path: Path,
    kind: str,
    parallel: str = "ddp",
    limit: float = 400.0,
    phase: str = "backward",
    backend: str = "aot_eager",
) -> Distributed:
    (tmp_path / "net.py").write_text(dedent(NET).replace("KIND", kind))
    factory = "trained" if phase == "step" else "make"
    side = Side("after", f"net.py:{factory}", tmp_path)
    speed = kind == "plain"
    options = Options(backend, phase=phase, time_limit=limit, device="cpu", speed=speed)
    return distribute(side, options, Comparison(processes=2, parallel=parallel))


@pytest.mark.parametrize("phase", ["backward", "step"])
def test_ranks_of_ddp_stay_in_step_on_different_data(tmp_path: Path, phase: str) -> None:
    found = run(tmp_path, "plain", phase=phase)
    assert [rank.failure for rank in found.ranks] == [None, None]
    assert found.diverged == ()
    assert found.ranks[0].digest == found.ranks[1].digest != ""
    assert [rank.tied for rank in found.ranks] == [True, True]
    assert [b for rank in found.ranks for b in rank.breaks if not b.by_torch] == []
    assert [one.form for one in found.scaling] == ["eager", "compiled"]


def test_what_cannot_be_compiled_is_timed_eagerly(tmp_path: Path) -> None:
    found = run(tmp_path, "plain", backend="nothing")
    assert [rank.failure for rank in found.ranks] == [None, None]
    assert [one.form for one in found.scaling] == ["eager"]
    assert all("nothing" in rank.untimed for rank in found.ranks)


@pytest.mark.parametrize("phase", ["backward", "step"])
def test_ranks_of_fsdp_run_too(tmp_path: Path, phase: str) -> None:
    found = run(tmp_path, "sharded", "fsdp", phase=phase)
    assert [rank.failure for rank in found.ranks] == [None, None]
    assert found.diverged == ()


def test_processes_that_nothing_ties_may_differ(tmp_path: Path) -> None:
    found = run(tmp_path, "loose", "none", phase="step")
    assert found.ranks[0].digest != found.ranks[1].digest
    assert found.diverged == ()


def test_a_step_that_holds_its_model_cannot_be_spread(tmp_path: Path) -> None:
    found = run(tmp_path, "held", phase="step")
    messages = {rank.failure.message for rank in found.ranks if rank.failure is not None}
    (message,) = messages
    assert "give it the first parameter `model`" in message


def test_a_rank_that_diverges_is_named(tmp_path: Path) -> None:
    found = run(tmp_path, "apart")
    assert [rank.failure for rank in found.ranks] == [None, None]
    assert found.diverged == (1,)


@pytest.mark.slow(20)
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
