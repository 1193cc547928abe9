"""Regional compilation: each repeated block by itself, so that one compile serves all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torch import nn


def repeated_blocks(module: nn.Module) -> tuple[nn.Module, ...]:
    """The outermost modules that stand more than once, with one class, in one container."""
    return tuple(_walk(module))


def _walk(module: nn.Module) -> Iterator[nn.Module]:
    children = list(module.children())
    classes = Counter(type(child) for child in children)
    container = isinstance(module, nn.ModuleList | nn.ModuleDict | nn.Sequential)
    for child in children:
        if container and classes[type(child)] > 1 and list(child.children()):
            yield child
        else:
            yield from _walk(child)
