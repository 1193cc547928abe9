"""Caches that were damaged, forged or replaced by links: ``check`` meets them and goes on.

A cache lies in the project's folder, and a repository can bring one along. Promised: whatever is
there, a run ends in time and memory, without a crash; a damaged cache is as good as none, so that
the findings are those of a run without a cache; a link is not followed, neither for reading nor for
writing, and ``tclint clean`` removes nothing outside. What is forged under a valid checksum may
tell wrong findings (it can do no more: a cache is data), but crashes nothing. Failures are other
findings, tracebacks, hangs, and files outside that are read, changed or gone.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from benchmarks.attack.command import Done, complaints, ran
from benchmarks.attack.kind import Kind, Slice, Tried
from benchmarks.attack.mutate import mutated

PROGRAM = """\
import torch
from shared import scaled


class Net{0}(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("{0}")
        return scaled(x) * x.sum().item()
"""
FILES = {
    "tclint.toml": "",
    "shared.py": "def scaled(x):\n    return x * x.max().item()\n",
    **{f"net{number}.py": PROGRAM.format(number) for number in range(3)},
}
STATE = ".tclint_cache"
SECRET = "outside: neither read nor changed\n"
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**70, 1e308, float("nan"), float("inf"), "", "\x00", "\ud800",
    "../x", "/dev/zero", "x" * 100_000, [], {}, [[]], [None], {"": None}, [1, 2, 3], "2030-01-01",
)  # fmt: skip


def tried(part: Slice) -> Iterator[Tried]:
    """Spoil a cache, check, and check once more."""
    for number in part.numbers:
        sort, spoil = SORTS[number % len(SORTS)]
        folder = part.folder / str(number)
        failure = None
        try:
            spoiled(folder, spoil, part.chance(number), forged=sort == "forged")
        except AssertionError as error:
            failure = str(error)
        yield Tried(number, f"{sort}: {spoil.__name__}", failure, (sort,))
        if failure is None:
            shutil.rmtree(folder)


def spoiled(
    folder: Path, spoil: Callable[[Path, Random], None], chance: Random, *, forged: bool
) -> None:
    """Make a project with a cache, spoil that, and see what runs make of it.

    Raises:
        AssertionError: something is not as promised.
    """
    project, outside = folder / "project", folder / "outside"
    project.mkdir(parents=True)
    outside.mkdir()
    for name, text in FILES.items():
        (project / name).write_text(text)
    (outside / "secret").write_text(SECRET)
    (outside / "empty").write_text("")
    whole = ran("check", folder=project)
    assert whole.code == 1, whole.printed.decode()
    before = contents(outside)
    spoil(project / STATE, chance)
    if chance.random() < 0.5:  # else what was printed is remembered, too, and nothing is loaded
        (project / "net0.py").touch()
    for _ in range(2):
        done = ran("check", folder=project)
        assert_orderly(done)
        same = (done.code, done.out) == (whole.code, whole.out)
        assert same or forged, f"other findings:\n{done.printed.decode('utf-8', 'replace')}"
        assert SECRET.encode() not in done.printed, "what lies outside was read"
    assert_orderly(ran("clean", folder=project))
    assert contents(outside) == before, "what lies outside was changed"
    assert all((project / name).exists() for name in FILES), "sources are gone"


def assert_orderly(done: Done) -> None:
    """A run shows nothing that no run may show.

    Raises:
        AssertionError: it does.
    """
    bad = [*complaints(done)]
    assert not bad, "\n".join(bad)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*"))}


def chosen(cache: Path, chance: Random) -> Path:
    """One of the files of a cache."""
    return chance.choice(sorted(path for path in cache.iterdir() if path.is_file()))


def remembered(cache: Path, chance: Random) -> Path:
    """One of the files that hold findings, or a report."""
    return chance.choice(sorted([*cache.glob("*.run"), *cache.glob("*.report")]))


def bytes_changed(cache: Path, chance: Random) -> None:
    """Some bytes are others."""
    file, other = chosen(cache, chance), chosen(cache, chance)
    file.write_bytes(mutated(file.read_bytes(), other.read_bytes(), chance))


def cut_off(cache: Path, chance: Random) -> None:
    """The disk was full."""
    file = chosen(cache, chance)
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data) + 1)])


def swapped(cache: Path, chance: Random) -> None:
    """A run in the place of a report, and the other way round."""
    run, report = next(cache.glob("*.run")), next(cache.glob("*.report"), None)
    if report is not None:
        data = run.read_bytes(), report.read_bytes()
        report.write_bytes(data[0])
        run.write_bytes(data[1])


def field_changed(cache: Path, chance: Random) -> None:
    """A field holds something else, under a checksum that holds."""
    file = remembered(cache, chance)
    head, _, body = file.read_bytes().split(b"\n", 2)
    content = json.loads(body)
    for _ in range(chance.choice((1, 1, 1, 3))):
        change(content, chance)
    put(file, head, content)


def change(content: Any, chance: Random) -> None:
    """Put something odd somewhere into lists and objects: a copy, which may be altered."""
    places: list[tuple[Any, Any]] = []
    pending = [content]
    while pending:
        node = pending.pop()
        keys = [*node] if isinstance(node, dict) else [*range(len(node))]
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                pending.append(node[key])
    node, key = chance.choice(places)
    match chance.randrange(4):
        case 0:
            del node[key]
        case 1 if isinstance(node, list):
            node.insert(key, deepcopy(chance.choice(ODD)))
        case 2 if isinstance(node[key], int):
            node[key] += chance.choice((-1, 1, 1000, -(2**40)))
        case _:
            node[key] = deepcopy(chance.choice(ODD))


def nested(cache: Path, chance: Random) -> None:
    """Deeper than any reader goes, under a checksum that holds."""
    file = remembered(cache, chance)
    head = file.read_bytes().split(b"\n", 1)[0]
    body = b"[" * 200_000 + b"]" * 200_000
    file.write_bytes(b"%b\n%d\n%b" % (head, crc32(body), body))


def put(file: Path, head: bytes, content: object) -> None:
    """Write a cache file whose checksum holds."""
    body = json.dumps(content, separators=(",", ":")).encode()
    file.write_bytes(b"%b\n%d\n%b" % (head, crc32(body), body))


def endless(cache: Path, chance: Random) -> None:
    """A link to what never ends."""
    replaced(chosen(cache, chance)).symlink_to(chance.choice(("/dev/zero", "/dev/urandom")))


def pipe(cache: Path, chance: Random) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(replaced(chosen(cache, chance)))


def directory(cache: Path, chance: Random) -> None:
    """A folder where a file should be."""
    place = replaced(chosen(cache, chance))
    place.mkdir()
    if chance.random() < 0.5:
        (place / "kept").write_text("x")


def loop(cache: Path, chance: Random) -> None:
    """A link to itself."""
    place = replaced(chosen(cache, chance))
    place.symlink_to(place.name)


def link_outside(cache: Path, chance: Random) -> None:
    """A link to a file outside: one that holds something, an empty one, or none at all."""
    outside = cache.parents[1] / "outside"
    target = outside / chance.choice(("secret", "empty", "absent"))
    replaced(chosen(cache, chance)).symlink_to(target)


def hard_link(cache: Path, chance: Random) -> None:
    """A second name of a file outside."""
    os.link(cache.parents[1] / "outside" / "secret", replaced(chosen(cache, chance)))


def whole_folder_outside(cache: Path, chance: Random) -> None:
    """The folder is a link to one outside."""
    shutil.rmtree(cache)
    cache.symlink_to(cache.parents[1] / "outside")


def folder_is_no_folder(cache: Path, chance: Random) -> None:
    """Something else has the folder's name."""
    shutil.rmtree(cache)
    match chance.randrange(4):
        case 0:
            cache.write_text("x")
        case 1:
            os.mkfifo(cache)
        case 2:
            cache.symlink_to(cache.name)
        case _:
            cache.symlink_to("/dev/zero")


def unreadable(cache: Path, chance: Random) -> None:
    """Nobody may read it; where root runs this, root may all the same."""
    chance.choice((cache, chosen(cache, chance))).chmod(0)


def sparse(cache: Path, chance: Random) -> None:
    """Far larger than the memory, though the disk has nothing of it."""
    os.truncate(chosen(cache, chance), 1 << 38)


def half_written(cache: Path, chance: Random) -> None:
    """What a killed run leaves, and things that are named like it."""
    for end, make in ((".part", Path.touch), (".run", Path.mkdir), (".part", Path.mkdir)):
        make(cache / f"{chance.getrandbits(40):x}{end}")
    os.mkfifo(cache / f"{chance.getrandbits(40):x}.run")
    (cache / f"{chance.getrandbits(40):x}.part").symlink_to("/dev/zero")


def replaced(file: Path) -> Path:
    """A place that is free now."""
    file.unlink()
    return file


SORTS: tuple[tuple[str, Callable[[Path, Random], None]], ...] = (
    ("corrupted", bytes_changed),
    ("truncated", cut_off),
    ("corrupted", swapped),
    ("forged", field_changed),
    ("forged", field_changed),
    ("forged", field_changed),
    ("forged", field_changed),
    ("forged", nested),
    ("linked", endless),
    ("linked", pipe),
    ("linked", directory),
    ("linked", loop),
    ("linked", link_outside),
    ("linked", link_outside),
    ("linked", hard_link),
    ("linked", whole_folder_outside),
    ("linked", folder_is_no_folder),
    ("linked", unreadable),
    ("linked", sparse),
    ("linked", half_written),
)
KIND = Kind("caches", 200, 20, tried)
