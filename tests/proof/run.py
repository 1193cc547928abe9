"""Run a rule's example, eagerly or compiled, and keep everything it did."""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import linecache
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from benchmarks.preserve.output import written
from tclint.lint.rule import PRELUDE

from .breaks import Compilation, compile_with, watch
from .cases import compiles_itself
from .launches import LaunchCounter
from .operators import OperatorCounter
from .syncs import SyncCounter

_numbers = itertools.count()
# The first optimizer of a class patches the class, which breaks the graph for a reason of its own.
torch.optim.SGD([torch.nn.Parameter(torch.ones(()))], lr=0.1)


@dataclass(slots=True)
class Outcome:
    """Results and exceptions of the calls in order, text written, and a module's state after."""

    results: list[Any] = field(default_factory=list)
    raised: list[Exception] = field(default_factory=list)
    text: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    compilation: Compilation = field(default_factory=Compilation)
    syncs: list[str] = field(default_factory=list)


def run_eager(code: str, inputs: str) -> Outcome:
    """Run as if nobody had called ``torch.compile``."""
    with watch() as seen, torch.compiler.set_stance("force_eager"):
        return _run(code, inputs, seen, lambda f: f)


def run_compiled(code: str, inputs: str) -> Outcome:
    """Compile ``f``, unless the example did that itself, and run it."""
    with watch() as seen:
        if compiles_itself(code):
            return _run(code, inputs, seen, lambda f: f)
        wrap = functools.partial(torch.compile, backend=seen.backend)
        return _run(code, inputs, seen, wrap)


def count_syncs(code: str, inputs: str) -> Outcome:
    """Run eagerly and count what would wait for a GPU."""
    with watch() as seen, torch.compiler.set_stance("force_eager"):
        counter = SyncCounter()
        outcome = _run(code, inputs, seen, lambda f: _counted(f, counter))
    outcome.syncs = counter.seen
    return outcome


def count_launches(code: str, inputs: str) -> int:
    """Run eagerly and count the operators that compute or write something."""
    with watch() as seen, torch.compiler.set_stance("force_eager"):
        counter = LaunchCounter()
        _run(code, inputs, seen, lambda f: _counted(f, counter))
    return len(counter.seen)


def _run(code: str, inputs: str, seen: Compilation, wrap: Callable[[Any], Any]) -> Outcome:
    outcome = Outcome(compilation=seen)
    with (
        written("%(levelname)s %(message)s") as text,
        _module(code) as module,
        compile_with(seen.backend),
    ):
        try:
            target = _execute(code, module)
            function = wrap(target)
        except Exception as error:  # noqa: BLE001 (what an example raises is its result)
            outcome.raised.append(error)
            return outcome
        for arguments in _arguments(inputs, module):
            try:
                outcome.results.append(copy.deepcopy(_plain(function(*arguments))))
            except Exception as error:  # noqa: BLE001
                outcome.raised.append(error)
                outcome.results.append(error)
    outcome.text = text.getvalue()
    outcome.state = _state(target)
    return outcome


def _counted(function: Any, counter: OperatorCounter) -> Any:
    def call(*arguments: Any) -> Any:
        with counter:
            return function(*arguments)

    return call


@contextlib.contextmanager
def _module(code: str) -> Iterator[types.ModuleType]:
    """A module that Dynamo can import by name and whose lines it can show."""
    name = f"proof_example_{next(_numbers)}"
    module = types.ModuleType(name)
    module.__file__ = f"{name}.py"
    source = PRELUDE + code
    lines = source.splitlines(keepends=True)
    linecache.cache[module.__file__] = (len(source), None, lines, module.__file__)
    sys.modules[name] = module
    try:
        yield module
    finally:
        del sys.modules[name]


def _execute(code: str, module: types.ModuleType) -> Any:
    _seed()
    exec(compile(PRELUDE + code, str(module.__file__), "exec"), module.__dict__)
    function = module.__dict__["f"]
    return function() if isinstance(function, type) else function


def _arguments(inputs: str, module: types.ModuleType) -> list[tuple[Any, ...]]:
    _seed()
    value = eval(inputs, dict(module.__dict__))
    calls = value if isinstance(value, list) else [value]
    _seed()
    return calls


def _seed() -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


def _plain(result: Any) -> Any:
    """Cut results from their autograd history, which cannot be copied."""
    if isinstance(result, torch.Tensor):
        return result.detach().clone().requires_grad_(result.requires_grad)
    if type(result) in (list, tuple):
        return type(result)(map(_plain, result))
    if type(result) is dict:
        return {key: _plain(value) for key, value in result.items()}
    return result


def _state(target: Any) -> dict[str, Any]:
    """Attributes, buffers and parameters of a module, those of its submodules included."""
    if not isinstance(target, torch.nn.Module):
        return {}
    state: dict[str, Any] = {}
    for prefix, module in target.named_modules():
        own = {k: v for k, v in vars(module).items() if not k.startswith("_")}
        state.update({f"{prefix}.{k}": _plain(v) for k, v in own.items()})
        state.update({f"{prefix}.{k}": _plain(v) for k, v in module._buffers.items()})
        state.update({f"{prefix}.{k}": _plain(v) for k, v in module._parameters.items()})
    return state
