"""``tclint check --explain-types``: where a line is, what is known there, and what rules say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tclint.cli.exits import CLEAN
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import fail, write
from tclint.files import is_file
from tclint.lint.verdicts import Verdict
from tclint.lint.why import Answer, why
from tclint.printable import json_text, visible
from tclint.records import record
from tclint.report.record import location
from tclint.report.view import absolute
from tclint.semantics.readable import readable
from tclint.semantics.whereabouts import Way, place_text

_PLACE = re.compile(r"(?P<file>.+?):(?P<row>\d{1,9})(?::(?P<column>\d{1,9}))?")
MOST_WAYS = 5


@record(frozen=True)
class Place:
    """``FILE:LINE[:COL]``; a ``column`` of 0 means the whole line."""

    file: Path
    row: int
    column: int = 0


def parse_place(text: str) -> Place:
    """Read ``FILE:LINE[:COL]``, or end the command with what is wrong."""
    found = _PLACE.fullmatch(text)
    if found is None or int(found["row"]) < 1:
        fail(f"--explain-types: expected FILE:LINE or FILE:LINE:COL, got {text!r}")
    file = Path(found["file"])
    if not is_file(file):
        fail(f"{file}: no such file")
    return Place(file, int(found["row"]), int(found["column"] or 0))


def explain_types(inputs: Inputs, place: Place, *, as_json: bool = False) -> int:
    """Print what there is to say of a place, and return the exit code."""
    known = {path.resolve(): path for path in inputs.files}
    file = known.get(place.file.resolve(), place.file)
    config = inputs.nesting.of(file)
    beside = next((files for one, files in inputs.parts if one.source == config.source), ())
    paths = tuple(dict.fromkeys((*beside, file)))
    answer = why(paths, config, inputs.overlay, file, place.row, place.column)
    if answer is None:
        fail(f"{file}: cannot be read as Python; `tclint check {file}` says why")
    if as_json:
        write(json_text(_record(answer, file, place)) + "\n")
    else:
        write("".join(f"{visible(line)}\n" for line in lines(answer, file)))
    return CLEAN


def lines(answer: Answer, file: Path) -> Iterator[str]:
    """The answer as people read it."""
    where = answer.where
    for way in where.ways[:MOST_WAYS]:
        yield _way(way, file)
    if len(where.ways) > MOST_WAYS:
        yield f"reached in {len(where.ways) - MOST_WAYS} more ways"
    if not where.is_reached:
        first, *more = where.reasons(file)
        yield f"not reached there: {first}" if where.ways else f"in no region: {first}"
        yield from (f"  {reason}" for reason in more)
        if where.named is not None:
            yield "  `--scope all` checks it all the same; so does naming it in `compiled`"
    yield from _expressions(answer)
    for one in answer.quiet:
        start = one.span.start
        yield f"{start.row}:{start.column}  {one.text}  no rule checks it: {one.reason}"
    found = [one for one in answer.verdicts if one.message]
    yield from map(_verdict, found)
    others = sorted({one.code for one in answer.verdicts} - {one.code for one in found})
    if others:
        yield f"{', '.join(others)} {'finds' if len(others) == 1 else 'find'} nothing"
    elif where.is_reached and not answer.verdicts and not answer.quiet:
        yield "no rule looks for what happens on this line"


def _expressions(answer: Answer) -> Iterator[str]:
    told: set[str] = set()
    for one in answer.expressions:
        yield str(one)
        yield from (f"  {piece}" for piece in one.evidence if one.text not in told)
        told.add(one.text)


def _way(way: Way, file: Path) -> str:
    at = way.place
    compiled = f", compiled at {place_text(at.filename, at.row, file)}" if at is not None else ""
    because = f" ({way.because})" if way.because else ""
    off = ", only if a flag is turned on or an exception is raised" if way.off else ""
    return f"in region `{way.region}`{compiled}{because}{_reached(way, file)}{off}"


def _reached(way: Way, file: Path) -> str:
    if not way.chain:
        return ""
    steps = (f"{link.function} ({place_text(link.filename, link.row, file)})" for link in way.chain)
    return f", reached by {' → '.join(steps)}"


def _verdict(one: Verdict) -> str:
    start = one.span.start
    said = f"silent: {one.silent}" if one.silent else "reported"
    return f"{start.row}:{start.column}  {one.code} {one.name}  {said}"


def _record(answer: Answer, file: Path, place: Place) -> dict[str, object]:
    where = answer.where
    return {
        "filename": absolute(file),
        "row": place.row,
        "column": place.column or None,
        "name": where.name or None,
        "reached": where.is_reached,
        "regions": [_way_record(way) for way in where.ways],
        "reasons": [] if where.is_reached else [*where.reasons(file)],
        "expressions": [
            {
                "text": one.text,
                "location": location(one.span.start),
                "end_location": location(one.span.end),
                "value": readable(one.value),
                "reasons": list(one.reasons),
                "evidence": [
                    {"text": piece.text, "for_tensor": piece.for_tensor, "row": piece.row}
                    for piece in one.evidence
                ],
            }
            for one in answer.expressions
        ],
        "not_asked": [
            {"text": one.text, "location": location(one.span.start), "reason": one.reason}
            for one in answer.quiet
        ],
        "rules": [
            {
                "code": one.code,
                "name": one.name,
                "location": location(one.span.start),
                "end_location": location(one.span.end),
                "message": one.message or None,
                "silent": one.silent or None,
            }
            for one in answer.verdicts
        ],
    }


def _way_record(way: Way) -> dict[str, object]:
    at = way.place
    return {
        "root": way.region,
        "because": way.because or None,
        "compiled_at": at and {"filename": absolute(Path(at.filename)), "row": at.row},
        "chain": [
            {"function": link.function, "filename": absolute(Path(link.filename)), "row": link.row}
            for link in way.chain
        ],
        "off_by_default": way.off,
    }
