"""Small models whose calls take a GPU about a millisecond; each notes the GPU that it is made on.

``FLEET_GPUS_SMALL`` makes them so small that a processor can try them.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import nn

from benchmarks.fleet_gpus.log import note

SMALL = bool(os.environ.get("FLEET_GPUS_SMALL"))
BATCH = 2 if SMALL else 64
LENGTH = 8 if SMALL else 256
WIDTH = 16 if SMALL else 512
SIDE = 16 if SMALL else 64

Made = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]


class Chain(nn.Module):
    """Layers with something small after each, as a compiler can fuse."""

    def __init__(self, layers: list[nn.Module], after: str) -> None:
        """``after`` names the function."""
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.after = after

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Each layer, added to what went in."""
        for layer in self.layers:
            made = layer(x)
            if self.after == "gate":
                made = torch.sigmoid(made) * made
            elif self.after == "norm":
                made = (made - made.mean(-1, keepdim=True)) * torch.rsqrt(
                    made.var(-1, keepdim=True) + 1e-5
                )
            else:
                made = getattr(torch, self.after)(made)
            x = x + made
        return x


def _chain(name: str, after: str, layers: list[nn.Module], *shape: int) -> Made:
    _note(name)
    torch.manual_seed(0)
    return Chain(layers, after), (torch.randn(*shape),), {}


def _note(name: str) -> None:
    gpu, card = "none", "none"
    if torch.cuda.is_available():
        found = torch.cuda.get_device_properties(0)
        gpu, card = str(found.uuid), found.name
    note(target=name, gpu=gpu, card=card, torch=str(torch.__version__))


def _linear(count: int) -> list[nn.Module]:
    return [nn.Linear(WIDTH, WIDTH) for _ in range(count)]


def _attention(count: int, *, norm_first: bool) -> list[nn.Module]:
    return [
        nn.TransformerEncoderLayer(
            WIDTH, 8, 2 * WIDTH, dropout=0.0, batch_first=True, norm_first=norm_first
        )
        for _ in range(count)
    ]


def _convolution(count: int, kernel: int) -> list[nn.Module]:
    return [nn.Conv2d(WIDTH // 8, WIDTH // 8, kernel, padding="same") for _ in range(count)]


def make_linear_relu() -> Made:
    """Linear layers."""
    return _chain("make_linear_relu", "relu", _linear(4), BATCH, LENGTH, WIDTH)


def make_linear_tanh() -> Made:
    """Linear layers."""
    return _chain("make_linear_tanh", "tanh", _linear(4), BATCH, LENGTH, WIDTH)


def make_linear_gate() -> Made:
    """Linear layers with gates."""
    return _chain("make_linear_gate", "gate", _linear(4), BATCH, LENGTH, WIDTH)


def make_linear_norm() -> Made:
    """Linear layers with a normalisation by hand."""
    return _chain("make_linear_norm", "norm", _linear(4), BATCH, LENGTH, WIDTH)


def make_deep_gate() -> Made:
    """Many linear layers on less."""
    return _chain("make_deep_gate", "gate", _linear(12), BATCH // 2, LENGTH, WIDTH)


def make_deep_norm() -> Made:
    """Many linear layers on less."""
    return _chain("make_deep_norm", "norm", _linear(12), BATCH // 2, LENGTH, WIDTH)


def make_attention_after() -> Made:
    """Attention, normalised after."""
    layers = _attention(2, norm_first=False)
    return _chain("make_attention_after", "tanh", layers, BATCH, LENGTH, WIDTH)


def make_attention_before() -> Made:
    """Attention, normalised before."""
    layers = _attention(2, norm_first=True)
    return _chain("make_attention_before", "gate", layers, BATCH, LENGTH, WIDTH)


def make_convolution_relu() -> Made:
    """Convolutions."""
    layers = _convolution(4, 3)
    return _chain("make_convolution_relu", "relu", layers, BATCH, WIDTH // 8, SIDE, SIDE)


def make_convolution_gate() -> Made:
    """Convolutions with gates."""
    layers = _convolution(4, 3)
    return _chain("make_convolution_gate", "gate", layers, BATCH, WIDTH // 8, SIDE, SIDE)


def make_convolution_wide() -> Made:
    """Convolutions with a larger window."""
    layers = _convolution(3, 5)
    return _chain("make_convolution_wide", "tanh", layers, BATCH, WIDTH // 8, SIDE, SIDE)


def make_norms() -> Made:
    """Normalisations alone: memory is what they wait for."""
    layers: list[nn.Module] = [nn.LayerNorm(WIDTH) for _ in range(8)]
    return _chain("make_norms", "gate", layers, 2 * BATCH, LENGTH, WIDTH)
