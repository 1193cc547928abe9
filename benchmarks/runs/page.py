"""The page of documentation that holds ``tclint run`` against the truth.

``python -m benchmarks.runs.page --found DIR [DIR ...] --page FILE`` reads what ``benchmarks.runs``
left in folders, one for each device and run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.runs.__main__ import Checked, Found, Priced, is_first, summary
from benchmarks.runs.listed import COMPILE, SCRIPTS

_HEAD = """\
# `tclint run` held against the truth

Written by `python -m benchmarks.runs.page --page docs/benchmark-run-truth.md`, of what
`python -m benchmarks.runs` measured.

Training scripts on small made data, most of them public and unmodified. Each is recorded once. Then
it runs without a report: as it is, with each change that its author might make by hand, and on a
CPU once more with a clock around each of its statements. *First* tells whether the line that the
report names first is the dearest that runs no model; *prices* how many of the lines above 3% of a
step are priced within a quarter, or 3% of a step; *compiled* what compiling brings, by the report
and by hand.
"""
_TABLE = """\
| script | step | first line | first | prices | compiled: said | by hand | "nothing" |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def main() -> int:
    """Read the folders and write the page."""
    options = _options()
    parts = [part for folder in options.found for part in _device(_read(folder))]
    text = "\n".join([_HEAD, *parts]) + "\n"
    options.page.write_text(text)
    return 0


def _read(folder: Path) -> list[Found]:
    """What was found of each script, in the list's order."""
    found = {}
    names = {script.name for script in SCRIPTS}
    for path in (one for one in folder.rglob("*.json") if one.stem in names):
        data = json.loads(path.read_text())
        data["changes"] = tuple(
            Checked(**one | {"rows": tuple(one["rows"])}) for one in data["changes"]
        )
        data["lines"] = tuple(Priced(**one) for one in data["lines"])
        found[data["name"]] = Found(**data)
    return [found[script.name] for script in SCRIPTS if script.name in found]


def _device(found: Sequence[Found]) -> Iterator[str]:
    about = next((one.report["process"] for one in found if one.report.get("process")), {})
    yield f"## {about.get('device') or 'CPU'}, torch {about.get('torch', '?')}\n"
    yield _TABLE
    yield from map(_row, found)
    told = summary(found)
    counted = {
        "the first line is right": told["first_named_is_first"],
        "prices within a quarter, or 3% of a step": told["prices_within"],
        "shares add up to a step within 5%": told["shares_sum"],
        "compiling within 15% of a step by hand": told["compiling_within"],
        '"nothing is worth a change" of finished scripts': told["nothing_of_finished"],
    }
    yield ""
    yield from (f"- {words}: {right} of {of}" for words, (right, of) in counted.items())
    false = told["nothing_though_something"]
    yield f'- "nothing" where something was to gain: {", ".join(false) or "none"}\n'


def _row(one: Found) -> str:
    if one.why:
        return f"| {one.name} | | {_escaped(one.why[-60:])} | | | | | |"
    right = summary([one])
    judged = right["first_named_is_first"][1]
    first = "" if not judged else "right" if is_first(one) else "**wrong**"
    within, of = right["prices_within"]
    said, hand = _compiled(one)
    cells = (
        f"{one.name}{' (finished)' if one.finished else ''}",
        f"{one.step:.3g} ms",
        f"`{one.first}`" if one.first else "none",
        first,
        f"{within} of {of}" if of else "",
        said,
        hand,
        "said" if one.nothing else "",
    )
    return f"| {' | '.join(cells)} |"


def _compiled(one: Found) -> tuple[str, str]:
    tried: Mapping[str, Any] | None = one.tried
    said = "" if not tried or tried["failed"] else _less(tried["eager"], tried["compiled"])
    change = next((told for told in one.changes if told.kind == COMPILE), None)
    saves = change.saves if change is not None else None
    if change is None or saves is None:
        return said, ""
    return said, f"{-saves / (change.step or one.step):+.0%}"


def _less(eager: Mapping[str, float], compiled: Mapping[str, float]) -> str:
    return f"{compiled['value'] / eager['value'] - 1:+.0%}"


def _escaped(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--found", type=Path, nargs="+", default=[Path("benchmarks/out/runs")])
    parser.add_argument("--page", type=Path, default=Path("docs/benchmark-run-truth.md"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
