"""Stores and fleet files that are damaged or forged: `tclint fleet` reads them, and must survive.

Promised: each command ends in time and memory, with a report or with one error, without a traceback
and without a byte that a terminal obeys. Failures are what no run may show.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attack.command import complaints, ran, words
from benchmarks.attack.kind import Kind, Slice, Tried
from benchmarks.attack.recordings import RAW, VALUES

FLEET = """\
[fleet]
store = "fleet.sqlite"
jobs = 1
backend = "eager"
[[target]]
factories = "net.py:make_*"
[[arm]]
name = "before"
[[arm]]
name = "after"
fixed = true
"""
NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        print("x")
        return x + 1


def make_net():
    return Net(), (torch.ones(3),), {}


def make_odd():
    return 1
"""
COMMANDS = (
    "fleet report", "fleet report --output-format json",
    "fleet report 1 --output-format markdown", "fleet diff :before :after", "fleet diff 1 last",
)  # fmt: skip
TABLES = ("runs", "arms", "code", "results", "breaks", "speeds", "units")


def tried(part: Slice) -> Iterator[Tried]:
    """Make an honest store once, and damage copies of it."""
    honest = part.folder / "honest"
    honest.mkdir(parents=True)
    (honest / "FLEET.toml").write_text(FLEET)
    (honest / "net.py").write_text(NET)
    done = ran("fleet", "run", "FLEET.toml", folder=honest, memory=0, seconds=300)
    assert done.code == 0, words(done.printed)
    for number in part.numbers:
        chance, folder = part.chance(number), part.folder / str(number)
        shutil.copytree(honest, folder)
        what = damaged(folder, chance)
        bad = []
        commands = COMMANDS if what != "fleet file" else ("fleet run FLEET.toml",)
        for command in commands:
            done = ran(*command.split(), folder=folder)
            bad += [f"{command}: {one}" for one in complaints(done)]
            if done.code == 2 and len(done.err.splitlines()) > 3:
                bad.append(f"{command}: its error has {len(done.err.splitlines())} lines")
        yield Tried(number, what, "\n".join(bad) or None, (what,))
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)


def damaged(folder: Path, chance: random.Random) -> str:
    """Damage the store or the fleet's file in one of many ways, and say in which."""
    store = folder / "fleet.sqlite"
    match chance.randrange(8):
        case 0:
            data = bytearray(store.read_bytes())
            for _ in range(chance.choice((1, 20, 500))):
                data[chance.randrange(len(data))] = chance.randrange(256)
            store.write_bytes(data)
            return "bytes"
        case 1:
            data = store.read_bytes()
            store.write_bytes(data[: chance.randrange(len(data))])
            return "cut"
        case 2:
            store.unlink()
            [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir][chance.randrange(3)](
                store
            )
            return "no file"
        case 3:
            (folder / "FLEET.toml").write_text(_broken(chance), "utf-8", "surrogatepass")
            return "fleet file"
        case _:
            for _ in range(chance.randint(1, 3)):
                _forge(store, chance)
            return "values"


def _forge(store: Path, chance: random.Random) -> None:
    """Put another value, of any type, into a column."""
    value = chance.choice(VALUES)
    if isinstance(value, list | dict) or (isinstance(value, int) and abs(value) >= 2**63):
        value = chance.choice(
            (b"\xff\xfe", zlib.compress(b"[" * 100_000), zlib.compress(b"{}"), 1e99)
        )
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
    with contextlib.closing(sqlite3.connect(store)) as database, contextlib.suppress(sqlite3.Error):
        table = chance.choice(TABLES)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        database.execute(f"UPDATE {table} SET {chance.choice(columns)} = ?", (value,))
        database.commit()


def _broken(chance: random.Random) -> str:
    lines = FLEET.splitlines()
    at = chance.randrange(len(lines))
    key = lines[at].partition(" = ")[0]
    odd = (
        "-1",
        "1e999",
        "nan",
        "9" * 5_000,
        '""',
        "[]",
        "{}",
        '"\\u0000"',
        f'"{"a" * 300}"',
        "[[[",
        "true",
    )
    lines[at] = chance.choice(
        (f"{key} = {chance.choice(odd)}", chance.choice(RAW).decode("latin-1")[:9_000])
    )
    return "\n".join(lines)


KIND = Kind("fleets", 120, 40, tried)
