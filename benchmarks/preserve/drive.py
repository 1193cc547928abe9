"""Use a program in many ways and keep everything that its user can tell (child process only)."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import linecache
import os
import pickle
import random
import re
import sys
import tempfile
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch._dynamo

from benchmarks.preserve.devices import CPU, Devices
from benchmarks.preserve.inputs import VARIANTS, argument
from benchmarks.preserve.output import written
from benchmarks.preserve.seen import frozen, module_state

# What torch says of the way in which a number was read, and of names that it wants to be rid of:
# fixes are there for these. Numpy warns of numbers where Python does not, and scripting of itself,
# once in each process.
_ABOUT_READS = re.compile(
    r"(?m)^.*Triggered internally.*\n?|^Consider using tensor.detach.*\n?|^.*torch.jit.script.*\n?"
    r"|^.*Converting a tensor with requires_grad=True to a scalar.*\n?"
    r"|^\w+Warning: .*(?:deprecated|instead|encountered in).*\n?"
)
CALLS = 2
NAME = "program"
SCRIPT = "torch.jit.script"
COMPILED = "compiled branch, "
LOST = ("device", "lost")
"""What a use comes to after which the device answers no more: a check in a kernel failed."""
Events = list[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is passed: a kind of value, or whatever a caller may try where none is declared."""

    kind: str
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Use:
    """One way to use a program."""

    name: str
    variant: str = "float32"
    around: Callable[[], Any] = contextlib.nullcontext
    treat: Callable[[Any], Any] | None = None
    instead: Callable[[Any], Any] | None = None
    between: Callable[[Any, Sequence[Any]], None] | None = None
    overwrite: bool = True
    away: tuple[int, ...] = ()
    """The places of the arguments that are on the second device."""


@dataclass(slots=True)
class _Session:
    use: Use
    parameters: Sequence[Parameter]
    devices: Devices
    text: io.StringIO
    events: Events = field(default_factory=list)
    read: int = 0

    def note(self, what: str, value: Any) -> None:
        written = self.text.getvalue()
        fresh, self.read = written[self.read :], len(written)
        if fresh := _ABOUT_READS.sub("", fresh):
            self.events.append((f"{what}: output", fresh))
        self.events.append((what, value))

    def play(self, source: str) -> None:
        """Run the program from its beginning, and use what it defines."""
        _seed(self.devices)
        try:
            target = loaded(source)
            if isinstance(target, type):
                target = target()
            if isinstance(target, torch.nn.Module):
                target = target.to(self.devices.first)
            if self.use.treat is not None:
                target = self.use.treat(target)
        except Exception as error:  # noqa: BLE001 (what a program raises is what it does)
            self.note("made", frozen(error))
            return
        self.note("signature", _signature(target))
        for call in range(CALLS):
            self._call(target, call)
        if isinstance(target, torch.nn.Module):
            self.note("state_dict", _attempt(lambda: dict(target.state_dict())))
            self.note("module", module_state(target))
        self.note("globals", _globals())
        drawn = [one.get_state().sum().item() for one in self.devices.generators()]
        self.note("random state", (*drawn, random.random(), np.random.rand()))

    def _call(self, target: Any, call: int) -> None:
        leaves = [self._argument(one, call, place) for place, one in enumerate(self.parameters)]
        if self.use.variant == "same":
            leaves = [leaves[0] if isinstance(one, torch.Tensor) else one for one in leaves]
        given = [_passed(one) for one in leaves]
        try:
            with self.use.around():
                result = target(*given)
                if isinstance(result, types.GeneratorType):
                    result = [(one, frozen(one)) for one in result]
        except Exception as error:  # noqa: BLE001
            self.note(f"call {call}", frozen(error))
            self.note(f"call {call}: arguments", frozen(given))
            return
        self.note(f"call {call}", frozen(result))
        self.note(f"call {call}: arguments", frozen(given))
        if self.use.between is not None:
            self.use.between(target, given)
        self._backward(call, target, result, leaves)
        if self.use.overwrite:
            self._overwrite(call, target, given, result)

    def _argument(self, one: Parameter, call: int, place: int) -> Any:
        with self.devices.of(away=place in self.use.away):
            value = argument(one.kind, self.use.variant, call, place)
        if self.use.instead is not None and not one.declared:
            return self.use.instead(value)
        return value

    def _backward(self, call: int, target: Any, result: Any, leaves: Sequence[Any]) -> None:
        if self.use.name == SCRIPT and call:
            # A second walk through what a module kept is up to what TorchScript saved of numbers.
            return
        parts = [one for one in _parts(result) if one.requires_grad]
        held = [one for one in leaves if isinstance(one, torch.Tensor) and one.requires_grad]
        if isinstance(target, torch.nn.Module):
            held += list(target.parameters())
        for one in held:
            one.grad = None
        if not parts:
            return
        try:
            sum((p.abs() if p.is_complex() else p.double()).sum().cpu() for p in parts).backward()
        except Exception as error:  # noqa: BLE001
            # Torch counts writes in this message, and names what it had saved.
            told = str(error) if "inplace operation" not in str(error) else ""
            self.note(f"call {call}: backward", ("raised", type(error).__name__, told))
            return
        self.note(f"call {call}: gradients", frozen([one.grad for one in held]))

    def _overwrite(self, call: int, target: Any, given: Any, result: Any) -> None:
        """Write into what was given, then into what came back: what shares memory shows it."""
        _scribble(_parts(given))
        self.note(f"call {call}: result after the arguments were written", frozen(result))
        _scribble(_parts(result))
        self.note(f"call {call}: arguments after the result was written", frozen(given))


