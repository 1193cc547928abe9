"""What frameworks compile is a region; where a framework is installed, it compiles just that."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.cli_runs import tclint

NET = """
import torch

class Net({base}):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def {method}:
        y = self.layer(x)
        if y.sum() > 1e9:
            y = y + 1
        return {result}
"""
LIGHTNING = (
    NET.format(
        base="pl.LightningModule",
        method="training_step(self, x, number)",
        result="y.square().mean()",
    ).replace("import torch", "import torch\nimport lightning.pytorch as pl")
    + """
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def main(data):
    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
    net = torch.compile(Net(), backend="eager")
    pl.Trainer(max_epochs=1, accelerator="cpu", enable_model_summary=False, **quiet).fit(net, data)

if __name__ == "__main__":
    main(torch.utils.data.DataLoader(list(torch.ones(80, 8)), batch_size=2))
"""
)
TRAINER = (
    "from transformers import Trainer, TrainingArguments\n"
    + NET.format(
        base="torch.nn.Module", method="forward(self, x)", result='{"loss": y.square().mean()}'
    )
    + """
def main(data):
    arguments = TrainingArguments(
        "out", max_steps=40, report_to="none", use_cpu=True, save_strategy="no",
        remove_unused_columns=False, torch_compile=True, torch_compile_backend="eager",
    )
    Trainer(model=Net(), args=arguments, train_dataset=data).train()

if __name__ == "__main__":
    main([{"x": row} for row in torch.ones(160, 8)])
"""
)
ACCELERATE = (
    "from accelerate import Accelerator\n"
    + NET.format(base="torch.nn.Module", method="forward(self, x)", result="y")
    + """
def main(data):
    accelerator = Accelerator(cpu=True, dynamo_backend="eager")
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x in data:
        loss = model(x).square().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()

if __name__ == "__main__":
    main(torch.ones(40, 2, 8))
"""
)
COMPOSER = (
    "from composer import Trainer\nfrom composer.models import ComposerModel\n"
    + NET.format(base="ComposerModel", method="forward(self, x)", result="y")
    + """
    def loss(self, outputs, batch):
        return outputs.square().mean()

def main(data):
    settings = {"backend": "eager"}
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    trainer = Trainer(
        model=net, train_dataloader=data, optimizers=optimizer, max_duration="40ba",
        device="cpu", progress_bar=False, compile_config=settings,
    )
    trainer.fit()

if __name__ == "__main__":
    main(torch.utils.data.DataLoader(torch.ones(160, 8), batch_size=4))
"""
)
TORCHTUNE = (
    "import os\nfrom torchtune import training\n"
    + NET.format(base="torch.nn.Module", method="forward(self, x)", result="y.square().mean()")
    + """
def main(data):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    loss = training.compile_loss(net, verbose=False)
    for x in data:
        optimizer.zero_grad()
        loss(x).backward()
        optimizer.step()

if __name__ == "__main__":
    os.environ["TORCH_COMPILE_BACKEND"] = "eager"
    main(torch.ones(40, 2, 8))
"""
)
# Ignite compiles nothing: what it calls is compiled by torch's own call.
IGNITE = (
    "from ignite.engine import Engine\n"
    + NET.format(base="torch.nn.Module", method="forward(self, x)", result="y")
    + """
def main(data):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    compiled = torch.compile(model, backend="eager")

    def step(engine, x):
        optimizer.zero_grad()
        compiled(x).square().mean().backward()
        optimizer.step()

    Engine(step).run(data, max_epochs=1)

if __name__ == "__main__":
    main(torch.ones(40, 2, 8))
"""
)
LOOP = """
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in data:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

if __name__ == "__main__":
    main(torch.ones(40, 2, 8))
"""
PLAIN = NET.format(base="torch.nn.Module", method="forward(self, x)", result="y")
PREPARED = (
    "from accelerate import Accelerator\n"
    + PLAIN
    + """
def main(data):
    accelerator = Accelerator(cpu=True)
    model = torch.compile(accelerator.prepare(Net()), backend="eager")
"""
    + LOOP
)
FABRIC = (
    "from lightning.fabric import Fabric\n"
    + PLAIN
    + """
def main(data):
    fabric = Fabric(accelerator="cpu", devices=1)
    net = Net()
    model, _ = fabric.setup(net, torch.optim.SGD(net.parameters(), 0.1))
    model = torch.compile(model, backend="eager")
"""
    + LOOP
)
# As torchtitan has it: each block of a model, in place of itself.
BLOCKS = (
    PLAIN
    + """
