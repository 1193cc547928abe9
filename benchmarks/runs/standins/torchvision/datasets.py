"""Made images, as torchvision's own data sets give them: numbers of 8 bits, then the transform."""

from __future__ import annotations

from typing import Any

import torch

_COUNT = 12_800


class _Images(torch.utils.data.Dataset):  # type: ignore[type-arg]
    shape: tuple[int, ...] = (28, 28)
    classes = tuple(map(str, range(10)))

    def __init__(
        self,
        root: Any = None,
        train: bool = True,
        transform: Any = None,
        target_transform: Any = None,
        download: bool = False,
        **more: Any,
    ) -> None:
        """Make them; the same each time."""
        count = _COUNT if train else 256
        draw = torch.Generator().manual_seed(int(train))
        self.data = torch.randint(0, 256, (count, *self.shape), generator=draw, dtype=torch.uint8)
        self.targets = torch.randint(0, 10, (count,), generator=draw)
        self.transform = transform

    def __len__(self) -> int:
        """How many there are."""
        return len(self.data)

    def __getitem__(self, at: int) -> tuple[Any, int]:
        """One image with its class."""
        image = self.data[at]
        return (image if self.transform is None else self.transform(image)), int(self.targets[at])


class MNIST(_Images):
    """Digits."""


class FashionMNIST(_Images):
    """Clothes."""


class CIFAR10(_Images):
    """Small photographs."""

    shape = (32, 32, 3)


class FakeData(_Images):
    """Images of any size."""

    def __init__(self, image_size: Any = (3, 64, 64), transform: Any = None, **more: Any) -> None:
        """Make them: channels first in the size, last in the data."""
        self.shape = (*image_size[1:], image_size[0])
        super().__init__(transform=transform)
        self.data, self.targets = self.data[:1280], self.targets[:1280]
