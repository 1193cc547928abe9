"""Small training programs, each with habits whose remedies are known."""

from __future__ import annotations

from tclint.records import record


@record(frozen=True)
class Remedy:
    """A text of a program, and what takes its place; ``once`` if it saves seconds, not steps."""

    found: str
    better: str
    once: bool = False


@record(frozen=True)
class Program:
    """A program as its author would write it, and the remedies for its habits.

    ``worthless`` is one in which nothing is to be gained. ``call`` is the code that calls what a
    remedy replaces: a report may name either.
    """

    name: str
    body: str
    remedies: tuple[Remedy, ...]
    worthless: bool = False
    call: str = ""

    @property
    def text(self) -> str:
        """The whole file."""
        return HEAD + self.body

    def rows(self, remedy: Remedy) -> range:
        """The rows of what a remedy replaces."""
        before = self.text.partition(remedy.found)[0]
        first = before.count("\n") + 1
        return range(first, first + remedy.found.count("\n") + 1)

    def mended(self, remedy: Remedy) -> str:
        """The file with one remedy."""
        assert self.text.count(remedy.found) == 1, (self.name, remedy.found)
        return self.text.replace(remedy.found, remedy.better)


HEAD = """\
import os

import numpy as np
import torch
from torch import nn

DEVICE = os.environ.get("PRICES_DEVICE", "cpu")
GPU = DEVICE == "cuda"
STEPS = int(os.environ.get("PRICES_STEPS", "120"))
torch.manual_seed(0)
torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width, depth, block=Block):
        super().__init__()
        self.blocks = nn.ModuleList(block(width) for _ in range(depth))
        self.head = nn.Linear(width, 16)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


"""

