"""Which targets there are: factories, files full of them, and registries."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from tclint.files import read_bytes
from tclint.fleet.config import Fleet, FleetError, Source
from tclint.printable import visible
from tclint.records import record
from tclint.source.errors import reason
from tclint.verify.answers import Factories
from tclint.verify.arms import Options, Side, request_for
from tclint.verify.errors import TargetError
from tclint.verify.process import ChildError
from tclint.verify.targets import parse_target

_LIST_SECONDS = 300.0


@record(frozen=True)
class Target:
    """What to measure: ``text`` as verify writes it.

    ``fault`` says why its targets cannot be told, where it stands for a source of some.
    """

    name: str
    text: str
    source: Source
    fault: str = ""


def find_targets(fleet: Fleet, python: str = "") -> tuple[Target, ...]:
    """All targets, in the order of the file; ``python`` lists registries.

    Raises:
        FleetError: a source is misspelt, or has no target, or two targets have one name.
    """
    found: dict[str, Target] = {}
    for number, source in enumerate(fleet.sources, start=1):
        where = f"[[target]] {number}"
        try:
            here = tuple(_chosen(_of(source, fleet, python), source))
        except (TargetError, FleetError) as error:
            raise FleetError(f"{where}: {error}") from error
        if not here:
            raise FleetError(f"{where}: there is no such target")
        for target in (replace(one, name=visible(one.name)) for one in here):
            if target.name in found:
                raise FleetError(f"{where}: two targets are called {target.name!r}; give a name")
            found[target.name] = target
    return tuple(found.values())


def _of(source: Source, fleet: Fleet, python: str) -> Iterator[Target]:
    if source.factory:
        parse_target(source.factory)
        yield Target(source.name or source.factory, source.factory, source)
    elif source.factories:
        yield from _matching(source, fleet.root)
    else:
        yield from _registered(source, fleet, python)


def _chosen(targets: Iterator[Target], source: Source) -> Iterator[Target]:
    for target in targets:
        names = (target.name, target.name.rpartition("/")[2])
        wanted = not source.only or _matches(names, source.only)
        if wanted and not _matches(names, source.without):
            yield target


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _matching(source: Source, root: Path) -> Iterator[Target]:
    """The functions without parameters whose file and name match; no file is imported."""
    files, colon, pattern = source.factories.rpartition(":")
    if not colon or not files.endswith(".py"):
        raise FleetError(f"{source.factories!r} is not a pattern: write models/*.py:make_*")
    try:
        paths = sorted(root.glob(files))
    except (ValueError, NotImplementedError) as error:
        raise FleetError(f"{source.factories!r} is not a pattern: {error}") from error
    for path in paths:
        place = path.relative_to(root).as_posix()
        try:
            found = [name for name in _factories_in(path) if fnmatchcase(name, pattern)]
        except _UnreadableError as error:
            yield Target(_shown(f"{place}:{pattern}", source), place, source, fault=str(error))
            continue
        for name in found:
            yield Target(_shown(f"{place}:{name}", source), f"{place}:{name}", source)


def _shown(name: str, source: Source) -> str:
    return f"{source.name}/{name}" if source.name else name


class _UnreadableError(Exception):
    """A file of which nobody can tell what is in it."""


def _factories_in(path: Path) -> Iterator[str]:
    """Functions of a module that can be called without arguments."""
    try:
        tree = ast.parse(read_bytes(path))
    except OSError as error:
        raise _UnreadableError(f"cannot be read: {reason(error)}") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _UnreadableError(f"cannot be parsed: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            wanted = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
            if not wanted and all(node.args.kw_defaults):
                yield node.name


def _registered(source: Source, fleet: Fleet, python: str) -> Iterator[Target]:
    """The entries of a mapping, which a child process imports."""
    parse_target(source.registry)
    options = Options(time_limit=_LIST_SECONDS, device="cpu", python=python)
    side = Side("registry", source.registry, fleet.root)
    with TemporaryDirectory(prefix="tclint-fleet-") as folder:
        desk = Path(folder)
        request = request_for(side, replace(options), desk)
        try:
            with options.start(desk / "cache") as child:
                names = child.ask("list_factories", Factories, **request).names
        except ChildError as error:
            name = _shown(source.registry, source)
            yield Target(name, source.registry, source, fault=str(error))
            return
    for name in names:
        yield Target(_shown(name, source), f"{source.registry}[{name}]", source)
