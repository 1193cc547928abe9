"""Installed packages that the project calls: found in an environment and read, never imported.

Reading is bounded. Only what the project's own files import is followed, each package into its own
modules; the files of a run have a budget, and a file that does not fit is as good as not there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.files import read_bytes
from tclint.semantics.bounds import Bound
from tclint.semantics.collect import collect_module
from tclint.semantics.symbols import ModuleInfo
from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.parse import parse

# Tables say what torch and numpy do. Dynamo has a treatment of its own for the others, or skips
# their frames: what their source says is not what happens in a region.
NOT_READ: Final = frozenset(
    {
        "torch", "torchgen", "functorch", "triton", "numpy", "scipy", "sympy", "einops", "jax",
        "tensorflow", "onnx", "onnxruntime", "pandas", "sklearn", "networkx", "tqdm", "xarray",
        "tabulate", "hypothesis", "rich", "wandb", "setuptools", "pip", "tclint", "tclint_rules",
    }
)  # fmt: skip
# One file of half a megabyte costs as much as a project; nothing that a region calls is so large.
FILE_BYTES: Final = Bound(200_000, "bytes in a file of an installed package", in_regions=True)
BYTES: Final = Bound(2_000_000, "bytes of installed packages", in_regions=True)
FILES: Final = Bound(100, "files of installed packages", in_regions=True)


def installed_packages(config: Config) -> Installed | None:
    """The packages that a run may read; None where it is configured to read none.

    Raises:
        ConfigError: the configured environment holds no packages.
    """
    return Installed(config.package_folders()) if config.third_party else None


class Installed:
    """The modules of installed packages, read when something asks for them."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Look for packages in ``folders``, the first one first."""
        self._folders = tuple(folders)
        self._bases: dict[str, str | None] = {}
        self._modules: dict[str, ModuleInfo | None] = {}
        self._files = FILES.most
        self._bytes = BYTES.most

    def another(self) -> Installed:
        """The same packages, of which nothing has been read yet."""
        return Installed(self._folders)

    @property
    def read(self) -> tuple[Path, ...]:
        """The files that somebody asked for."""
        return tuple(module.file.path for module in self._modules.values() if module)

    def module(
        self, name: str, importer: ModuleInfo | None, holding: str = ""
    ) -> ModuleInfo | None:
        """The module of that dotted name, as far as ``importer`` may lead there.

        One that cannot bind the name ``holding``, by its text, is not parsed.
        """
        package = name.partition(".")[0]
        theirs = importer.name.partition(".")[0] if importer and importer.installed else package
        if theirs != package:
            return None
        if package not in self._bases:
            self._bases[package] = self._base(package)
        base = self._bases[package]
        if base is None:
            return None
        if name not in self._modules:
            path = _file(base, name)
            if path is not None and holding and not _may_bind(path, holding):
                return None
            self._modules[name] = self._read(name, path) if path is not None else None
        return self._modules[name]

    def _base(self, package: str) -> str | None:
        """The folder that holds a package whose source can say something about tensors."""
        if package in NOT_READ or package in sys.stdlib_module_names:
            return None
        for folder in map(str, self._folders):
            if _file(folder, package) is not None:
                return folder if _works_with_torch(folder, package) else None
        return None

    def _read(self, name: str, path: str) -> ModuleInfo | None:
        status = os.stat(path)  # noqa: PTH116 (many files, few of which are wanted)
        left = ((FILES, self._files, 1), (BYTES, self._bytes, status.st_size))
        for bound, room, size in (*left, (FILE_BYTES, FILE_BYTES.most, status.st_size)):
            if size > room:
                bound.cut()
                return None
        self._files -= 1
        self._bytes -= status.st_size
        return _module(name, path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2 * FILES.most)
def _module(name: str, path: str, _changed: int, _size: int) -> ModuleInfo | None:
    """Parse a file once for as long as it stays as it is: an editor asks again and again."""
    try:
        file = read_source(Path(path))
        return collect_module(name, file, parse(file), installed=True)
    except SourceError:
        return None  # not the user's to mend


def _may_bind(path: str, name: str) -> bool:
    try:
        text = read_bytes(path, FILE_BYTES.most)
    except OSError:
        return False  # nor could it be parsed
    return name.encode() in text or b"import *" in text


def _file(base: str, name: str) -> str | None:
    stem = os.path.join(base, *name.split("."))  # noqa: PTH118 (many names, few of which exist)
    for path in (os.path.join(stem, "__init__.py"), stem + ".py"):  # noqa: PTH118
        if os.path.isfile(path):  # noqa: PTH113
            return path
    return None


def _works_with_torch(folder: str, package: str) -> bool:
    """Whether a package's metadata names torch, if it names anything that it needs."""
    needs = [*_requirements(folder, package)]
    return not needs or any("torch" in need for need in needs)


def _requirements(folder: str, package: str) -> Iterator[str]:
    wanted = package.lower()
    for entry in _metadata_folders(folder):
        if entry.partition("-")[0].lower().replace(".", "_") == wanted:
            try:
                data = read_bytes(os.path.join(folder, entry, "METADATA"))  # noqa: PTH118
            except OSError:
                continue  # what it needs is not known
            for line in data.decode("utf-8", "replace").splitlines():
                if line.startswith("Requires-Dist:"):
                    yield line
                elif not line.strip():
                    return  # the description follows


@lru_cache(maxsize=8)
def _metadata_folders(folder: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(e for e in os.listdir(folder) if e.endswith(".dist-info")))  # noqa: PTH208
    except OSError:
        return ()
