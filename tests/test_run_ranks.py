"""A distributed run: one report, its ranks apart."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli_runs import tclint

pytest.importorskip("torch")

SCRIPT = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = nn.Linear(8, 8)


def scaled(x):
    if x.sum() > 1e9:
        return x / 2
    return x + 1


plain = torch.compile(lambda x: x + 1, backend="eager")
broken = torch.compile(scaled, backend="eager")
model = DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(45):
    y = model(torch.ones(4, 8))
    y = broken(y) if rank == 1 else plain(y)
    loss = y.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("rank", rank, "loss", loss.item().hex())
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with two processes, its recording in ``kept``."""
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "train.py").write_text(SCRIPT)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*launcher, "--nproc-per-node=2", "train.py"]
    done = tclint("run", "--keep", "kept", "--", *command, cwd=folder, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    (folder / "output.txt").write_text(done.stdout)
    return folder


@pytest.mark.slow(20)
def test_a_rank_that_compiles_differently_is_named_in_the_one_report(recorded: Path) -> None:
    lines = (recorded / "output.txt").read_text().splitlines()
    heads = [line for line in lines if line.startswith("rank ") and "step" in line]
    assert [line.split(":")[0] for line in heads] == ["rank 0", "rank 1"]
    assert "0 graph breaks" in heads[0]
    assert "1 graph break" in heads[1]
    assert "    only rank 1: train.py:13 breaks the graph" in lines


@pytest.mark.slow
def test_the_page_and_json_tell_of_both_ranks(recorded: Path) -> None:
    for kind in ("json", "html"):
        options = ("--output-format", kind, "--output-file", f"report.{kind}")
        assert tclint("trace", "kept", *options, cwd=recorded).returncode == 0
    told = json.loads((recorded / "report.json").read_text())
    assert [one["process"]["rank"] for one in told["ranks"]] == [0, 1]
    page = (recorded / "report.html").read_text()
    assert page.count("<h2>Steps, rank") == 2
    assert "only here" in page
