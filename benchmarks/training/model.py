"""The model whose training step is measured: a GPT, small or of middle size."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional


class Size(NamedTuple):
    """How large a model and its batch are."""

    name: str
    layers: int
    width: int
    vocabulary: int
    batch: int
    tokens: int


GPU_SIZES = (Size("small", 4, 256, 8192, 16, 512), Size("middle", 8, 512, 16384, 16, 512))
CPU_SIZES = (Size("small", 2, 64, 256, 2, 32), Size("middle", 4, 128, 512, 4, 64))


class Block(nn.Module):
    """A layer of attention and one of two matrices."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = width // 32
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What is added to each token."""
        batch, tokens, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    """What predicts the next token."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.places = nn.Embedding(size.tokens, size.width)
        self.blocks = nn.Sequential(*(Block(size.width) for _ in range(size.layers)))
        self.register_buffer("positions", torch.arange(size.tokens), persistent=False)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The loss."""
        hidden = self.tokens(x) + self.places(self.positions)
        logits = functional.linear(self.blocks(hidden), self.tokens.weight)
        return functional.cross_entropy(logits.flatten(0, 1), y.flatten())
