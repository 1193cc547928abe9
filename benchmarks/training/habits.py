"""The habits that are measured: what a training step does, as found and with the remedy."""

from __future__ import annotations

import copy
import gc
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from .model import Gpt, Size

Hook = Callable[[torch.Tensor], object]
RATE = 1e-5
DECAY = 0.999


class World:
    """A model, its batch, and what the arms of a habit keep."""

    def __init__(self, size: Size, device: torch.device) -> None:
        torch.manual_seed(0)
        self.device = device
        self.model: nn.Module = Gpt(size).to(device)
        self.call: Callable[..., torch.Tensor] = self.model
        shape = (size.batch, size.tokens)
        self.on_host = [torch.randint(size.vocabulary, shape) for _ in range(2)]
        if device.type == "cuda":
            self.on_host = [one.pin_memory() for one in self.on_host]
        self.batch = [one.to(device) for one in self.on_host]

    @property
    def parameters(self) -> list[nn.Parameter]:
        """Those of the model."""
        return list(self.model.parameters())

    def loss(self, batch: Sequence[torch.Tensor], *, mixed: bool = True) -> torch.Tensor:
        """The forward pass."""
        enabled = mixed and self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=enabled):
            return self.call(*batch)


@dataclass
class Arm:
    """One way to take a step: what a habit adds to it, and where."""

    optimizer: torch.optim.Optimizer
    batch: Callable[[], Sequence[torch.Tensor]]
    before_backward: Sequence[Hook] = ()
    before_step: Sequence[Hook] = ()
    after_step: Sequence[Hook] = ()
    before_turn: Sequence[Callable[[], object]] = ()
    scaler: torch.amp.GradScaler | None = None
    to_none: bool = True
    mixed: bool = True
    zero: Callable[[], object] | None = None

    def step(self, world: World) -> None:
        """One training step."""
        loss = world.loss(self.batch(), mixed=self.mixed)
        for hook in self.before_backward:
            hook(loss)
        if self.scaler is None:
            loss.backward()
        else:
            self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        for hook in self.before_step:
            hook(loss)
        if self.scaler is None:
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        if self.zero is None:
            self.optimizer.zero_grad(set_to_none=self.to_none)
        else:
            self.zero()
        for hook in self.after_step:
            hook(loss)


@dataclass
class OfProcesses(Arm):
    """The step of a model in DDP: several micro steps, and when they synchronize gradients."""

    model: DistributedDataParallel | None = None
    micro_steps: int = 1
    each_time: bool = True

    def step(self, world: World) -> None:
        """Some micro steps, and one of the optimizer."""
        model, kept = self.model, world.call
        assert model is not None
        world.call = model
        for number in range(self.micro_steps):
            last = number == self.micro_steps - 1
            with nullcontext() if last or self.each_time else model.no_sync():
                world.loss(self.batch()).backward()
        world.call = kept
        self.optimizer.step()
        self.optimizer.zero_grad()


class Images(Dataset[torch.Tensor]):
    """Pictures in memory, each of which is turned into floats when it is asked for."""

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int) -> torch.Tensor:
        picture = np.full((224, 224, 3), index % 251, np.uint8).astype(np.float32)
        picture = (picture / 255.0 - 0.45) / 0.225
        return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1)))


@dataclass(frozen=True)
class Habit:
    """A line of the table; ``rules`` are the codes of those that report the habit."""

    name: str
    found: str
    remedy: str
    arms: Callable[[World], tuple[Arm, Arm]]
    rules: tuple[str, ...] = ()
    eager_only: bool = False
    gpu_only: bool = False


def plain(world: World) -> Arm:
    """The step without any habit: a fused optimizer, and the batch where it is needed."""
    return Arm(adamw(world, fused=True), lambda: world.batch)


def adamw(world: World, **chosen: bool) -> torch.optim.Optimizer:
    """An optimizer of all parameters."""
    return torch.optim.AdamW(world.parameters, lr=RATE, **chosen)  # type: ignore[arg-type]


