"""Why a target that was to be compiled made no graph (child process only)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn

from tclint.verify.oracles import Trace
from tclint.verify.snapshot import Raised, Snapshot, outcome
from tclint.verify.subject import Subject

_TORCH = str(Path(torch.__file__).parent)
_WRAPPERS = (nn.parallel.DistributedDataParallel, nn.DataParallel)


def why_nothing(subject: Subject, trace: Trace, first: Snapshot, models: Sequence[Any]) -> str:
    """The first reason that holds; ``models`` are what the target gave ``torch.compile`` itself."""
    bare = getattr(subject.loaded.function, "_orig_mod", subject.loaded.function)
    given = [*models, bare]
    return next(_reasons(subject, trace, first, given), "Dynamo reached none of its functions")


def methods_called(call: Callable[[], object], models: Iterable[Any]) -> tuple[str, ...]:
    """The methods of compiled modules that an eager call comes through instead of ``forward``."""
    modules = [model for model in models if isinstance(model, nn.Module)]
    with _seen(modules) as called:
        outcome(call)
    return () if "forward" in called else tuple(called)


def _reasons(
    subject: Subject, trace: Trace, first: Snapshot, given: Sequence[Any]
) -> Iterator[str]:
    if torch._dynamo.config.disable:
        yield "torch._dynamo.config.disable is set"
    if torch._dynamo.eval_frame._stance.stance == "force_eager":
        yield 'torch.compiler.set_stance("force_eager") is in force'
    if isinstance(first, Raised):
        headline = next(iter(first.message.splitlines()), "")
        yield f"the call raises {first.kind.rpartition('.')[2]}: {headline}"
    for one in given:
        yield from _by_nature(one)
    for frame in trace.eager_frames:
        yield f"Dynamo gave up on {frame.function}: {frame.reason}"
    for one in trace.breaks:
        where = f"{Path(one.filename).name}:{one.row}"
        yield f"what {one.gb_id or 'a break'} at {where} leaves has no tensor operation"
    if trace.compiled_frames:
        yield "Dynamo found no tensor operation in it"
    called = methods_called(subject.call_eager, given)
    if called:
        verb = "is" if len(called) == 1 else "are"
        yield (
            f"only {_listed(called)} of the compiled module {verb} called, and "
            "torch.compile(module) compiles its forward: compile the method"
        )


def _by_nature(given: Any) -> Iterator[str]:
    if isinstance(given, _WRAPPERS) and _of_torch(type(given.module)):
        inner, outer = type(given.module).__name__, type(given).__name__
        yield (
            f"{outer} runs eagerly around its module, and Dynamo does not start in torch's own "
            f"{inner}: compile the {inner} before {outer} wraps it"
        )
    function = given.forward if isinstance(given, nn.Module) else given
    name = getattr(function, "__qualname__", type(function).__name__)
    if isinstance(given, nn.Module) and getattr(function, "_torchdynamo_disable", False):
        yield f"torch.compiler.disable keeps Dynamo out of {name}"
    if inspect.isgeneratorfunction(function):
        yield f"{name} is a generator, which Dynamo leaves to the interpreter"


def _of_torch(kind: type[nn.Module]) -> bool:
    code = getattr(kind.forward, "__code__", None)
    return code is None or code.co_filename.startswith(_TORCH)


@contextmanager
def _seen(modules: Sequence[nn.Module]) -> Iterator[dict[str, None]]:
    called: dict[str, None] = {}
    codes = {code: name for module in modules for code, name in _own_methods(type(module))}
    known = {id(module) for module in modules}

    def enter(frame: FrameType, event: str, argument: Any) -> None:
        del argument
        name = codes.get(frame.f_code) if event == "call" else None
        if name and id(frame.f_locals.get(frame.f_code.co_varnames[0])) in known:
            called[name] = None

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        yield called
    finally:
        sys.setprofile(before)


def _own_methods(kind: type[nn.Module]) -> Iterator[tuple[CodeType, str]]:
    for part in kind.__mro__:
        for name, method in vars(part).items():
            code = getattr(inspect.unwrap(method) if callable(method) else None, "__code__", None)
            if code is not None and code.co_argcount and not code.co_filename.startswith(_TORCH):
                yield code, name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:3])
