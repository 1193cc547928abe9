"""Targets: how one is written, and how its factory is called."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tclint.records import record
from tclint.verify import overlay
from tclint.verify.contract import Loaded, read_made
from tclint.verify.errors import TargetError

_ITEM = re.compile(r"(?P<mapping>[^\[\]]+)\[(?P<item>[^\[\]]+)\]")


@record(frozen=True)
class Target:
    """``module:factory`` or ``file.py:factory``; ``text`` is what the user wrote.

    ``item`` is the factory's name in a mapping: ``module:MODELS[item]``.
    """

    text: str
    place: str
    factory: str
    item: str = ""

    @property
    def is_file(self) -> bool:
        """True for the ``file.py:factory`` form."""
        return self.place.endswith(".py")


def parse_target(text: str) -> Target:
    """Read a target as it stands on the command line."""
    mapped = _ITEM.fullmatch(text)
    item = mapped["item"] if mapped else ""
    place, colon, factory = (mapped["mapping"] if mapped else text).rpartition(":")
    if not colon or not place or not factory:
        raise TargetError(
            f"{text!r} is not a target: write pkg.mod:factory or path/file.py:factory;"
            " `tclint run -- python train.py` measures a script"
        )
    names = factory.split(".")
    if not place.endswith(".py"):
        names += place.split(".")
    if not all(name.isidentifier() for name in names):
        raise TargetError(f"{text!r} is not a target: {place!r} with {factory!r} names no factory")
    return Target(text, place, factory, item)


def import_target(target: Target, root: Path) -> ModuleType:
    """Import the target's module with ``root`` as the tree that its names are looked up in."""
    for entry in (root / "src", root):
        if entry.is_dir():
            sys.path.insert(0, str(entry))
    importlib.invalidate_caches()
    if not target.is_file:
        module = importlib.import_module(target.place)
    else:
        module = _import_file(root / target.place)
    origin = Path(module.__file__ or "").resolve()
    if not target.is_file and root.resolve() not in origin.parents and _shadowing(target, root):
        raise TargetError(f"{target.place} was imported from {origin}, not from {root}")
    return module


def call_factory(target: Target, module: ModuleType, inputs: Sequence[str] = ()) -> Loaded:
    """Call the factory and hold it to its contract; ``inputs`` are configured ones."""
    factory = _named(target, module)
    if target.item:
        try:
            factory = factory[target.item]
        except (KeyError, TypeError):
            whole = f"{target.place}:{target.factory}"
            raise TargetError(f"{whole} has no factory {target.item!r}") from None
    missing = _required(factory)
    if missing:
        name = getattr(factory, "__name__", target.item or target.factory)
        call = f"{name}({', '.join(missing)})"
        raise TargetError(
            f"{call} cannot be called without arguments; write a function without any,"
            f" `def make(): return {call}, (inputs,), {{}}`, and name that"
        )
    return read_made(factory(), target.text, inputs)


def factory_names(target: Target, root: Path) -> tuple[str, ...]:
    """The names in a mapping of factories; imports its module."""
    found = _named(target, import_target(target, root))
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        kind = type(found).__name__
        raise TargetError(f"{target.text} must be a mapping of names to factories, not {kind}")
    return tuple(found)


def _named(target: Target, module: ModuleType) -> Any:
    found: Any = module
    for name in target.factory.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise TargetError(f"{target.place} has no {target.factory!r}") from None
    return found


def _required(factory: Any) -> list[str]:
    """The parameters that a factory cannot do without; none where nobody can tell."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variadic]


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(f"{path} does not exist")
    package = path.parent
    names = [path.stem]
    while (package / "__init__.py").is_file():
        names.insert(0, package.name)
        package = package.parent
    sys.path.insert(0, str(package))
    if len(names) > 1:
        return importlib.import_module(".".join(names))
    loader = overlay.loader_for(path.stem, path)
    spec = importlib.util.spec_from_file_location(path.stem, path, loader=loader)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _shadowing(target: Target, root: Path) -> bool:
    top = target.place.split(".")[0]
    places = (base / top for base in (root, root / "src"))
    return any(place.is_dir() or place.with_suffix(".py").is_file() for place in places)
