"""What findings depend on besides the files of a run: this program, the rule packs, the options."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tclint import __version__
from tclint.config import Config
from tclint.files import version_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def identity() -> dict[str, Any]:
    """Tclint and the installed rule packs as data.

    Code counts by the versions of its files, so that whoever works on a rule never sees the old
    findings again.
    """
    from tclint.lint.registry import rule_packs

    packs = rule_packs()
    places = _places_of(packs)
    return {"packs": [[pack.name, pack.value] for pack in packs], "places": places} | _now(places)


def code_files() -> list[str]:
    """The files of tclint and of the installed rule packs, and the folders that they are in."""
    from tclint.lint.registry import rule_packs

    files = [file for place in (HERE, *_places_of(rule_packs())) for file, _ in _code(place)]
    return [*files, *dict.fromkeys(map(os.path.dirname, files))]


def is_present(written: dict[str, Any]) -> bool:
    """Whether an earlier run's :func:`identity` would be the same today.

    The packs are not looked for again unless something was installed since: that takes longer than
    all else in a run that only remembers.

    Raises:
        KeyError: it is no identity.
    """
    return all(written[name] == value for name, value in _now(written["places"]).items())


def _places_of(packs: Iterable[EntryPoint]) -> list[str]:
    """Where the code of rule packs is."""
    return sorted({place for pack in packs for place in _places(pack.module.partition(".")[0])})


def settings(config: Config) -> dict[str, Any]:
    """A configuration as data."""
    return {name: _plain(value) for name, value in asdict(config).items()}


def digest_of(data: bytes) -> str:
    """A short text that stands for bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def _now(places: Iterable[str]) -> dict[str, Any]:
    code = [entry for place in (HERE, *places) for entry in _code(place)]
    # The first entry is the script's folder, or the current one.
    installed = [[folder, version_of(folder)] for folder in sys.path[1:]]
    return {
        "version": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "code": digest_of(repr(code).encode("utf-8", "surrogatepass")),
        "installed": digest_of(repr(installed).encode("utf-8", "surrogatepass")),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _places(package: str) -> Iterator[str]:
    """Where the code of a top-level package is, found without importing it."""
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations:
        yield from spec.submodule_search_locations
    elif spec.origin:
        yield spec.origin


def _code(place: str) -> Iterator[tuple[str, Any]]:
    """The files of a package, or a module, with their versions."""
    if place.endswith(".py"):
        yield place, version_of(place)
        return
    pending = [place]
    while pending:
        try:
            with os.scandir(pending.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith((".py", ".json", ".md")):
                yield entry.path, version_of(entry.path)
            elif entry.name != "__pycache__" and entry.is_dir():
                pending.append(entry.path)
