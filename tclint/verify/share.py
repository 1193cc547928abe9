"""One rank's share of a target: its part of the weights, its own rows of the batch (child only)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from tclint.verify import steps
from tclint.verify.contract import Loaded
from tclint.verify.errors import TargetError
from tclint.verify.regional import repeated_blocks


def sharing(parallel: str) -> Callable[[Loaded], Loaded]:
    """What makes a share of what a factory gave; ``parallel`` is ``ddp``, ``fsdp`` or ``none``."""

    def share(loaded: Loaded) -> Loaded:
        mine = own_rows(loaded, dist.get_rank())
        if parallel == "none" or not _trainable(mine.function):
            return mine
        if mine.train_step is not None and "model" not in mine.given:
            raise TargetError(
                f"`train_step` holds a model of its own: give it the first parameter `model`, so "
                f"that it can be called with the {parallel.upper()} one"
            )
        return replace(mine, function=_spread(mine.function, parallel))

    return share


def own_rows(loaded: Loaded, rank: int) -> Loaded:
    """Give each rank but the first other data: rows drawn from the batch, with replacement.

    Rows of all tensors of the batch's size are drawn alike, so that images keep their labels.
    """
    given = (loaded.args, loaded.kwargs)
    sizes = [tensor.shape[0] for tensor in steps.leaves(given) if tensor.ndim]
    if rank == 0 or not sizes:
        return loaded
    generator = torch.Generator().manual_seed(rank)
    rows = torch.randint(sizes[0], (sizes[0],), generator=generator)

    def draw(value: object) -> object:
        if not isinstance(value, Tensor) or value.ndim == 0 or value.shape[0] != sizes[0]:
            return value
        drawn = value.detach()[rows.to(value.device)]
        return drawn.requires_grad_(value.requires_grad)

    args, kwargs = tree_map(draw, given)
    return replace(loaded, args=args, kwargs=kwargs)


def _trainable(function: object) -> bool:
    if not isinstance(function, nn.Module):
        return False
    return any(parameter.requires_grad for parameter in function.parameters())


def _spread(module: Any, parallel: str) -> Any:
    if parallel == "ddp":
        return nn.parallel.DistributedDataParallel(module)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    kind = next(module.parameters()).device.type
    mesh = init_device_mesh(kind, (int(os.environ["WORLD_SIZE"]),))
    for block in repeated_blocks(module):
        fully_shard(block, mesh=mesh)
    return fully_shard(module, mesh=mesh)
