"""Small programs whose comments say what the analysis must see.

``#! HostRead item`` at the end of a line says that exactly this event is reported there, several
are separated by semicolons; ``#= tensor (rank 2)`` says what the argument of ``reveal(...)`` on the
line is taken for. Lines without a comment must be silent.
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

from tclint.config import Config
from tclint.lint.engine import load_project
from tclint.semantics import events as kinds
from tclint.semantics.events import Event
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.readable import readable

PRELUDE = """\
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""

ALL = tuple(
    kind
    for kind in vars(kinds).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
)
# What every program is held to; other events count where a comment names their type.
USUAL = {
    "HostRead", "TensorAssert", "TensorBranch", "Loop", "TensorIndex", "DynamicShape",
    "SideEffectCall", "NumpyCall", "TensorWrite",
}  # fmt: skip
FIELDS = {
    "HostRead": "via",
    "TensorBranch": "kind",
    "Loop": "over",
    "DynamicShape": "via",
    "SideEffectCall": "sink",
    "NumpyCall": "function",
    "TensorFactory": "function",
    "ModuleConstruction": "function",
    "ModuleWrite": "attribute",
    "TensorWrite": "attribute",
    "ContextEntered": "manager",
    "OptimizerInit": "optimizer",
    "CompiledOutputUsed": "function",
    "Call": "function",
    "ContainerGrown": "kept",
    "ClassWrite": "attribute",
    "NameUsed": "name",
    "TrainingCall": "name",
}

Seen = list[tuple[int, str]]


def program(text: str) -> str:
    """The prelude and a dedented program; row 1 is the program's own first line."""
    return dedent(text).strip("\n") + "\n" + PRELUDE


def put(folder: Path, files: dict[str, str]) -> list[Path]:
    """Write files and return their paths."""
    paths = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def events_of(paths: list[Path], config: Config) -> list[Event]:
    """All events in the files, whether or not a rule asks for them."""
    return interpret(load_project(paths, config), paths, config, ALL).finish()


def summary(event: Event) -> str:
    """An event's type and its main field, with ``sometimes`` and ``store`` where they hold."""
    name = type(event).__name__
    words = [name]
    if name in FIELDS:
        words.append(str(getattr(event, FIELDS[name])))
    if isinstance(event, kinds.TensorIndex):
        words.append("+".join(kind for _, kind in event.items))
    words += [flag for flag in ("sometimes", "store") if getattr(event, flag, False)]
    return " ".join(words)


def wanted_in(text: str) -> Seen:
    """The events that a program's comments promise."""
    found: Seen = []
    for row, line in enumerate(text.splitlines(), 1):
        _, mark, comment = line.partition("#! ")
        if mark:
            found += [(row, part.strip()) for part in comment.split(";")]
    return sorted(found)


def seen_in(paths: list[Path], path: Path, config: Config) -> Seen:
    """The events that the analysis reports in one of the files."""
    named = {part.split()[0] for _, part in wanted_in(path.read_text("utf-8"))}
    return sorted(
        (event.node.lineno, summary(event))
        for event in events_of(paths, config)
        if event.site.module.file.path == path and type(event).__name__ in USUAL | named
    )


def mismatch(folder: Path, files: dict[str, str] | str, **config: object) -> dict[str, object]:
    """Where the events of some files (or one program) differ from their comments."""
    if isinstance(files, str):
        files = {"program.py": program(files)}
    paths = put(folder, files)
    settings = Config(folder, **config)  # type: ignore[arg-type]
    found: dict[str, object] = {}
    for path in paths:
        seen, wanted = seen_in(paths, path, settings), wanted_in(path.read_text("utf-8"))
        if seen != wanted:
            found[path.name] = {
                "missing": [item for item in wanted if item not in seen],
                "unexpected": [item for item in seen if item not in wanted],
                "repeated": [item for item in set(seen) if seen.count(item) > wanted.count(item)],
            }
    return found


def values_in(folder: Path, text: str, **config: object) -> Seen:
    """What the argument of every ``reveal(...)`` is taken for."""
    [path] = put(folder, {"program.py": program(text)})
    settings = Config(folder, **config)  # type: ignore[arg-type]
    analysis = interpret(load_project([path], settings), [path], settings, ())
    seen = {
        (node.lineno, readable(body.values[node.args[0]]))
        for body in analysis.bodies()
        for node in ast.walk(body.scope)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "reveal"
        and node.args[0] in body.values
    }
    return sorted(seen)


def promised_values(text: str) -> Seen:
    """What the comments say that every ``reveal(...)`` is taken for."""
    lines = enumerate(program(text).splitlines(), 1)
    return sorted((row, line.partition("#= ")[2].strip()) for row, line in lines if "#= " in line)
