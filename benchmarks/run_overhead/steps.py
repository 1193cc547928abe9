"""The training steps of public scripts, with their own models: a process that runs some when told.

Each line of standard input is the name of a step and how often to run it; each line that is printed
is the milliseconds of one. ``OVERHEAD_CHECKOUTS`` has the repositories, ``OVERHEAD_DEVICE`` the
device. A step is that of its script: what it reads each time, it reads here.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

DEVICE = os.environ.get("OVERHEAD_DEVICE", "cpu")
CHECKOUTS = Path(os.environ.get("OVERHEAD_CHECKOUTS", "."))
ON_GPU = DEVICE == "cuda"

Step = Callable[[], object]


def linear() -> Step:
    """Eight layers: two milliseconds on a processor."""
    width = int(os.environ.get("OVERHEAD_WIDTH", "200"))
    model = nn.Sequential(*(nn.Linear(width, width) for _ in range(8))).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(64, width, device=DEVICE)

    def step() -> None:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()

    return step


def mnist() -> Step:
    """The model of pytorch/examples, and its step."""
    model = _module("examples/mnist/main.py").Net().to(DEVICE)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    x, y = _batch(64, (1, 28, 28), 10)

    def step() -> float:
        optimizer.zero_grad()
        loss = functional.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def imagenet() -> Step:
    """ResNet-18, with the accuracy that is read in each step."""
    model = importlib.import_module("torchvision.models").resnet18().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss().to(DEVICE)
    x, y = _batch(16 if ON_GPU else 2, (3, 224 if ON_GPU else 64, 224 if ON_GPU else 64), 1000)

    def step() -> tuple[float, float]:
        output = model(x)
        loss = criterion(output, y)
        correct = (output.argmax(1) == y).float().sum()
        told = loss.item(), correct.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return told

    return step


def mingpt() -> Step:
    """Karpathy's minGPT, gpt-mini."""
    sys.path.insert(0, str(CHECKOUTS / "minGPT"))
    gpt = importlib.import_module("mingpt.model").GPT
    config = gpt.get_default_config()
    config.model_type = "gpt-mini" if ON_GPU else "gpt-nano"
    config.vocab_size, config.block_size = 100, 128 if ON_GPU else 32
    model = gpt(config).to(DEVICE)
    train = importlib.import_module("mingpt.trainer").Trainer.get_default_config()
    optimizer = model.configure_optimizers(train)
    x, y = _tokens(16, config.block_size, 100)

    def step() -> None:
        _, loss = model(x, y)
        model.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), train.grad_norm_clip)
        optimizer.step()

    return step


def nanogpt() -> Step:
    """Karpathy's nanoGPT in bfloat16, not compiled."""
    made = _module("nanoGPT/model.py")
    layers, block = (6, 256) if ON_GPU else (2, 32)
    model = made.GPT(made.GPTConfig(block, 65, layers, 6, 384 if ON_GPU else 96, 0.2)).to(DEVICE)
    optimizer = model.configure_optimizers(0.1, 1e-3, (0.9, 0.99), DEVICE)
    scaler = torch.amp.GradScaler(DEVICE, enabled=False)
    x, y = _tokens(16, block, 65)

    def step() -> float:
        with torch.autocast(DEVICE, torch.bfloat16):
            _, loss = model(x, y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def dino() -> Step:
    """DINO's student and teacher, and the average of the weights in its loop."""
    sys.path.insert(0, str(CHECKOUTS / "dino"))
    made = _module("dino/vision_transformer.py")
    student, teacher = (
        nn.Sequential(made.vit_tiny(patch_size=16), made.DINOHead(192, 1024)).to(DEVICE)
        for _ in range(2)
    )
    teacher.requires_grad_(requires_grad=False)
    optimizer = torch.optim.AdamW(student.parameters())
    side = 224 if ON_GPU else 32
    x, _ = _batch(4, (3, side, side), 10)

    def step() -> float:
        wanted = functional.softmax(teacher(x) / 0.04, dim=-1)
        loss = (-wanted * functional.log_softmax(student(x.flip(0)) / 0.1, dim=-1)).sum(-1).mean()
        told = loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for new, kept in zip(student.parameters(), teacher.parameters(), strict=True):
                kept.data.mul_(0.996).add_((1 - 0.996) * new.detach().data)
        return told

    return step


def dit() -> Step:
    """DiT-S/4 with its diffusion, and the average of the weights in its loop."""
    sys.path.insert(0, str(CHECKOUTS / "DiT"))
    make = importlib.import_module("models").DiT_models["DiT-S/4"]
    model = make(input_size=32, num_classes=2).to(DEVICE)
    kept = make(input_size=32, num_classes=2).to(DEVICE).requires_grad_(requires_grad=False)
    diffusion = importlib.import_module("diffusion").create_diffusion(timestep_respacing="")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0)
    x, y = _batch(8 if ON_GPU else 1, (4, 32, 32), 2)

    def step() -> float:
        t = torch.randint(0, diffusion.num_timesteps, (x.shape[0],), device=DEVICE)
        loss = diffusion.training_losses(model, x, t, {"y": y})["loss"].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            averages = dict(kept.named_parameters())
            for name, new in model.named_parameters():
                averages[name].mul_(0.9999).add_(new.data, alpha=1 - 0.9999)
        return loss.item()

    return step


def pyg() -> Step:
    """The compiled graph network of torch_geometric's example."""
    conv = importlib.import_module("torch_geometric.nn").GCNConv

    class Net(nn.Module):
        """Two convolutions."""

        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2 = conv(64, 16, normalize=False), conv(16, 7, normalize=False)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            x = functional.dropout(x, p=0.5, training=self.training)
            x = self.conv1(x, edges).relu()
            return self.conv2(functional.dropout(x, p=0.5, training=self.training), edges)

    model = torch.compile(Net().to(DEVICE), dynamic=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x, y = _batch(300, (64,), 7)
    edges = torch.randint(300, (2, 1200), device=DEVICE)

    def step() -> float:
        model.train()
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x, edges), y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


STEPS: dict[str, Callable[[], Step]] = {
    "linear": linear,
    "mnist": mnist,
    "imagenet": imagenet,
    "minGPT": mingpt,
    "nanoGPT": nanogpt,
    "dino": dino,
    "DiT": dit,
    "torch_geometric": pyg,
}


def _module(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).parent.name, CHECKOUTS / path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def _batch(rows: int, shape: tuple[int, ...], classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(rows, *shape, device=DEVICE), torch.randint(classes, (rows,), device=DEVICE)


def _tokens(rows: int, length: int, of: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randint(of, (rows, length + 1), device=DEVICE)
    return x[:, :-1].contiguous(), x[:, 1:].contiguous()


def _milliseconds(step: Step, count: int) -> float:
    """Of one step; on a processor by the thread's own clock: other programs do not count."""
    times = []
    begun = time.perf_counter_ns()
    for _ in range(count):
        start = time.thread_time_ns()
        step()
        times.append(time.thread_time_ns() - start)
    if not ON_GPU:
        return statistics.median(times) / 1e6
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - begun) / count / 1e6


def main() -> None:
    """Answer each line."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    name, step = "", None
    # Models say how large they are.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        wanted, count = line.split()
        if step is None or wanted != name:
            name, step = wanted, STEPS[wanted]()
        print(_milliseconds(step, int(count)), file=answers, flush=True)


if __name__ == "__main__":
    main()
