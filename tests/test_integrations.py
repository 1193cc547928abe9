"""The callbacks of frameworks: run where the framework is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIGHTNING = """
import lightning.pytorch as pl, torch
from tclint.integrations.lightning import TclintCallback

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def training_step(self, batch, number):
        if self.fails and number == 20:
            raise ArithmeticError("mine")
        return scaled(self.layer(batch)).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def trained(callback, fails=False):
    torch.manual_seed(0)
    net = Net()
    net.fails = fails
    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
    quiet |= dict(enable_model_summary=False, accelerator="cpu", max_epochs=1)
    trainer = pl.Trainer(callbacks=[callback] if callback else [], **quiet)
    data = torch.utils.data.DataLoader(list(torch.ones(160, 8)), batch_size=4)
    try:
        trainer.fit(net, data)
    except ArithmeticError as error:
        print("raised", error)
    return net.layer.weight.tolist()
"""
TRAINER = """
import torch, transformers
from tclint.integrations.transformers import TclintCallback

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.fails, self.calls = False, 0

    def forward(self, x):
        self.calls += 1
        if self.fails and self.calls == 20:
            raise ArithmeticError("mine")
        return {"loss": scaled(self.layer(x)).square().mean()}

def trained(callback, fails=False):
    torch.manual_seed(0)
    net = Net()
    net.fails = fails
    arguments = transformers.TrainingArguments(
        "out", per_device_train_batch_size=4, max_steps=40, report_to="none", use_cpu=True,
        save_strategy="no", disable_tqdm=True, remove_unused_columns=False, logging_strategy="no",
    )
    data = [{"x": row} for row in torch.ones(160, 8)]
    trainer = transformers.Trainer(net, arguments, train_dataset=data)
    if callback:
        trainer.add_callback(callback)
    try:
        trainer.train()
    except ArithmeticError as error:
        print("raised", error)
    return net.layer.weight.tolist()
"""
BOTH = """
import sys

@torch.compile(backend="eager")
def scaled(x):
    if x.sum() > 1e9:
        return x / 2
    return x + 1

alone = trained(None)
torch._dynamo.reset()
callback = TclintCallback("report.json")
assert callback.block is None
assert trained(callback) == alone
told = callback.block.answer
assert told.first.recorded.steps.marker == "optimizer.step"
assert len(told.first.recorded.steps.ends) == 40
assert [line.events[0].kind.value for line in told.joined.lines if line.events] == ["graph-break"]
torch._dynamo.reset()
trained(callback, fails=True)
torch._dynamo.reset()
printing = TclintCallback()
assert trained(printing) == alone
assert len(printing.block.answer.first.recorded.steps.ends) == 40
torch._dynamo.reset()
import tclint, warnings
with tclint.recording(), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert trained(TclintCallback()) == alone
assert any("not recorded: a block is being recorded" in str(one.message) for one in caught)
torch._dynamo.reset()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert trained(TclintCallback("no/such/folder.json")) == alone
assert any("not reported: " in str(one.message) for one in caught)
"""


@pytest.mark.slow(30)
@pytest.mark.parametrize(
    ("framework", "text"), [("lightning", LIGHTNING), ("transformers", TRAINER)]
)
def test_a_callback_records_the_training_and_changes_nothing(
    framework: str, text: str, tmp_path: Path
) -> None:
    pytest.importorskip(framework)
    (tmp_path / "train.py").write_text(text + BOTH)
    command = [sys.executable, "-W", "ignore", "train.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "raised mine" in done.stdout
    assert "breaks the graph" in done.stdout.replace("graph break", "breaks the graph")
    assert (tmp_path / "report.json").is_file()


@pytest.mark.parametrize("framework", ["lightning", "transformers"])
def test_without_the_framework_its_module_says_so(framework: str, tmp_path: Path) -> None:
    for name in (framework, "pytorch_lightning"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('no such framework')")
    code = f"import tclint.integrations.{framework}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: no such framework" in done.stderr
