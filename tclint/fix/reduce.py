"""Reduce the difference between two texts to the stretches that really change."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from tclint.records import record
from tclint.source.file import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN: Final = re.compile(r"\r\n|\w+|[^\S\r\n]+|.", re.DOTALL)


@record(frozen=True, order=True)
class Stretch:
    """Replace ``before[start:end]`` by ``text``."""

    start: int
    end: int
    text: str


def changed_stretches(before: str, after: str, targets: Sequence[tuple[int, int]]) -> list[Stretch]:
    """The differences, in order; those inside one target are taken together.

    A target is the place of a rewritten node: what changes there reads better as one edit.
    """
    stretches: list[Stretch] = []
    for lines in _differences(split_lines(before), split_lines(after), 0):
        old = before[lines.start : lines.end]
        if not old or not lines.text:
            stretches.append(lines)
            continue
        tokens = _TOKEN.findall(old), _TOKEN.findall(lines.text)
        stretches += _differences(*tokens, lines.start)
    return _merge(before, stretches, targets)


def _differences(old: Sequence[str], new: Sequence[str], start: int) -> Iterator[Stretch]:
    """The differing runs of two lists of strings, as places in the text that ``old`` makes up."""
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    place = start + sum(map(len, old[:head]))
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        size = sum(map(len, old[i:j]))
        if tag != "equal":
            yield Stretch(place, place + size, "".join(new[k:m]))
        place += size


def common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many items the two have in common at their start."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _merge(
    before: str, stretches: Sequence[Stretch], targets: Sequence[tuple[int, int]]
) -> list[Stretch]:
    merged: list[Stretch] = []
    for stretch in stretches:
        last = merged[-1] if merged else None
        if last and any(start <= last.end and stretch.start <= end for start, end in targets):
            gap = before[last.end : stretch.start]
            merged[-1] = Stretch(last.start, stretch.end, last.text + gap + stretch.text)
        else:
            merged.append(stretch)
    return merged
