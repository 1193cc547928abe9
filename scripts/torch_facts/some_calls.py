"""Calls of torch with all their arguments, drawn from the samples of torch's own tests.

    python -m scripts.torch_facts.some_calls [--seed N] [COUNT] > tests/torch_calls.txt

One a line, as one writes them: ``torch.sum(torch.ones((2, 3), dtype=torch.float32), dim=1)``. What
they give is left to whoever runs them, with fake tensors.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import math
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from scripts.torch_facts.behaviour import FAILURES
from scripts.torch_facts.sampled import Heard, heard
from tclint.torch_facts.table import canonical

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.float16)
_SAMPLES, _ROUNDS, _LONGEST = 25, 20, 300


def main() -> int:
    """Print the calls."""
    parser = argparse.ArgumentParser(prog="python -m scripts.torch_facts.some_calls")
    parser.add_argument("count", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    texts = dict.fromkeys(calls(random.Random(asked.seed), asked.count))
    print(*sorted(texts), sep="\n")
    return 0


def calls(drawn: random.Random, count: int) -> Iterator[str]:
    """The text of so many calls that work with fake tensors."""
    seen: set[str] = set()
    for call in _heard(drawn):
        text = written(call)
        if text is None or len(text) > _LONGEST or text in seen or not _gives_tensors(text):
            continue
        seen.add(text)
        yield text
        if len(seen) == count:
            return


def _heard(drawn: random.Random) -> Iterator[Heard]:
    from torch.testing._internal.common_methods_invocations import op_db

    operations = [*op_db]
    for _ in range(_ROUNDS):
        drawn.shuffle(operations)
        for operation in operations:
            dtypes = [dtype for dtype in DTYPES if dtype in operation.dtypes]
            if dtypes:
                samples = operation.sample_inputs("cpu", drawn.choice(dtypes))
                some = [*itertools.islice(samples, _SAMPLES)]
                several = [*heard(operation, drawn.choice(some))] if some else []
                yield from [drawn.choice(several)] if several else []


def written(call: Heard) -> str | None:
    """The call as source; None for what nobody writes, and for what no source says."""
    name, _, arguments, keywords = call
    name = canonical(name)
    if "._" in name or name.endswith("_"):
        return None
    parts = [*map(_source, arguments)]
    named = [(key, _source(value)) for key, value in keywords.items()]
    if None in parts or any(text is None for _, text in named):
        return None
    given = [str(part) for part in parts] + [f"{key}={text}" for key, text in named]
    if name.startswith("torch.Tensor."):
        return f"{given[0]}.{name.removeprefix('torch.Tensor.')}({', '.join(given[1:])})"
    return f"{name}({', '.join(given)})"


def _source(value: Any) -> str | None:
    if isinstance(value, Tensor):
        plain = value.layout == torch.strided
        return f"torch.ones({tuple(value.shape)}, dtype={value.dtype})" if plain else None
    if type(value) in (tuple, list):
        parts = [*map(_source, value)]
        if None in parts:
            return None
        inner = ", ".join(map(str, parts))
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if inner else "()"
    plain = value is None or isinstance(value, (bool, int, str, torch.dtype))
    finite = isinstance(value, float) and math.isfinite(value)
    return repr(value) if plain or finite else None


def _gives_tensors(text: str) -> bool:
    try:
        with FakeTensorMode():
            result = eval(text)
    except (*FAILURES, NotImplementedError):
        return False
    several = result if isinstance(result, (tuple, list)) else [result]
    return bool(several) and all(isinstance(one, Tensor) for one in several)


if __name__ == "__main__":
    sys.exit(main())
