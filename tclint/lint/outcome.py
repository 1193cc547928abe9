"""What the analysis of a shard comes to: plain data.

It travels between processes, and lies in the cache as JSON (:mod:`tclint.cache.encoding`).
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from tclint.diagnostics import Diagnostic, Span
from tclint.lint.looked import NOTHING, Looked
from tclint.lint.repair import PlacedRepair
from tclint.records import record
from tclint.source.errors import FileError
from tclint.source.stored import Excerpts


@record(frozen=True)
class Found:
    """A finding that nothing silences, and its fix.

    ``sure`` and ``explicit`` say how it was reached: not below a flag that is off by default, and
    in a region that the program compiles itself.
    """

    diagnostic: Diagnostic
    repair: PlacedRepair | None = None
    sure: bool = True
    explicit: bool = False


class Silencing(NamedTuple):
    """A comment that silenced something, by its file and where it names the rule."""

    path: str
    span: Span


@record()
class Outcome:
    """The findings and errors of one shard, and all that they rest on.

    ``read`` are the files whose content mattered, ``searches`` the imports that were followed,
    packed. ``silencing`` are comments in other shards' files that silenced something. ``excerpts``
    are the lines around findings, by path, so that reports need not read the files again; a
    notebook's are not kept. ``lasting`` is false when something went wrong that may be different
    the next time, though no file changes. ``looked`` is what was looked at.
    """

    findings: list[Found] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    searches: str = ""
    silencing: list[Silencing] = field(default_factory=list)
    excerpts: dict[str, Excerpts] = field(default_factory=dict)
    lasting: bool = True
    looked: Looked = NOTHING
