"""``tclint upgrade`` against what two releases of torch really do.

    python -m benchmarks.models --resume old.jsonl  # with each torch, in its own environment
    tclint upgrade --from OLD --to NEW --output-format json PACKAGE > changes.json
    python -m benchmarks.models.upgrade old.jsonl new.jsonl changes.json --markdown PAGE

A line *differs* where the graph broke with one of the two releases only, in a model that both ran.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.join import CONSEQUENCES, Line
from benchmarks.models.record import BreakSite, Measured
from benchmarks.models.static import statement_rows

Runs = Mapping[tuple[str, str], Measured]


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that breaks with one release only; ``kind`` is what ``tclint upgrade`` calls it."""

    line: Line
    kind: str
    reason: str
    models: tuple[str, ...]
    by: tuple[str, ...]


def main() -> None:
    """Print the lines that differ, and who predicted them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="records of the older torch")
    parser.add_argument("new", type=Path, help="records of the newer one")
    parser.add_argument("changes", type=Path, help="what `tclint upgrade` prints as JSON")
    parser.add_argument("--markdown", type=Path, help="write the page")
    options = parser.parse_args()
    old, new = _runs(options.old), _runs(options.new)
    both = sorted(old.keys() & new.keys())
    found = differences(
        [old[run] for run in both], [new[run] for run in both], _predicted(options.changes)
    )
    text = page([old[run] for run in both], [new[run] for run in both], found)
    print(text)
    if options.markdown:
        options.markdown.write_text(text)


def differences(
    old: Iterable[Measured], new: Iterable[Measured], predicted: Mapping[tuple[Line, str], str]
) -> list[Difference]:
    """The lines that break with one release only, each with the rules that told so."""
    before, after = _broken(old), _broken(new)
    kinds = dict.fromkeys(before.keys() - after.keys(), "solved")
    kinds |= dict.fromkeys(after.keys() - before.keys(), "breaks")
    found = []
    for line, kind in sorted(kinds.items()):
        places = (before | after)[line]
        models = tuple(sorted({run.model for run, _ in places}))
        by = tuple(sorted(_by(places[0][0], line, kind, predicted)))
        found.append(Difference(line, kind, places[0][1].reason, models, by))
    return found


def page(old: list[Measured], new: list[Measured], found: list[Difference]) -> str:
    """The result as Markdown."""
    told = sum(1 for one in found if one.by)
    versions = old[0].versions
    rows = [
        f"| `{one.line[0]}:{one.line[1]}` | {one.kind} | {one.reason} | {', '.join(one.models[:3])}"
        f"{f' and {len(one.models) - 3} more' if len(one.models) > 3 else ''} |"
        f" {', '.join(one.by) or '-'} |"
        for one in found
    ]
    packages = ", ".join(f"{name} {v}" for name, v in sorted(versions.items()) if name != "torch")
    return "\n".join([
        "# `tclint upgrade` against two releases of torch",
        "",
        "<!-- Written by `python -m benchmarks.models.upgrade --markdown`; do not edit. -->",
        "",
        f"{len(old)} runs of models ({packages}) were compiled with torch {versions['torch']}",
        f"and with torch {new[0].versions['torch']}. A line *differs* where the graph broke with",
        "one of the two only. Lines that break because another one did are left out.",
        "",
        "```text",
        f"lines that break   {len(_broken(old))} with the old, {len(_broken(new))} with the new",
        f"lines that differ  {len(found)}, of which tclint upgrade predicts {told}",
        "```",
        "",
        "| line | kind | what torch says | models | predicted by |",
        "| --- | --- | --- | --- | --- |",
        *rows,
        "",
    ])  # fmt: skip


def _runs(path: Path) -> Runs:
    records = map(Measured.from_json, map(json.loads, path.read_text().splitlines()))
    return {(one.model, one.mode): one for one in records if one.failure is None}


def _broken(runs: Iterable[Measured]) -> dict[Line, list[tuple[Measured, BreakSite]]]:
    found: dict[Line, list[tuple[Measured, BreakSite]]] = {}
    for run in runs:
        for site in run.breaks:
            if not (site.gb_ids and set(site.gb_ids) <= CONSEQUENCES):
                found.setdefault((site.file, site.row), []).append((run, site))
    return found


def _predicted(changes: Path) -> dict[tuple[Line, str], str]:
    """The rule by file name, row and kind."""
    found = json.loads(changes.read_text())["changes"]
    return {((one["path"], one["row"]), one["kind"]): one["code"] for one in found if one["code"]}


def _by(
    run: Measured, line: Line, kind: str, predicted: Mapping[tuple[Line, str], str]
) -> set[str]:
    file, row = line
    rows = statement_rows(_installed(run, file, predicted), row)
    return {
        code
        for ((path, at), what), code in predicted.items()
        if what == kind and path.endswith(f"/{file}") and at in rows
    }


def _installed(run: Measured, file: str, predicted: Mapping[tuple[Line, str], str]) -> Path:
    """The file where it was checked; the runs may have been made on another machine."""
    paths = (path for (path, _), _ in predicted)
    package = file.split("/", maxsplit=1)[0]
    root = next(
        (path.split(f"/{package}/", maxsplit=1)[0] for path in paths if f"/{package}/" in path), ""
    )
    there = Path(root) / file
    return there if there.exists() else Path(run.root) / file


if __name__ == "__main__":
    main()