_EMA = """\
model = Net(512 if GPU else 64, 12).to(DEVICE)
average = [p.detach().clone() for p in model.parameters()]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(256 if GPU else 16, 512 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mean, p in zip(average, model.parameters()):
            mean.mul_(0.999).add_(p, alpha=0.001)
"""
_OPTIMIZER = """\
model = Net(512 if GPU else 64, 12).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
x = torch.randn(256 if GPU else 16, 512 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_UNFUSED = """\
model = Net(512 if GPU else 64, 12).to(DEVICE)
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn(256 if GPU else 16, 512 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = compiled(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_MASKED = """\
class Masked(Block):
    def forward(self, x):
        h = self.down(torch.relu(self.up(self.norm(x))))
        h[x > 0.5] += 0.1
        h[x < -0.5] += x[x < -0.5]
        return x + h


model = Net(512 if GPU else 64, 6, Masked).to(DEVICE)
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(4096 if GPU else 64, 512 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = compiled(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_GUARD = """\
model = Net(1024 if GPU else 64, 12).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(4096 if GPU else 16, 1024 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    with torch.autocast(DEVICE, torch.bfloat16):
        loss = model(x).square().mean()
    if not torch.isfinite(loss):
        raise FloatingPointError(step)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_FREE_READ = """\
model = Net(256 if GPU else 64, 12).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(64 if GPU else 16, 256 if GPU else 64, device=DEVICE)
total = 0.0
for step in range(STEPS):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total)
"""
_BREAK = """\
class Guarded(Block):
    def forward(self, x):
        h = torch.relu(self.up(self.norm(x)))
        if h.abs().max() > 1e6:
            h = h / 2
        return x + self.down(h)


model = Net(512 if GPU else 64, 8, Guarded).to(DEVICE)
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(512 if GPU else 16, 512 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = compiled(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_ITEMS = """\
class Scaled(Block):
    def forward(self, x):
        h = self.down(torch.relu(self.up(self.norm(x))))
        scale = h.detach().abs().mean().item()
        return x + h / (1 + scale)


model = Net(256 if GPU else 64, 6, Scaled).to(DEVICE)
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(256 if GPU else 16, 256 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = compiled(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_BATCH = """\
WIDTH = 256 if GPU else 64


def batch(step):
    rows = []
    for row in range(64):
        rows.append([((row * 31 + column * 17 + step) % 101) / 101 for column in range(WIDTH)])
    return torch.tensor(rows)


model = Net(WIDTH, 4).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
for step in range(STEPS):
    x = batch(step).to(DEVICE)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_HEADS = """\
model = Net(256 if GPU else 64, 4).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(64 if GPU else 16, 256 if GPU else 64, device=DEVICE)
noise = torch.randn(64 if GPU else 16, device=DEVICE)
for step in range(STEPS):
    scaled = torch.stack([x[i] * noise[i] for i in range(len(x))])
    loss = model(scaled).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_NORMS = """\
model = Net(512 if GPU else 64, 12).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(256 if GPU else 16, 512 if GPU else 64, device=DEVICE)
norms = []
for step in range(STEPS):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    norms.append(sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5)
    optimizer.step()
"""
_SCHEDULE = """\
betas = np.linspace(1e-4, 0.02, 1000)
model = Net(512 if GPU else 128, 12).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(1024 if GPU else 64, 512 if GPU else 128, device=DEVICE)
t = torch.randint(0, 1000, (len(x),), device=DEVICE)
for step in range(STEPS):
    beta = torch.from_numpy(betas).float().to(DEVICE)[t]
    loss = (model(x) * beta[:, None]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_SIZES = """\
model = Net(256 if GPU else 64, 4).to(DEVICE)
compiled = torch.compile(model, dynamic=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(64, 256 if GPU else 64, device=DEVICE)
for step in range(STEPS):
    loss = compiled(x[: 40 + step % 5]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

PROGRAMS = (
    Program(
        "average of the weights in a loop",
        _EMA,
        (
            Remedy(
                "        for mean, p in zip(average, model.parameters()):\n"
                "            mean.mul_(0.999).add_(p, alpha=0.001)",
                "        torch._foreach_lerp_(average, list(model.parameters()), 0.001)",
            ),
        ),
    ),
    Program(
        "optimizer for each tensor",
        _OPTIMIZER,
        (Remedy("lr=1e-4, foreach=False)", "lr=1e-4, fused=True)"),),
    ),
    Program(
        "optimizer not fused",
        _UNFUSED,
        (Remedy("model.parameters(), lr=1e-4)", "model.parameters(), lr=1e-4, fused=True)"),),
    ),
    Program(
        "assignment by a mask",
        _MASKED,
        (
            Remedy(
                "        h[x > 0.5] += 0.1\n        h[x < -0.5] += x[x < -0.5]\n",
                "        h = torch.where(x > 0.5, h + 0.1, h)\n"
                "        h = torch.where(x < -0.5, h + x, h)\n",
            ),
        ),
    ),
    Program(
        "guard before backward",
        _GUARD,
        (Remedy("    if not torch.isfinite(loss):\n        raise FloatingPointError(step)\n", ""),),
    ),
    Program(
        "loss read each step",
        _FREE_READ,
        (Remedy("    total += loss.item()", "    total += loss.detach()"),),
        worthless=True,
    ),
    Program(
        "graph break in each layer",
        _BREAK,
        (
            Remedy(
                "        if h.abs().max() > 1e6:\n            h = h / 2\n",
                "        h = torch.where(h.abs().max() > 1e6, h / 2, h)\n",
            ),
        ),
    ),
    Program(
        "number read in each layer",
        _ITEMS,
        (Remedy("h.detach().abs().mean().item()", "h.detach().abs().mean()"),),
    ),
    Program(
        "batch made by Python",
        _BATCH,
        (
            Remedy(
                "    rows = []\n    for row in range(64):\n        rows.append("
                "[((row * 31 + column * 17 + step) % 101) / 101 for column in range(WIDTH)])\n"
                "    return torch.tensor(rows)",
                "    rows = np.arange(64)[:, None] * 31 + np.arange(WIDTH) * 17\n"
                "    return torch.from_numpy(((rows + step) % 101 / 101).astype(np.float32))",
            ),
        ),
        call="batch(step).to",
    ),
    Program(
        "loop over the rows of a batch",
        _HEADS,
        (Remedy("torch.stack([x[i] * noise[i] for i in range(len(x))])", "x * noise[:, None]"),),
    ),
    Program(
        "norms read one by one",
        _NORMS,
        (
            Remedy(
                "norms.append(sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5)",
                "norms.append(torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]))",
            ),
        ),
    ),
    Program(
        "table sent to the device each step",
        _SCHEDULE,
        (
            Remedy(
                "torch.from_numpy(betas).float().to(DEVICE)[t]",
                "globals().setdefault('TABLE', torch.from_numpy(betas).float().to(DEVICE))[t]",
            ),
        ),
        worthless=True,
    ),
    Program(
        "compiled for each size",
        _SIZES,
        (
            Remedy(
                "torch.compile(model, dynamic=False)", "torch.compile(model, dynamic=True)", True
            ),
        ),
    ),
)
