"""The package before and after fixing: copies of an installed one, and what the fixes changed."""

from __future__ import annotations

import ast
import difflib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

IMPORTS = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
failures = {}
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
    except Exception as error:
        failures[name] = f"{type(error).__name__}: {error}"
print("\\n" + json.dumps(failures))
"""
WHERE = """
import importlib.metadata, importlib.util, sys
print(importlib.util.find_spec(sys.argv[1]).origin)
print(importlib.metadata.version(sys.argv[1]))
"""


@dataclass(frozen=True, slots=True)
class Edited:
    """One file that was fixed: how many stretches of lines changed, and how many lines."""

    file: str
    edits: int
    removed: int
    added: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """What ``tclint fix`` made of the copy; ``broken`` are modules that no longer import."""

    seconds: float
    files: int
    edited: tuple[Edited, ...]
    broken: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Fixed:
        """The inverse of :meth:`to_json`."""
        edited = tuple(Edited(**one) for one in data["edited"])
        return cls(data["seconds"], data["files"], edited, tuple(data["broken"]))


@dataclass(frozen=True, slots=True)
class Installed:
    """A package that another interpreter would import."""

    folder: Path
    version: str


def installed(python: Path, package: str) -> Installed:
    """Ask an interpreter for a package.

    Raises:
        LookupError: it has none of that name.
    """
    done = subprocess.run(
        [python, "-c", WHERE, package], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LookupError(f"{python} has no {package}: install it there, and torch before it")
    origin, version = done.stdout.split("\n")[:2]
    return Installed(Path(origin).parent, version)


def copy(package: Path, tree: Path) -> Path:
    """A fresh copy of the package's sources below ``tree``."""
    target = tree / package.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(package, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def fix(
    before: Path, after: Path, python: Path, only: Sequence[str], more: Sequence[str] = ()
) -> Fixed:
    """Copy ``before`` to ``after``, apply the safe fixes there, and look at every edited file.

    ``more`` are options of ``tclint fix`` that let it do more.

    ``only`` names files relative to the packages' folder; all of them when it is empty.

    Raises:
        RuntimeError: ``tclint fix`` failed, or left a file that is not Python.
    """
    package = copy(before, after.parent)
    paths = [package.parent / name for name in only] or [package]
    start = time.perf_counter()
    command = [sys.executable, "-m", "tclint", "fix", "--isolated", "--quiet", "--exit-zero"]
    done = subprocess.run([*command, *more, *paths], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"tclint fix ended with {done.returncode}: {done.stderr[-2000:]}")
    seconds = round(time.perf_counter() - start, 1)
    files = sorted(package.rglob("*.py"))
    edited = tuple(_edited(before.parent, package.parent, files))
    names = [one.file for one in edited]
    broken = import_failures(python, after.parent, names)
    known = import_failures(python, before.parent, names)
    lost = tuple(sorted(f"{k}: {v}" for k, v in broken.items() if k not in known))
    return Fixed(seconds, len(paths) if only else len(files), edited, lost)


def joined(parts: Iterable[Fixed]) -> Fixed:
    """What fixing several packages came to, one after the other."""
    every = [*parts]
    return Fixed(
        round(sum(one.seconds for one in every), 1),
        sum(one.files for one in every),
        tuple(edited for one in every for edited in one.edited),
        tuple(broken for one in every for broken in one.broken),
    )


def _edited(before: Path, after: Path, files: Sequence[Path]) -> Iterator[Edited]:
    for file in files:
        name = file.relative_to(after)
        old, new = (before / name).read_bytes(), file.read_bytes()
        if old == new:
            continue
        try:
            ast.parse(new)
        except SyntaxError as error:
            raise RuntimeError(f"{name} no longer parses: {error}") from error
        lines = [text.split(b"\n") for text in (old, new)]
        matcher = difflib.SequenceMatcher(None, *lines, autojunk=False)
        hunks = [one for one in matcher.get_opcodes() if one[0] != "equal"]
        removed = sum(end - start for _, start, end, _, _ in hunks)
        added = sum(end - start for _, _, _, start, end in hunks)
        yield Edited(str(name), len(hunks), removed, added)


def import_failures(python: Path, tree: Path, files: Sequence[str]) -> dict[str, str]:
    """Why modules of a tree cannot be imported, by file."""
    modules = [name.removesuffix(".py").removesuffix("/__init__") for name in files]
    names = [name.replace("/", ".") for name in modules]
    done = subprocess.run(
        [python, "-c", IMPORTS], input=json.dumps(names), capture_output=True, text=True,
        check=True, env={"PYTHONPATH": str(tree), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    failures: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return failures
