"""The transforms that the scripts use, on tensors."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch.nn import functional


class Compose:
    """One after the other."""

    def __init__(self, steps: Any) -> None:
        """Keep the steps."""
        self.steps = steps

    def __call__(self, image: Any) -> Any:
        """Do them all."""
        for step in self.steps:
            image = step(image)
        return image


class ToTensor:
    """Channels first, from 0 to 1."""

    def __call__(self, image: Any) -> Any:
        """Turn one over."""
        image = image.unsqueeze(-1) if image.dim() == 2 else image
        return image.permute(2, 0, 1).contiguous().to(torch.float32).div(255)


class Normalize:
    """Less the mean, by the deviation."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        """Keep both."""
        self.mean, self.std = mean, std

    def __call__(self, image: Any) -> Any:
        """Do it as torchvision does: with tensors that are made for each image."""
        mean, std = (
            torch.as_tensor(one, dtype=image.dtype, device=image.device).view(-1, 1, 1)
            for one in (self.mean, self.std)
        )
        return image.clone().sub_(mean).div_(std)


class Resize:
    """To another size."""

    def __init__(self, size: Any, *args: Any, **kwargs: Any) -> None:
        """Keep the size of a side."""
        self.size = size if isinstance(size, int) else size[0]

    def __call__(self, image: Any) -> Any:
        """Interpolate; images are not floating yet."""
        image = image.unsqueeze(-1) if image.dim() == 2 else image
        moved = image.permute(2, 0, 1)[None].to(torch.float32)
        sized = functional.interpolate(moved, size=(self.size, self.size), mode="bilinear")
        return sized[0].permute(1, 2, 0).to(torch.uint8)


class CenterCrop(Resize):
    """Already of that size."""

    def __call__(self, image: Any) -> Any:
        """Leave it."""
        return image


class RandomCrop:
    """A part of the padded image."""

    def __init__(self, size: int, padding: int = 0) -> None:
        """Keep both."""
        self.size, self.padding = size, padding

    def __call__(self, image: Any) -> Any:
        """Cut it out."""
        wide = functional.pad(image, (0, 0, *([self.padding] * 4)))
        top, left = (random.randrange(2 * self.padding + 1) for _ in range(2))
        return wide[top : top + self.size, left : left + self.size]


class RandomHorizontalFlip:
    """Every other image."""

    def __call__(self, image: Any) -> Any:
        """Mirror it, or not."""
        return image.flip(1) if random.random() < 0.5 else image
