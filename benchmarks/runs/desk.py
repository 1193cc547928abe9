"""A folder in which a script runs: its sources as they are, made data, and the stand-ins."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks.run_scripts import data as made
from benchmarks.runs.listed import Change, Script

STANDINS = Path(__file__).with_name("standins")


def lay_out(script: Script, sources: Path, work: Path, change: Change | None = None) -> Path:
    """The script's folder, with one change or none."""
    shutil.rmtree(work, ignore_errors=True)
    source = sources / (script.repository.replace("/", "+") if script.public else "ours")
    shutil.copytree(source, work, ignore=shutil.ignore_patterns(".git", "*.ipynb"))
    file = work / script.path
    edits = change.edits if change is not None else ()
    for old, new in (*(edit for one in script.by_hand for edit in one.edits), *edits):
        text = file.read_text()
        if text.count(old) != 1:
            raise ValueError(f"{script.name}: {old!r} is there {text.count(old)} times")
        file.write_text(text.replace(old, new))
    if script.data:
        _DATA[script.data](file.parent)
    return file


def digest(script: Script, sources: Path) -> str:
    """What tells whether the sources are those of the list's commit."""
    source = sources / (script.repository.replace("/", "+") if script.public else "ours")
    return hashlib.sha256((source / script.path).read_bytes()).hexdigest()


def row_of(file: Path, text: str) -> int:
    """The row of the first line with a text; 0 where there is none."""
    rows = enumerate(file.read_text().splitlines(), 1)
    return next((row for row, line in rows if text in line), 0)


def rows_of(file: Path, change: Change) -> frozenset[int]:
    """The rows that a change is about: that which the report should name, and those it edits."""
    text = file.read_text()
    edited = {text[: text.index(old)].count("\n") + 1 for old, _ in change.edits if old in text}
    return frozenset({row_of(file, change.at), *edited} - {0})


def environment(file: Path, work: Path) -> Mapping[str, str]:
    """The variables of a script's process."""
    paths = [str(STANDINS), str(work), os.environ.get("PYTHONPATH", "")]
    told = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONHASHSEED": "0"}
    quiet = {"PYTHONUNBUFFERED": "1", "WANDB_MODE": "disabled"}
    return {**os.environ, **told, **quiet, "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}


def _input(folder: Path) -> None:
    (folder / "input.txt").write_text(made.prose(60_000))


def _names(folder: Path) -> None:
    draw = random.Random(0)
    syllables = "an bo ce da el fi go ha in jo ka li mo na or pe qu ra su ti".split()
    names = {"".join(draw.choices(syllables, k=draw.randint(2, 5))) for _ in range(20_000)}
    (folder / "names.txt").write_text("\n".join(sorted(names)) + "\n")


def _characters(folder: Path) -> None:
    (folder / "data" / "shakespeare_char").mkdir(parents=True, exist_ok=True)
    made.characters(folder)


def _texts(folder: Path) -> None:
    made.texts(folder.parent)


def _waves(folder: Path) -> None:
    import numpy
    import torch

    steps = numpy.arange(1000) + numpy.random.RandomState(2).randint(-80, 80, 100).reshape(100, 1)
    torch.save(numpy.sin(steps / 20).astype("float64"), folder / "traindata.pt")


def _terminal(folder: Path) -> None:
    """A terminal's size, which the script's progress bar asks for when it is imported."""
    tool = folder / "bin" / "stty"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 24 80\n")
    tool.chmod(0o755)


def _images(folder: Path) -> None:
    (folder / "cifar10").mkdir()


_DATA = {
    "images": _images,
    "input": _input,
    "names": _names,
    "characters": _characters,
    "texts": _texts,
    "waves": _waves,
    "terminal": _terminal,
}
