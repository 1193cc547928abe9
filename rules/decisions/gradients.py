"""What to do instead of switching gradients on and off in compiled code."""

from __future__ import annotations

from typing import Final

WAY_OUT: Final = (
    "switch it before compiled code is called; inside, `.detach()` cuts gradients off, and "
    "`torch.func.grad` takes them with respect to any tensor"
)
