"""All kinds of attack, and trying the inputs of one of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.attack import (
    caches,
    fleets,
    forges,
    garbage,
    kills,
    mutants,
    recordings,
    runs,
    setups,
    shadows,
    targets,
)
from benchmarks.attack.kind import Kind, Slice, Tried

KINDS = {
    kind.name: kind
    for kind in (
        mutants.KIND,
        kills.KIND,
        caches.KIND,
        setups.KIND,
        shadows.KIND,
        recordings.KIND,
        runs.KIND,
        fleets.KIND,
        targets.KIND,
        forges.KIND,
        garbage.KIND,
    )
}


def slices(kind: Kind, seed: int, first: int, count: int, folder: Path) -> Iterator[Slice]:
    """A kind's inputs in the portions that one process takes at a time."""
    end = first + count
    for start in range(first, end, kind.share):
        place = folder / f"{kind.name}-{start}"
        yield Slice(seed, start, min(kind.share, end - start), place)


def attacked(name: str, part: Slice) -> tuple[str, Sequence[Tried]]:
    """Try the inputs of a slice of a kind."""
    part.folder.mkdir(parents=True)
    found = [*KINDS[name].tried(part)]
    if all(one.failure is None for one in found):
        shutil.rmtree(part.folder, ignore_errors=True)
    return name, found
