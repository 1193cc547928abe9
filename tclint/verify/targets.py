"""Targets: how one is written, and how its factory is called."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tclint.records import record
from tclint.verify import overlay
from tclint.verify.contract import Loaded, read_made
from tclint.verify.errors import TargetError


@record(frozen=True)
class Target:
    """``module:factory`` or ``file.py:factory``; ``text`` is what the user wrote."""

    text: str
    place: str
    factory: str

    @property
    def is_file(self) -> bool:
        """True for the ``file.py:factory`` form."""
        return self.place.endswith(".py")


def parse_target(text: str) -> Target:
    """Read a target as it stands on the command line."""
    place, colon, factory = text.rpartition(":")
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
    return Target(text, place, factory)


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
    factory: Any = module
    for name in target.factory.split("."):
        try:
            factory = getattr(factory, name)
        except AttributeError:
            raise TargetError(f"{target.place} has no {target.factory!r}") from None
    missing = _required(factory)
    if missing:
        call = f"{factory.__name__}({', '.join(missing)})"
        raise TargetError(
            f"{call} cannot be called without arguments; write a function without any,"
            f" `def make(): return {call}, (inputs,), {{}}`, and name that"
        )
    return read_made(factory(), target.text, inputs)


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
        raise TargetError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _shadowing(target: Target, root: Path) -> bool:
    top = target.place.split(".")[0]
    places = (base / top for base in (root, root / "src"))
    return any(place.is_dir() or place.with_suffix(".py").is_file() for place in places)