class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleDict({str(i): Net() for i in range(2)})

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x

def apply_compile(model: torch.nn.Module):
    for name, block in model.layers.named_children():
        block = torch.compile(block, backend="eager")
        model.layers.register_module(name, block)

def main(data):
    model = Stack()
    apply_compile(model)
"""
    + LOOP
)
IN_PLACE = BLOCKS.replace(
    """        block = torch.compile(block, backend="eager")
        model.layers.register_module(name, block)
""",
    """        block.compile(backend="eager")
""",
)
DDP = (
    "import torch.distributed as dist\n"
    "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    + PLAIN
    + """
def main(data):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    model = torch.compile(DDP(Net()), backend="eager")
"""
    + LOOP
)
PROGRAMS = {
    "lightning": LIGHTNING,
    "transformers": TRAINER,
    "accelerate": ACCELERATE,
    "composer": COMPOSER,
    "torchtune": TORCHTUNE,
    "ignite": IGNITE,
}
PROGRAMS |= {
    "accelerate, compiled when prepared": PREPARED,
    "lightning, compiled when set up": FABRIC,
    "torch, block by block": BLOCKS,
    "torch, block by block in place": IN_PLACE,
    "torch, distributed": DDP,
}


def found(text: str, tmp_path: Path) -> list[str]:
    (tmp_path / "train.py").write_text(text)
    config = Config(tmp_path, scope="compiled", select=("TCL160", "TCL170"))
    run = check_files([tmp_path / "train.py"], config)
    return [result.diagnostic.code for result in run.results]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_framework_compiles_is_checked(name: str, tmp_path: Path) -> None:
    assert len(found(PROGRAMS[name], tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "said", "instead"),
    [
        ("lightning", 'torch.compile(Net(), backend="eager")', "Net()"),
        ("lightning", "pl.LightningModule", "torch.nn.Module"),
        ("transformers", ', torch_compile=True, torch_compile_backend="eager"', ""),
        (
            "transformers",
            'torch_compile=True, torch_compile_backend="eager"',
            "torch_compile=False, torch_compile_backend=None",
        ),
        ("transformers", "from transformers import Trainer", "from mine import Trainer"),
        ("accelerate", ', dynamo_backend="eager"', ""),
        ("accelerate", 'dynamo_backend="eager"', 'dynamo_backend="no"'),
        ("accelerate", "model, optimizer = accelerator.prepare(model, optimizer)", ""),
        ("composer", "compile_config=settings", ""),
        ("composer", "compile_config=settings", "compile_config=None"),
        ("composer", "from composer import", "from mine import"),
        ("torchtune", "training.compile_loss(net, verbose=False)", "net"),
        # Of a model, only attention layers of its own.
        ("torchtune", "training.compile_loss(net, verbose=False)", "training.compile_model(net)"),
        ("torchtune", "from torchtune import training", "from mine import training"),
        ("ignite", 'compiled = torch.compile(model, backend="eager")', "compiled = model"),
        ("accelerate, compiled when prepared", "import Accelerator", "import Accelerator as A"),
        ("accelerate, compiled when prepared", ".prepare(Net())", ".unwrap_model(Net())"),
        (
            "torch, block by block",
            "apply_compile(model)",
            "pass",
        ),
        ("torch, block by block", "model.layers.named_children()", "model.layers.state_dict()"),
        ("torch, block by block in place", "self.layers = ", "self.others = "),
        ("torch, distributed", "DDP(Net())", "torch.nn.Linear(8, 8)"),
        ("torch, distributed", "as DDP", "as D\nfrom mine import DDP"),
    ],
)
def test_what_no_framework_compiles_is_not(
    name: str, said: str, instead: str, tmp_path: Path
) -> None:
    text = PROGRAMS[name]
    assert said in text
    assert found(text.replace(said, instead), tmp_path) == []


@pytest.mark.slow(30)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_framework_compiles_it_when_it_runs(name: str, tmp_path: Path) -> None:
    pytest.importorskip(name.partition(",")[0])
    (tmp_path / "train.py").write_text(PROGRAMS[name])
    options = ("--output-format", "json", "--output-file", "report.json")
    done = tclint("run", *options, "--", sys.executable, "-W", "ignore", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "report.json").read_text())
    compiled = {one["function"] for one in told["ranks"][0]["compiled"]}
    assert ("training_step" if name == "lightning" else "forward") in compiled
    (broken,) = (one for one in told["lines"] if one["events"] and one["code"] in {"TCL160"})
    assert [event["kind"] for event in broken["events"]] == ["graph-break"]
