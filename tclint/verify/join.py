"""Join what broke at run time to what the static side found at the same lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tclint.config import Config
from tclint.diagnostics import Diagnostic, Effect
from tclint.lint.engine import check_files
from tclint.verify.events import Break
from tclint.verify.results import Joined, Probe


def join(
    arm: str, probe: Probe, root: Path, config: Config, overlay: Mapping[str, str]
) -> tuple[Joined, ...]:
    """Check the files that the arm ran, and match the findings with its breaks by line."""
    files = _files(probe, root)
    texts = {Path(path): text for path, text in overlay.items()}
    run = check_files(files, config, texts)
    return match_lines(arm, probe.breaks, [result.diagnostic for result in run.results])


def match_lines(
    arm: str, breaks: Sequence[Break], findings: Sequence[Diagnostic]
) -> tuple[Joined, ...]:
    """Confirmed, missed and not-seen lines, in that order."""
    predicted = [d for d in findings if d.effect is Effect.GRAPH_BREAK]
    met: set[int] = set()
    joined: list[Joined] = []
    for one in breaks:
        at = [n for n, diagnostic in enumerate(predicted) if covers(diagnostic, _lines_of(one))]
        met.update(at)
        # No rule is expected to see what torch asks for itself.
        if at or not one.by_torch:
            joined.append(_seen(arm, one, predicted[at[0]] if at else None))
    joined.extend(_not_seen(arm, d) for n, d in enumerate(predicted) if n not in met)
    return tuple(sorted(joined, key=lambda j: ("confirmed", "missed", "not-seen").index(j.status)))


def _files(probe: Probe, root: Path) -> list[Path]:
    names = {*probe.loaded, *(place for one in probe.breaks for place in _places(one))}
    inside = (Path(name).resolve() for name in names)
    top = root.resolve()
    return sorted({path for path in inside if top in path.parents and path.is_file()})


def _places(one: Break) -> Iterator[str]:
    yield one.filename
    yield from (frame.filename for frame in one.stack)


def covers(diagnostic: Diagnostic, places: Iterable[tuple[str, int]]) -> bool:
    """Whether a finding is about a row of one of the places, given by file and row."""
    spans = (diagnostic.span, *diagnostic.related)
    rows = {row for span in spans for row in range(span.start.row, span.end.row + 1)}
    path = diagnostic.path.resolve()
    return any(row in rows and Path(file).resolve() == path for file, row in places)


def _lines_of(one: Break) -> Iterator[tuple[str, int]]:
    yield one.filename, one.row
    yield from ((frame.filename, frame.row) for frame in one.stack[-1:])


def _seen(arm: str, one: Break, finding: Diagnostic | None) -> Joined:
    return Joined(
        arm=arm,
        status="confirmed" if finding else "missed",
        filename=one.filename,
        row=one.row,
        gb_id=one.gb_id,
        code=finding.code if finding else None,
        message=finding.message if finding else one.reason,
    )


def _not_seen(arm: str, finding: Diagnostic) -> Joined:
    return Joined(
        arm=arm,
        status="not-seen",
        filename=str(finding.path),
        row=finding.span.start.row,
        code=finding.code,
        message=finding.message,
    )
