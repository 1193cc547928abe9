"""What only a GPU can show: syncs, kernels, CUDA graphs, and a device that is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("torch")

from tclint.verify.arms import Options, Side
from tclint.verify.compare import verify_sides
from tclint.verify.distribute import distribute
from tclint.verify.results import Probe, TargetReport
from tclint.verify.session import Comparison, exit_code
from tclint.verify.speed import Speed

pytestmark = pytest.mark.cuda

PLAIN = Options("eager", speed=False, device="cuda")
GRAPHS = Options(modes=("reduce-overhead",), device="cuda")


def verify(tmp_path: Path, forward: str, options: Options, factory: str = "pass") -> TargetReport:
    body = dedent(forward).strip().replace("\n", "\n    ")
    (tmp_path / "drill.py").write_text(
        f"import torch\n\ndef f(x):\n    {body}\n\n"
        f"def make():\n    {factory}\n    return f, (torch.rand(64, 64),), {{}}\n"
    )
    return verify_sides("drill", [Side("after", "drill.py:make", tmp_path)], options)


def probe(report: TargetReport) -> Probe:
    assert report.after.probe is not None, report.after.failure
    return report.after.probe


def speed(report: TargetReport) -> Speed:
    assert report.after.speed is not None, report.after.no_speed
    return report.after.speed


LOST = "x[torch.full((3,), 999, device='cuda')]"


@pytest.mark.parametrize(
    ("forward", "factory"),
    [(f"return {LOST}", "pass"), (f"{LOST}; return 1", "pass"), ("return x", "broken()")],
    ids=["output", "aside", "factory"],
)
def test_a_lost_device_is_a_result(tmp_path: Path, forward: str, factory: str) -> None:
    broken = "x = torch.ones(3, device='cuda'); " + LOST + ".sum().item()"
    report = verify(tmp_path, forward, PLAIN, factory.replace("broken()", broken))
    assert exit_code([report]) == 2
    failure = report.after.failure
    assert failure is not None
    assert failure.kind == "device"
    assert "device-side assert triggered" in failure.message
    # The device belongs to the child: the next one has it back.
    assert verify(tmp_path, "return x + 1", PLAIN).equality.verdict == "identical"


@pytest.mark.parametrize("size", ["1 << 44", "1 << 33"], ids=["at once", "without end"])
def test_a_full_device_is_a_result(tmp_path: Path, size: str) -> None:
    factory = (
        f"kept = []\n    while True:\n        "
        f"kept.append(torch.empty({size}, dtype=torch.uint8, device='cuda'))"
    )
    failure = verify(tmp_path, "return x", PLAIN, factory).after.failure
    assert failure is not None
    assert failure.kind == "out-of-memory"


def test_a_wait_is_found_at_its_line_with_its_stack(tmp_path: Path) -> None:
    found = probe(verify(tmp_path, "x = x + 1\nreturn x * x.sum().item()", PLAIN))
    assert found.syncs is not None
    (sync,) = found.syncs
    assert (Path(sync.filename).name, sync.row, sync.count) == ("drill.py", 5, 1)
    assert [frame.function for frame in sync.stack] == ["f"]


def test_fusion_and_cuda_graphs_show_in_kernels_and_launches(tmp_path: Path) -> None:
    chain = "for _ in range(8):\n    x = (x.sin() + 1) @ x\nreturn x"
    default = speed(verify(tmp_path, chain, replace(GRAPHS, modes=("default",))))
    graphs = speed(verify(tmp_path, chain, GRAPHS))
    for found in (default, graphs):
        assert found.kernels is not None
        assert found.eager_kernels is not None
        assert found.kernels.run < found.eager_kernels.run
    assert default.kernels is not None
    assert graphs.kernels is not None
    assert graphs.kernels.launches < default.kernels.launches
    assert graphs.cudagraph_skips == ()


def test_a_skipped_cuda_graph_says_why(tmp_path: Path) -> None:
    found = speed(verify(tmp_path, "x.add_(1)\nreturn x * 2", GRAPHS))
    assert any("mutated inputs" in reason for reason in found.cudagraph_skips)


def test_memory_is_that_of_the_device(tmp_path: Path) -> None:
    chain = "return ((x + 1).cos() * x).sum()"
    found = speed(verify(tmp_path, chain, replace(GRAPHS, modes=("default",))))
    assert found.memory.resident is None
    assert found.memory.allocated is not None
    assert found.eager_memory.allocated is not None
    assert found.memory.allocated < found.eager_memory.allocated


RANKS = """
import time
import torch
import torch.distributed as dist
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 64)
    def forward(self, x):
        if LATE and dist.get_rank() == 1:
            time.sleep(600)
        return self.inner(x)

def make():
    return Net(), (torch.rand(32, 64),), {}
"""


@pytest.mark.cuda(2)
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_ranks_have_a_gpu_each(tmp_path: Path, parallel: str) -> None:
    (tmp_path / "net.py").write_text(RANKS.replace("LATE", "False"))
    options = Options(phase="backward", device="cuda")
    plan = Comparison(processes=2, parallel=parallel)
    found = distribute(Side("after", "net.py:make", tmp_path), options, plan)
    assert [rank.failure for rank in found.ranks] == [None, None]
    assert found.backend == "nccl"
    assert found.diverged == ()
    assert [one.form for one in found.scaling] == ["eager", "compiled"]


@pytest.mark.cuda(2)
def test_a_rank_that_nccl_waits_for_in_vain_is_a_result(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(RANKS.replace("LATE", "dist.get_world_size() > 1"))
    options = Options(phase="backward", device="cuda", time_limit=150.0, speed=False)
    found = distribute(Side("after", "net.py:make", tmp_path), options, Comparison(processes=2))
    failures = [rank.failure for rank in found.ranks]
    assert all(failure is not None and failure.kind == "timeout" for failure in failures)
    assert any(failure is not None and "NCCL gave up" in failure.message for failure in failures)
