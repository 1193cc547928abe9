"""Which operations give other bits if a tensor without dimensions takes the place of its number.

``python -m benchmarks.zero_dim --device cuda`` prints, by operation and dtype, the largest share of
elements whose bits differ, in the results or their gradients, and ``--check`` holds it against
`tclint.torch_facts.zero_dim`. It needs torch alone, and takes some ten seconds.
"""

from __future__ import annotations

import argparse
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Final

import torch

from tclint.torch_facts.zero_dim import ROUNDED

Number = float | int
Operation = Callable[[torch.Tensor, "torch.Tensor | Number"], torch.Tensor]
_SIZE: Final = 1 << 12
_NUMBERS: Final = (3.0, 7.0, 10.0, 49.0, -1.0, 2.0, 0.5, 0.0, 1.0, 0.1, -2.3, 1e-3, 12345.0)
DTYPES: Final = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64)
OPERATIONS: Final[dict[str, Operation]] = {
    "add": lambda x, n: x + n,
    "sub": lambda x, n: x - n,
    "rsub": lambda x, n: n - x,
    "mul": lambda x, n: x * n,
    "div": lambda x, n: x / n,
    "rdiv": lambda x, n: n / x,
    "floor_divide": operator.floordiv,
    "remainder": lambda x, n: x % n,
    "pow": lambda x, n: x**n,
    "rpow": lambda x, n: n**x,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "clamp_min": lambda x, n: x.clamp(min=n),  # type: ignore[arg-type]
    "clamp_max": lambda x, n: x.clamp(max=n),  # type: ignore[arg-type]
    "where": lambda x, n: torch.where(x > 0, x, n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "fill": lambda x, n: x.clone().fill_(n),
}


def measure(device: str) -> dict[str, dict[torch.dtype, float]]:
    """The largest share of elements that differ, of all numbers, by operation and dtype.

    1.0 where the dtype differs, too, or one of both raises.
    """
    return {
        name: {dtype: max(_shares(call, dtype, device)) for dtype in DTYPES}
        for name, call in OPERATIONS.items()
    }


def _shares(call: Operation, dtype: torch.dtype, device: str) -> Iterator[float]:
    torch.manual_seed(0)
    scales = 2.0 ** torch.randint(-6, 6, (_SIZE,))
    x = (torch.randn(_SIZE, dtype=torch.float64) * scales).abs().add(1e-3).to(dtype)
    x = x.clamp(min=1) if dtype == torch.int64 else x
    for number in _NUMBERS:
        tensor = torch.tensor(number, dtype=torch.float64).to(dtype).to(device)
        both = [_run(call, x.to(device), given) for given in (tensor.item(), tensor)]
        yield _share(*both)


def _run(
    call: Operation, x: torch.Tensor, given: torch.Tensor | Number
) -> list[torch.Tensor] | None:
    """The result, and the gradient where there is one; None where the operation raises."""
    x = x.clone().requires_grad_(x.is_floating_point())
    try:
        made = call(x, given)
    except (RuntimeError, ZeroDivisionError):
        return None
    if call is operator.floordiv or not made.requires_grad:
        return [made.detach()]
    return [made.detach(), *torch.autograd.grad(made.sum(), x)]


def _share(one: list[torch.Tensor] | None, other: list[torch.Tensor] | None) -> float:
    if one is None or other is None:
        return 0.0 if one is other else 1.0
    pairs = [*zip(one, other, strict=True)]
    if any(a.dtype != b.dtype or a.device != b.device for a, b in pairs):
        return 1.0
    return max((_bits(a) != _bits(b)).double().mean().item() for a, b in pairs)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    plain = torch.where(tensor.isnan(), torch.full_like(tensor, float("nan")), tensor)
    return plain.contiguous().view(integers[tensor.element_size()])


def main() -> int:
    """Print the table; with ``--check``, 1 where an operation differs that no fact names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = measure(options.device)
    names = [str(dtype).removeprefix("torch.") for dtype in DTYPES]
    print(f"torch {torch.__version__} on {options.device}")
    print(" " * 13 + "".join(f"{name:>10}" for name in names))
    for name, row in found.items():
        print(f"{name:13}" + "".join(f"{share:>10.1%}" for share in row.values()))
    unnamed = [name for name, row in found.items() if any(row.values()) and name not in ROUNDED]
    if options.check and unnamed:
        print(f"differ, and are not in tclint/torch_facts/zero_dim.py: {', '.join(unnamed)}")
    return int(options.check and bool(unnamed))


if __name__ == "__main__":
    sys.exit(main())
