"""The project around some files: what they may import, and what calls into them.

Whoever names files wants the findings in these, as a run over their project would tell them. So the
rest of the project is there to be imported, and the files that call into the named ones are walked
with them; nothing is reported of either. All of it is bounded: the folders that are looked
through, and the callers that are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.config_places import UNTRAINED
from tclint.files import read_bytes
from tclint.lint.callers import Callers, Found
from tclint.lint.execution import Around, in_order
from tclint.lint.outlines import Import, imports
from tclint.lint.project_files import other_files
from tclint.lint.selection import placing
from tclint.semantics.project import Project
from tclint.source.decode import MAX_BYTES, read_source
from tclint.source.errors import SourceError

CALLERS: Final = 200_000
"""Characters of definitions that call into the named files and are walked with them."""

ImportsOf = Callable[[Sequence[Path]], Iterable[tuple[Path, Iterable[Import]]]]
"""Tells what each of some files imports."""


def around(
    named: Sequence[Path], config: Config, overlay: Mapping[Path, str], imports_of: ImportsOf
) -> Around:
    """What is around some files of one configuration."""
    rest = other_files(named, config)
    if not rest.files:
        return Around(folders=rest.folders, unseen=rest.unseen, unread=rest.unread)
    every = in_order((*named, *rest.files))
    project = Project(every, lambda name, path: None)

    def text(path: Path) -> str:
        return overlay[path] if path in overlay else text_of(path)

    place_of, late = placing(config), UNTRAINED
    callers = Callers(project, imports_of(rest.files), text, lambda path: place_of(path) in late)
    may_start = config.scope == "all" or bool(config.compiled)
    found = callers.of(named, CALLERS, every=may_start)
    if config.by_folder and found.left_out:  # some of a folder's callers are no whole answer
        found = Found(left_out=found.left_out + len(found.files))
    return Around(rest.files, found.files, found.left_out, rest.folders, rest.unseen, rest.unread)


def imports_in(path: Path) -> tuple[Import, ...]:
    """What a file imports; nothing if it cannot be read."""
    if path.suffix == ".ipynb":
        return imports(text_of(path))
    try:
        return imports(read_bytes(path, MAX_BYTES).decode("utf-8", "replace"))
    except OSError:
        return ()


def imports_now(paths: Sequence[Path]) -> Iterator[tuple[Path, tuple[Import, ...]]]:
    """What each of some files imports, read from all of them."""
    return ((path, imports_in(path)) for path in paths)


def text_of(path: Path) -> str:
    """The text of a file; an empty one if it cannot be read."""
    try:
        return read_source(path).text
    except SourceError:
        return ""
