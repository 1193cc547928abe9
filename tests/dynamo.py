"""What Dynamo does with a program: the other half of claims about what breaks."""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

import pytest

from tclint.config import Settings
from tclint.environment import installed_torch
from tclint.torch_bounds import NEWEST_TORCH, Version, shown

RELEASE: Final[Version] = (installed_torch(Path("nowhere"), "") or (NEWEST_TORCH, ""))[0]
"""The torch that the tests run with."""

HERE: Final = Settings(target_torch=RELEASE)
"""For tclint to speak of that torch."""
MEASURED: Final = Settings(target_torch=(2, 13))
"""For tclint to speak of the torch that programs with given answers were compiled with."""


def skip_before(release: Version) -> None:
    """Leave a test out where an older torch is installed, which does otherwise."""
    if release > RELEASE:
        pytest.skip(f"before torch {shown(release)} it is otherwise")


def loaded(text: str) -> Callable[..., Any]:
    """The function ``f`` of a program, whose lines tracebacks can show."""
    name = f"<program {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    # A module of its own: without one, dataclasses take the program for `builtins` and write there.
    module = sys.modules[name] = ModuleType(name)
    # What Dynamo compiled of a code it finds again by that code, also in another module.
    code = compile(text, name, "exec") if "compile" in text else _compiled(text, name)
    exec(code, vars(module))
    function: Callable[..., Any] = vars(module)["f"]
    return function


@functools.lru_cache(maxsize=4)
def _compiled(text: str, name: str) -> CodeType:
    """The code of a program, which a test runs for each of its inputs."""
    return compile(text, name, "exec")


def breaks(text: str, *inputs: Any) -> bool:
    """Whether the graph breaks anywhere when ``f`` of a program is compiled and called once."""
    return _breaks(text, [inputs])


def breaks_in_calls(text: str, calls: int) -> bool:
    """Whether the graph breaks in any of so many calls of ``f`` with a tensor of three numbers."""
    torch = pytest.importorskip("torch")
    return _breaks(text, [(torch.tensor([1.0, 2.0, 3.0]),)] * calls)


def _breaks(text: str, calls: list[tuple[Any, ...]]) -> bool:
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    function = loaded(text)
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(function, backend="eager", dynamic=False)
    for inputs in calls:
        compiled(*inputs)
    return bool(counters["graph_break"] or counters["unimplemented"])
