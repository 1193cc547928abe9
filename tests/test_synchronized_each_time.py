"""What DDP does in each micro step, and which loops are told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

ACCELERATED = """\
from accelerate import Accelerator


class Trainer:
    def __init__(self, model):
        self.accelerator = Accelerator()
        self.model = self.accelerator.prepare(model)

    def train(self, count):
        while True:
            for _ in range(count):
                loss = self.model(next(self.batches)) / count
                self.accelerator.backward(loss)
            self.opt.step()
"""
OTHERS = {
    "two losses": """\
for batch in batches:
    for network in (first, second):
        network(batch).backward()
        optimizer.step()
""",
    "gradients are taken apart": """\
for batch in batches:
    if batch.odd:
        model(batch).backward()
    if batch.number % 4 == 0:
        optimizer.step()
""",
    "losses of one forward pass": """\
for batch in batches:
    for loss in model(batch):
        loss.backward()
    optimizer.step()
""",
    "a graph that stays": """\
for batch in batches:
    for weight in weights:
        (model.kept * weight).sum().backward(retain_graph=True)
    optimizer.step()
""",
    "a critic that steps itself": """\
for batch in batches:
    for _ in range(5):
        loss = critic(batch).sum()
        loss.backward()
        optimizer.step()
    model(batch).sum().backward()
    other_optimizer.step()
""",
    "a function": """\
def training_step(batch):
    model(batch).backward()
    if batch.number % 4 == 0:
        optimizer.step()
""",
}
SCALED = """\
def train_one_epoch(model, loader, optimizer, device, loss_scaler, accum_iter, log):
    for i, x in enumerate(loader):
        with autocast():
            loss = model(x.to(device)) / accum_iter
        {step}
    log.synchronize_between_processes()
"""
STEPS = {
    "a scaler that is told when to step": (
        "loss_scaler(loss, optimizer, update_grad=(i + 1) % accum_iter == 0)"
    ),
    "in one of two ways": """if amp:
            loss_scaler(loss, optimizer, update_grad=(i + 1) % accum_iter == 0)
        else:
            loss.backward()
            if (i + 1) % accum_iter == 0:
                optimizer.step()""",
    "by a count": """scaler.scale(loss).backward()
        if i - last >= accumulate:
            scaler.step(optimizer)
            last = i""",
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_file_of_several_processes_accumulates(step: str, tmp_path: Path) -> None:
    source = SCALED.format(step=step)
    assert set(codes(source, tmp_path)) == {"TCL523"}
    assert codes(source.replace("    log.sync", "    log.print_"), tmp_path) == []
    assert codes(source + "# see model.no_sync()\n", tmp_path) == []


@pytest.mark.parametrize(
    "step",
    [
        "loss_scaler(loss, optimizer, parameters=model.parameters())",
        "loss_scaler(loss, optimizer, update_grad=i >= warm_up)",
        "loss.backward(); reduce_all(p.grad for p in model.parameters()); optimizer.step()",
    ],
)
def test_a_step_in_each_round_accumulates_nothing(step: str, tmp_path: Path) -> None:
    assert codes(SCALED.format(step=step), tmp_path) == []


HEAD = """\
from torch.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(model)
"""


def codes(source: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL523",), weak=True))
    return [result.diagnostic.code for result in run.results]


def test_an_accelerator_that_is_not_told_to_accumulate(tmp_path: Path) -> None:
    assert codes(ACCELERATED, tmp_path) == ["TCL523"]
    told = ACCELERATED.replace("for _ in range(count):", "with self.accelerator.accumulate():")
    assert codes(told, tmp_path) == []


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_what_does_not_accumulate_is_left_alone(source: str, tmp_path: Path) -> None:
    assert codes(HEAD + source, tmp_path) == []


@pytest.mark.usefixtures("process_group")
def test_ddp_synchronizes_whenever_it_is_not_told_otherwise() -> None:
    torch = pytest.importorskip("torch")
    from torch.nn.parallel import DistributedDataParallel

    model = DistributedDataParallel(torch.nn.Linear(3, 3))
    synchronized: list[object] = []

    # DDP asks for the classes themselves as annotations, or for none.
    def count(state, bucket):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        synchronized.append(bucket)
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    model.register_comm_hook(None, count)
    for _ in range(4):
        model(torch.ones(2, 3)).sum().backward()
    assert len(synchronized) == 4
    synchronized.clear()
    with model.no_sync():
        for _ in range(3):
            model(torch.ones(2, 3)).sum().backward()
    model(torch.ones(2, 3)).sum().backward()
    assert len(synchronized) == 1
