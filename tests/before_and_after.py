"""What a program does before and after its fixes, eagerly: results, errors, output, warnings."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files


def shown(value: Any) -> str:
    """A value with its types, and what can be told of a tensor, the sign of zero included."""
    if isinstance(value, torch.Tensor):
        told = value.detach().cpu()
        numbers = str(told.tolist() if told.dtype.itemsize > 1 else told.float().tolist())
        about = (value.dtype, value.device, tuple(value.shape), numbers, value.requires_grad)
        return f"{type(value).__name__}{about}"
    if isinstance(value, np.ndarray):
        return f"ndarray({value.dtype}, {value.tolist()})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}[{', '.join(map(shown, value))}]"
    return f"{type(value).__name__}:{value!r}"


def outcome(folder: Path, files: Mapping[str, str]) -> str:
    """What `main` of `program.py` gives, beside the modules of the other files."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    names = [name.removesuffix(".py") for name in files]
    printed = io.StringIO()
    _forget(names)  # another test may have left a module of that name
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    torch.manual_seed(0)
    try:
        with (
            contextlib.redirect_stdout(printed),
            torch.compiler.set_stance("force_eager"),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            result = _result()
    finally:
        sys.path.remove(str(folder))
        _forget(names)
    said = [
        f"{one.category.__name__}: {one.message}"
        for one in warned
        if Path(one.filename).parent == folder
    ]
    return f"{result}\n{printed.getvalue()}\n{said}"


def _forget(names: Iterable[str]) -> None:
    """Have modules imported anew."""
    for name in names:
        sys.modules.pop(name, None)


def _result() -> str:
    try:
        return shown(importlib.import_module("program").main())
    except Exception as error:  # noqa: BLE001 (the program's own)
        return f"{type(error).__name__}: {error}"


def fixed(
    folder: Path,
    files: Mapping[str, str],
    *,
    unsafe: bool = False,
    settings: Settings | None = None,
) -> dict[str, str]:
    """The files with their fixes."""
    config = Config(root=folder, settings=settings or Settings())
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    paths = [folder / name for name in files]
    changed = {one.path.name: one.after for one in fix_files(paths, config, unsafe=unsafe).changed}
    return {**files, **changed}