def _parts(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [part for one in value for part in _parts(one)]
    return []


def _scribble(tensors: Sequence[torch.Tensor]) -> None:
    with torch.no_grad():
        for one in tensors:
            with contextlib.suppress(Exception):
                one.logical_not_() if one.dtype == torch.bool else one.add_(1)


def _passed(one: Any) -> Any:
    """A leaf that needs a gradient cannot be written: what is passed is made from it."""
    return one * 1 if isinstance(one, torch.Tensor) and one.requires_grad else one


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return frozen(call())
    except Exception as error:  # noqa: BLE001
        return frozen(error)


@functools.cache
def _compiled(source: str) -> types.CodeType:
    return compile(source, f"{NAME}.py", "exec")


def loaded(source: str) -> Any:
    module = sys.modules[NAME] = types.ModuleType(NAME)
    module.__file__ = f"{NAME}.py"
    linecache.cache[module.__file__] = (len(source), None, source.splitlines(True), module.__file__)
    exec(_compiled(source), vars(module))
    return vars(module)["f"]


def _signature(target: Any) -> list[str]:
    functions = [target.forward if isinstance(target, torch.nn.Module) else target]
    if isinstance(target, torch.nn.Module):
        functions += [v for k, v in sorted(vars(type(target)).items()) if inspect.isfunction(v)]
    with contextlib.suppress(TypeError, ValueError):
        return [str(inspect.signature(one)) for one in functions]
    return []


def _globals() -> Any:
    module = sys.modules[NAME]
    kept = {k: v for k, v in vars(module).items() if not k.startswith("__")}
    return frozen(
        {
            k: v
            for k, v in kept.items()
            if not callable(v) and k != "f" and not isinstance(v, types.ModuleType)
        }
    )


def _seed(devices: Devices) -> None:
    for one in devices.generators():
        one.manual_seed(0)  # `torch.manual_seed` formats the stack for other devices
    np.random.seed(0)
    random.seed(0)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


@contextlib.contextmanager
def _default_dtype() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def _without_heads(module: Any) -> Any:
    for name, _ in list(module.named_children()):
        setattr(module, name, torch.nn.Identity())
    return module


def _with_pre_hook(module: Any) -> Any:
    module.register_forward_pre_hook(
        lambda _, args: tuple(
            a + 1 if isinstance(a, torch.Tensor) and a.dtype != torch.bool else a for a in args
        )
    )
    return module


def _with_hooks(module: Any) -> Any:
    for part in module.modules():
        part.register_forward_hook(lambda _, args, result: print("hook", frozen(args)))
    return module


def _subclassed(module: Any) -> Any:
    """Each method of the class overridden by one that only calls it, with what it always took."""
    kind = type(module)
    names = [k for k, v in vars(kind).items() if inspect.isfunction(v) and k != "__init__"]

    def made(name: str) -> Any:
        method, plain = getattr(kind, name), inspect.signature(getattr(kind, name))

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            plain.bind(self, *args, **kwargs)
            return method(self, *args, **kwargs)

        return call

    return type("Heir", (kind,), {name: made(name) for name in names})()


def _written_between(target: Any, _given: Sequence[Any]) -> None:
    if isinstance(target, torch.nn.Module):
        _scribble([*target.buffers()])


def _stepped(target: Any, _given: Sequence[Any]) -> None:
    if isinstance(target, torch.nn.Module):
        _scribble([*target.parameters()])


def _given_written(_target: Any, given: Sequence[Any]) -> None:
    _scribble(_parts(given))


def _pickled(module: Any) -> Any:
    return pickle.loads(pickle.dumps(module))


@contextlib.contextmanager
def _as_if_compiling() -> Iterator[None]:
    """Take the branches that only compiled code takes."""
    with mock.patch.object(torch.compiler, "is_compiling", lambda: True):
        yield


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Explaining compiles, which takes seconds: here it only calls, as it may be called."""

    def explain(function: Any, *args: Any, **kwargs: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return types.SimpleNamespace(graph_count=1, result=function(*args, **kwargs))

        return call(*args, **kwargs) if args or kwargs else call

    with mock.patch.object(torch._dynamo, "explain", explain):
        yield


def _scripted(target: Any) -> Any:
    """Scripting takes the names of a decorated function for those of its decorator's file."""
    function = target.forward if isinstance(target, torch.nn.Module) else target
    if hasattr(function, "__wrapped__"):
        raise TypeError("decorated")
    return torch.jit.script(target)


_MODULES = (
    Use("half()", "float16", treat=lambda m: m.half()),
    Use("double()", "float64", treat=lambda m: m.double()),
    Use("deepcopy", treat=copy.deepcopy),
    Use("pickle", treat=_pickled),
    Use("eval()", treat=lambda m: m.eval()),
    Use("layers replaced by Identity", treat=_without_heads),
    Use("forward pre-hook", treat=_with_pre_hook),
    Use("forward hooks", treat=_with_hooks),
    Use("subclass", treat=_subclassed),
    Use("buffers written before backward", between=_written_between),
    Use("optimizer step before backward", between=_stepped),
)
_ANYTHING = (
    Use("arrays", "plain", instead=lambda v: v.cpu().numpy() if isinstance(v, torch.Tensor) else v),
    Use("lists", "plain", instead=lambda v: v.tolist() if isinstance(v, torch.Tensor) else v),
    Use("numbers", "plain", instead=lambda _: 2.5),
    Use("None", "plain", instead=lambda _: None),
)
_EVERYTHING = (
    *(Use(variant, variant) for variant in VARIANTS),
    Use("default dtype float64", "plain", around=_default_dtype),
    Use("no_grad", around=torch.no_grad),
    Use("inference_mode", "plain", around=torch.inference_mode),
    Use("arguments written before backward", between=_given_written),
)
_SCRIPTED = Use(SCRIPT, "plain", treat=_scripted, overwrite=False)
_COMPILED = tuple(
    Use(COMPILED + variant, variant, around=_as_if_compiling, overwrite=False)
    for variant in VARIANTS
)


def uses(
    parameters: Sequence[Parameter], *, module: bool, devices: Devices, guarded: bool
) -> list[Use]:
    """The ways to use a program; ``guarded``: it asks whether it is being compiled."""
    loose = any(not one.declared for one in parameters)
    return [
        *_EVERYTHING,
        *(Use(f"autocast {one}", around=devices.autocast(one)) for one in devices.narrow),
        *(_MODULES if module else ()),
        *(_ANYTHING if loose else ()),
        *(_COMPILED if guarded else ()),
        *(_apart(len(parameters), module=module, devices=devices) if devices.second else ()),
        *(() if devices.is_gpu else (_SCRIPTED,)),  # there it compiles, at the second call
    ]


def _apart(count: int, *, module: bool, devices: Devices) -> Iterator[Use]:
    """The ways that take two devices."""
    ways = {"the first argument": (0,), "the second argument": (1,), "all arguments": (0, 1, 2)}
    for name, away in ways.items():
        if away[0] < count:
            for variant in ("float32", "float16", "float64", "plain"):
                yield Use(f"{name} on another device, {variant}", variant, away=away)
    for moved in ("scale", "buf", "w", "head") if module else ():
        treat = functools.partial(_moved, name=moved, device=devices.second)
        for variant in ("float32", "float16"):
            yield Use(f"self.{moved} on another device, {variant}", variant, treat=treat)


def _moved(module: Any, name: str, device: str) -> Any:
    """A module of which one tensor or layer is on a device of its own."""
    held = getattr(module, name, None)
    if isinstance(held, torch.nn.Module):
        held.to(device)
    elif isinstance(held, torch.nn.Parameter):
        held.data = held.data.to(device)
    elif held is not None:
        setattr(module, name, held.to(device))
    return module


def observed(
    source: str,
    parameters: Sequence[Parameter],
    *,
    module: bool,
    devices: Devices = CPU,
    guarded: bool = False,
    known: Collection[str] = (),
) -> dict[str, Events]:
    """What every use of a program shows that is not ``known`` yet, in a folder of its own.

    It ends with the use that makes the device answer no more: another process has to go on.
    """
    seen: dict[str, Events] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _explained():
        os.chdir(folder)
        try:
            for use in uses(parameters, module=module, devices=devices, guarded=guarded):
                if use.name in known:
                    continue
                seen[use.name] = _events(use, source, parameters, devices)
                if seen[use.name] == [LOST]:
                    break
        finally:
            os.chdir(before)
    return seen


def _events(use: Use, source: str, parameters: Sequence[Parameter], devices: Devices) -> Events:
    with written() as text:
        session = _Session(use, parameters, devices, text)
        try:
            session.play(source)
        except RuntimeError:
            if devices.answer():
                raise
        session.note("end", "")
    if not devices.answer():
        return [LOST]
    files = sorted(one for one in Path.cwd().iterdir() if one.is_file())
    return [*session.events, *((f"file {one.name}", one.read_text()) for one in files)]