def loss_read(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    totals = [0.0, torch.zeros((), device=world.device)]

    def read(loss: torch.Tensor) -> None:
        totals[0] += loss.item()

    def kept(loss: torch.Tensor) -> None:
        totals[1] += loss.detach()

    found.after_step, remedy.after_step = [read], [kept]
    return found, remedy


def finite_asked(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    finite = torch.ones((), dtype=torch.bool, device=world.device)

    def ask(loss: torch.Tensor) -> None:
        if not torch.isfinite(loss):
            raise FloatingPointError

    def note(loss: torch.Tensor) -> None:
        finite.logical_and_(torch.isfinite(loss.detach()))

    found.before_backward, remedy.before_backward = [ask], [note]
    return found, remedy


def number_asked(world: World) -> tuple[Arm, Arm]:
    """The same, as it is written with `math`: the number is read first."""
    found, remedy = finite_asked(world)

    def ask(loss: torch.Tensor) -> None:
        if not math.isfinite(loss.item()):
            raise FloatingPointError

    found.before_backward = [ask]
    return found, remedy


def averaged(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    copies = [[p.detach().clone() for p in world.parameters] for _ in range(2)]

    @torch.no_grad()
    def one_by_one(_: torch.Tensor) -> None:
        for average, parameter in zip(copies[0], world.model.parameters(), strict=True):
            average.mul_(DECAY).add_(parameter.data, alpha=1 - DECAY)

    @torch.no_grad()
    def together(_: torch.Tensor) -> None:
        torch._foreach_mul_(copies[1], DECAY)
        torch._foreach_add_(copies[1], list(world.model.parameters()), alpha=1 - DECAY)

    found.after_step, remedy.after_step = [one_by_one], [together]
    return found, remedy


def interpolated(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    copies = [[p.detach().clone() for p in world.parameters] for _ in range(2)]

    @torch.no_grad()
    def one_by_one(_: torch.Tensor) -> None:
        for average, parameter in zip(copies[0], world.model.parameters(), strict=True):
            average.lerp_(parameter, 1 - DECAY)

    @torch.no_grad()
    def together(_: torch.Tensor) -> None:
        torch._foreach_lerp_(copies[1], list(world.model.parameters()), 1 - DECAY)

    found.after_step, remedy.after_step = [one_by_one], [together]
    return found, remedy


def default_optimizer(world: World) -> tuple[Arm, Arm]:
    return Arm(adamw(world), lambda: world.batch), plain(world)


def single_tensor(world: World) -> tuple[Arm, Arm]:
    return Arm(adamw(world, foreach=False), lambda: world.batch), plain(world)


def scaled(world: World) -> tuple[Arm, Arm]:
    arms = Arm(adamw(world, foreach=True), lambda: world.batch), plain(world)
    for arm in arms:
        arm.scaler = torch.amp.GradScaler(world.device.type, init_scale=1.0)
    return arms


def schedule_on_host(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    schedule = np.linspace(0.0, 1.0, 1000, dtype=np.float32)
    kept = torch.from_numpy(schedule).to(world.device)
    index = torch.randint(1000, (16,), device=world.device)
    found.after_step = [lambda _: torch.from_numpy(schedule).to(world.device)[index]]
    remedy.after_step = [lambda _: kept[index]]
    return found, remedy


def waiting_copy(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    found.batch = lambda: [one.to(world.device) for one in world.on_host]
    remedy.batch = lambda: [one.to(world.device, non_blocking=True) for one in world.on_host]
    return found, remedy


def meters(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)

    def read(loss: torch.Tensor) -> list[float]:
        return [(loss.detach() * k).item() for k in range(5)]

    def at_once(loss: torch.Tensor) -> list[float]:
        return list(torch.stack([loss.detach() * k for k in range(5)]).tolist())

    found.after_step, remedy.after_step = [read], [at_once]
    return found, remedy


def norm_asked(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)

    def clip(asked: bool) -> Hook:
        return lambda _: nn.utils.clip_grad_norm_(world.parameters, 1.0, error_if_nonfinite=asked)

    found.before_step, remedy.before_step = [clip(True)], [clip(False)]
    return found, remedy


def norms_read(world: World) -> tuple[Arm, Arm]:
    found, remedy = norms_stacked(world)

    def one_by_one(_: torch.Tensor) -> float:
        total = 0.0
        for p in world.model.parameters():
            if p.grad is not None:
                total += p.grad.data.norm(2).item() ** 2
        return total**0.5

    found.before_step = [one_by_one]
    return found, remedy


def norms_stacked(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)

    def gradients() -> list[torch.Tensor]:
        return [p.grad for p in world.model.parameters() if p.grad is not None]

    def stacked(_: torch.Tensor) -> torch.Tensor:
        return torch.norm(torch.stack([torch.norm(g.detach(), 2) for g in gradients()]), 2)

    found.before_step = [stacked]
    remedy.before_step = [lambda _: nn.utils.get_total_norm(gradients(), 2.0)]
    return found, remedy


def sgd(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    found.optimizer = torch.optim.SGD(world.parameters, lr=RATE, momentum=0.9)
    remedy.optimizer = torch.optim.SGD(world.parameters, lr=RATE, momentum=0.9, fused=True)
    return found, remedy


def made_on_host(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    found.after_step = [lambda _: torch.randn(64, 100).to(world.device)]
    remedy.after_step = [lambda _: torch.randn(64, 100, device=world.device)]
    return found, remedy


def pageable_batch(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    images = torch.zeros(64, 3, 224, 224)
    pinned = images.pin_memory() if world.device.type == "cuda" else images
    found.after_step = [lambda _: images.to(world.device)]
    remedy.after_step = [lambda _: pinned.to(world.device, non_blocking=True)]
    return found, remedy


def loaded(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    for arm, workers in ((found, 0), (remedy, 4)):
        batches = iter(DataLoader(Images(), batch_size=32, num_workers=workers))
        arm.after_step = [lambda _, it=batches: next(it).to(world.device)]  # type: ignore[misc]
    return found, remedy


def indexed(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    rows = [torch.zeros(8192, 4, device=world.device) for _ in range(6)]
    array = np.random.default_rng(0).permutation(8192)[:2048]
    found.after_step = [lambda _: [one[array] for one in rows]]

    def once(_: torch.Tensor) -> list[torch.Tensor]:
        index = torch.from_numpy(array).to(world.device)
        return [one[index] for one in rows]

    remedy.after_step = [once]
    return found, remedy


def counted(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    right, guessed = world.batch[1], world.batch[0]
    totals = [0, torch.zeros((), dtype=torch.long, device=world.device)]

    def on_host(_: torch.Tensor) -> None:
        totals[0] += int((guessed.cpu().numpy() == right.cpu().numpy()).sum())

    def on_device(_: torch.Tensor) -> None:
        totals[1] += (guessed == right).sum()

    found.after_step, remedy.after_step = [on_host], [on_device]
    return found, remedy


def copied(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    copies = [p.detach().clone() for p in world.parameters]

    @torch.no_grad()
    def one_by_one(_: torch.Tensor) -> None:
        for parameter, kept in zip(world.model.parameters(), copies, strict=True):
            kept.copy_(parameter)

    @torch.no_grad()
    def together(_: torch.Tensor) -> None:
        torch._foreach_copy_(copies, list(world.model.parameters()))

    found.after_step, remedy.after_step = [one_by_one], [together]
    return found, remedy


def zeroed_one_by_one(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)

    def zero() -> None:
        for parameter in world.model.parameters():
            if parameter.grad is not None:
                parameter.grad.detach_()
                parameter.grad.zero_()

    found.zero = zero
    return found, remedy


def of_processes(world: World, **chosen: bool) -> OfProcesses:
    """The step of a copy of the model, in one process of a group of its own."""
    if not distributed.is_initialized():
        backend = "nccl" if world.device.type == "cuda" else "gloo"
        store = distributed.HashStore()
        distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    model = DistributedDataParallel(copy.deepcopy(world.model), **chosen)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    return OfProcesses(optimizer, lambda: world.batch, model=model)


def synchronized_each_time(world: World) -> tuple[Arm, Arm]:
    found, remedy = of_processes(world), of_processes(world)
    found.micro_steps = remedy.micro_steps = 4
    remedy.each_time = False
    return found, remedy


def unused_sought(world: World) -> tuple[Arm, Arm]:
    return of_processes(world, find_unused_parameters=True), of_processes(world)


def zeroed(world: World) -> tuple[Arm, Arm]:
    found, remedy = plain(world), plain(world)
    found.to_none = False
    return found, remedy


def each_step(call: Callable[[], object]) -> Callable[[World], tuple[Arm, Arm]]:
    """A habit that is one call after each step, which the remedy leaves out."""

    def arms(world: World) -> tuple[Arm, Arm]:
        found, remedy = plain(world), plain(world)
        found.after_step = [lambda _: call()]
        return found, remedy

    return arms


def full_float32(world: World) -> tuple[Arm, Arm]:
    arms = plain(world), plain(world)
    for arm, precision in zip(arms, ("highest", "high"), strict=True):
        arm.mixed = False
        arm.before_turn = [lambda it=precision: torch.set_float32_matmul_precision(it)]  # type: ignore[misc]
    return arms


HABITS: tuple[Habit, ...] = (
    Habit(
        "averages one by one",
        "for a, p in zip(averages, model.parameters()): a.mul_(d).add_(p, alpha=1 - d)",
        "torch._foreach_mul_(averages, d); torch._foreach_add_(averages, [...], alpha=1 - d)",
        averaged,
        ("TCL520",),
    ),
    Habit(
        "averages one by one, by lerp_",
        "for a, p in zip(averages, model.parameters()): a.lerp_(p, 1 - d)",
        "torch._foreach_lerp_(averages, [...], 1 - d)",
        interpolated,
        ("TCL520",),
    ),
    Habit(
        "norms read one by one",
        "for p in model.parameters(): total += p.grad.norm().item() ** 2",
        "torch.nn.utils.get_total_norm([...])",
        norms_read,
        ("TCL521",),
    ),
    Habit(
        "norms one by one",
        "torch.stack([p.grad.norm() for p in model.parameters()]).norm()",
        "torch.nn.utils.get_total_norm([...])",
        norms_stacked,
        ("TCL521",),
    ),
    Habit(
        "foreach=False",
        "AdamW(..., foreach=False)",
        "AdamW(..., fused=True)",
        single_tensor,
        ("TCL503",),
    ),
    Habit(
        "optimizer's default",
        "AdamW(...)",
        "AdamW(..., fused=True)",
        default_optimizer,
        ("TCL507",),
    ),
    Habit(
        "scaler and unfused optimizer",
        "scaler.step(optimizer)",
        "the same, with AdamW(..., fused=True)",
        scaled,
        ("TCL512",),
        gpu_only=True,
    ),
    Habit(
        "finite before backward",
        "if not torch.isfinite(loss): raise",
        "finite &= torch.isfinite(loss), read every few steps",
        finite_asked,
        ("TCL335",),
    ),
    Habit(
        "finite before backward, of a number",
        "if not math.isfinite(loss.item()): raise",
        "finite &= torch.isfinite(loss), read every few steps",
        number_asked,
        ("TCL335",),
    ),
    Habit(
        "loss read",
        "total += loss.item()",
        "total += loss.detach()",
        loss_read,
        ("TCL511",),
    ),
    Habit(
        "five numbers read",
        "five times .item()",
        "torch.stack([...]).tolist()",
        meters,
        ("TCL332",),
    ),
    Habit(
        "norm checked",
        "clip_grad_norm_(..., error_if_nonfinite=True)",
        "clip_grad_norm_(...)",
        norm_asked,
        ("TCL504",),
    ),
    Habit(
        "gradients zeroed",
        "zero_grad(set_to_none=False)",
        "zero_grad()",
        zeroed,
        ("TCL505",),
    ),
    Habit(
        "batch waits",
        "pinned.to(device)",
        "pinned.to(device, non_blocking=True)",
        waiting_copy,
        ("TCL334",),
        gpu_only=True,
    ),
    Habit(
        "schedule on the host",
        "torch.from_numpy(schedule).to(device)[t]",
        "schedule[t], kept on the device",
        schedule_on_host,
        (),
    ),
    Habit(
        "tensor made on the host",
        "torch.randn(64, 100).to(device)",
        "torch.randn(64, 100, device=device)",
        made_on_host,
        gpu_only=True,
    ),
    Habit(
        "indexed by an array",
        "six times tensor[array], of numpy",
        "index = torch.from_numpy(array).to(device), and six times tensor[index]",
        indexed,
        gpu_only=True,
    ),
    Habit(
        "predictions counted on the host",
        "(predicted.cpu().numpy() == y.cpu().numpy()).sum()",
        "(predicted == y).sum()",
        counted,
    ),
    Habit(
        "batch from pageable memory",
        "images.to(device), 38 MB",
        "images.pin_memory(), then .to(device, non_blocking=True)",
        pageable_batch,
        ("TCL336",),
        gpu_only=True,
    ),
    Habit(
        "loader without workers",
        "DataLoader(images, batch_size=32)",
        "DataLoader(images, batch_size=32, num_workers=4)",
        loaded,
        ("TCL337",),
        eager_only=True,
        gpu_only=True,
    ),
    Habit(
        "SGD's default",
        "SGD(..., momentum=0.9)",
        "SGD(..., momentum=0.9, fused=True)",
        sgd,
    ),
    Habit(
        "gradients zeroed one by one",
        "for p in model.parameters(): p.grad.zero_()",
        "optimizer.zero_grad()",
        zeroed_one_by_one,
        ("TCL522",),
    ),
    Habit(
        "copies one by one",
        "for a, p in zip(copies, model.parameters()): a.copy_(p)",
        "torch._foreach_copy_(copies, [...])",
        copied,
        ("TCL522",),
    ),
    Habit(
        "gradients synchronized each time",
        "four micro steps in DistributedDataParallel",
        "the same, three of them in model.no_sync()",
        synchronized_each_time,
        ("TCL523",),
        eager_only=True,
    ),
    Habit(
        "unused parameters sought",
        "DistributedDataParallel(..., find_unused_parameters=True)",
        "DistributedDataParallel(...)",
        unused_sought,
        eager_only=True,
    ),
    Habit(
        "cache emptied",
        "torch.cuda.empty_cache()",
        "not called",
        each_step(torch.cuda.empty_cache),
        ("TCL331",),
        gpu_only=True,
    ),
    Habit(
        "garbage collected",
        "gc.collect()",
        "not called",
        each_step(gc.collect),
        ("TCL331",),
    ),
    Habit(
        "synchronized",
        "torch.cuda.synchronize()",
        "not called",
        each_step(torch.cuda.synchronize),
        ("TCL331",),
        gpu_only=True,
    ),
    Habit(
        "full float32",
        "float32, nothing said of its precision",
        'torch.set_float32_matmul_precision("high")',
        full_float32,
        ("TCL620",),
        eager_only=True,
        gpu_only=True,
    ),
)
