"""Run each program of a folder eagerly and print what its `main` gives, and what it prints."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import sys
from pathlib import Path
from typing import Any

os.environ["TORCHDYNAMO_DISABLE"] = "1"

import numpy as np
import torch


def shown(value: Any) -> str:
    """A value with its types, and what can be told of a tensor."""
    if isinstance(value, torch.Tensor):
        told = (value.dtype, tuple(value.shape), value.detach().tolist(), value.requires_grad)
        return f"{type(value).__name__}{told}"
    if isinstance(value, np.ndarray):
        return f"ndarray({value.dtype}, {value.tolist()})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{shown(key)}: {shown(item)}' for key, item in value.items())}}}"
    return f"{type(value).__name__}:{value!r}"


def told(path: Path) -> str:
    """What a program gives and prints; programs end without an error."""
    spec = importlib.util.spec_from_file_location(f"kept_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        spec.loader.exec_module(module)
        result = shown(module.main())
    return f"{path.stem}: {result} {printed.getvalue()!r}"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for program in sorted(Path(sys.argv[1]).glob("*.py")):
        print(told(program))
