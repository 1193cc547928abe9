"""Fix whole packages, in copies, and hold every promise of `tclint fix` against the result.

Run: python -m benchmarks.repair.packages [DIR...] [--tier safe|unsafe|settings]
     [--sample 20 --seed 1] [--python PYTHON --records FILE --markdown PAGE] [--keep FOLDER]

For each folder: the run does not crash, every file that parsed still parses, the edits that the
report lists make the new bytes of the old ones, no name is missing that was there, and a second run
changes nothing. With an interpreter that has what the packages need, every edited module that
could be imported still can be. Without a folder, only the page of what was recorded is written.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.repair.names import missing_names
from benchmarks.repair.package_page import SAFE, TIERS, Fixed, page, table
from benchmarks.repair.tree import import_failures
from tclint.diagnostics import Edit, Position, Span
from tclint.fix.conflicts import apply_edits
from tclint.source.decode import decode
from tclint.source.file import SourceFile

_CONTEXT = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Fix each folder's copy; 1 if a promise was broken."""
    options = _options(argv)
    results = [_noted(folder, options) for folder in options.folders]
    print(table(results))
    if options.markdown:
        options.markdown.write_text(page(_known(options.records) or results))
    shown = [text for one in results for text in one.shown]
    for text in random.Random(options.seed).sample(shown, min(options.sample, len(shown))):
        print(text)
    for one in results:
        for problem in one.broken:
            print(f"{one.name}: {problem}", file=sys.stderr)
    return int(any(one.broken for one in results))


def _noted(folder: Path, options: argparse.Namespace) -> Fixed:
    """Fix a folder's copy, and put the outcome in the place of an earlier one."""
    result = fix_package(folder, options.tier, options.python, options.keep)
    if options.records:
        kept = [one for one in _known(options.records) if one.key != result.key]
        lines = [json.dumps(one.to_json()) for one in [*kept, result]]
        options.records.write_text("\n".join(lines) + "\n")
    return result


def _known(records: Path | None) -> list[Fixed]:
    lines = records.read_text().splitlines() if records and records.exists() else []
    return [Fixed.from_json(json.loads(line)) for line in lines]


def fix_package(
    folder: Path, tier: str = SAFE, python: Path | None = None, keep: Path | None = None
) -> Fixed:
    """Fix a copy of a folder twice, and compare; ``keep`` is where the fixed copy stays."""
    with TemporaryDirectory() as place:
        copy = Path(place, folder.name)
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        before = _contents(copy)
        result = Fixed(_title(folder), len(before), tier)
        started = time.monotonic()
        report = _fix(copy, result)
        result.seconds = time.monotonic() - started
        if keep is not None:
            shutil.copytree(copy, keep / tier / result.name)
        if report is not None:
            _count(report, result)
            _compare(before, _contents(copy), report, result)
            lost = missing_names(copy) - missing_names(folder)
            result.broken += [f"a name is not there: {text}" for text in lost]
            if python is not None:
                edited = [path for path, old in before.items() if path.read_bytes() != old]
                result.broken += _unimportable(python, folder, copy, edited, result)
            _settled(copy, result)
    return result


def _title(folder: Path) -> str:
    """The package's name, with its version where the folder around tells it."""
    around = folder.resolve().parent.name
    return around if around.startswith(f"{folder.name}-") else folder.name


def _fix(copy: Path, result: Fixed) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "tclint", "fix", "--isolated", "--output-format", "json"]
    command += TIERS[result.tier]
    done = subprocess.run([*command, str(copy)], capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1} or "Traceback" in done.stderr:
        result.broken.append(f"exit code {done.returncode}: {done.stderr[-2000:]}")
        return None
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _count(report: dict[str, Any], result: Fixed) -> None:
    result.applied = Counter(one["code"] for one in report["fixes"])
    result.declined = Counter(one["code"] for one in report["findings"] if one["declined"])
    taken_back = [one["message"] for one in report["errors"] if "were reverted" in one["message"]]
    result.broken += [*taken_back, *(e["message"] for e in report["errors"] if "settle" in str(e))]


def _compare(
    before: dict[Path, bytes], after: dict[Path, bytes], report: dict[str, Any], result: Fixed
) -> None:
    """Rebuild every file from its edits, and parse what was changed."""
    fixes: dict[Path, list[dict[str, Any]]] = {}
    for one in report["fixes"]:
        fixes.setdefault(Path(one["filename"]), []).append(one)
    if before.keys() != after.keys():
        result.broken.append(f"files came or went: {before.keys() ^ after.keys()}")
    for path, old in before.items():
        made = fixes.get(path, [])
        edits = {_edit(edit) for one in made for edit in one["fix"]["edits"]}
        result.edits += len(edits)
        result.changed += after[path] != old
        if not edits:
            rebuilt = old
        else:
            file = decode(path, old)
            rebuilt = apply_edits(file, edits).encode(file.encoding)
            result.shown += [_show(file, one) for one in made]
        if rebuilt != after[path]:
            result.broken.append(f"{path}: the edits do not make what was written")
        if _parses(old) and not _parses(after[path]):
            result.broken.append(f"{path}: no longer parses")


def _unimportable(
    python: Path, folder: Path, copy: Path, edited: Sequence[Path], result: Fixed
) -> Iterator[str]:
    """The edited modules that import before fixing and do not afterwards."""
    names = [str(path.relative_to(copy.parent)) for path in edited]
    known = import_failures(python, folder.resolve().parent, names)
    result.imported = len(names) - len(known)
    for name, why in import_failures(python, copy.parent, names).items():
        if name not in known:
            yield f"{name} no longer imports: {why}"


def _settled(copy: Path, result: Fixed) -> None:
    once = _contents(copy)
    report = _fix(copy, result)
    if report is not None and report["fixes"]:
        result.broken.append(f"a second run fixes {len(report['fixes'])} more")
    if _contents(copy) != once:
        result.broken.append("a second run changes files")


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*.py"))}


def _edit(edit: dict[str, Any]) -> Edit:
    start, end = (Position(**edit[key]) for key in ("location", "end_location"))
    return Edit(Span(start, end), edit["content"])


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def _show(file: SourceFile, one: dict[str, Any]) -> str:
    """One fix as a person would want to judge it: the code around, before and after."""
    edits = sorted(_edit(edit) for edit in one["fix"]["edits"])
    first, last = edits[0].span.start.row, edits[-1].span.end.row
    near = slice(max(first - 1 - _CONTEXT, 0), last + _CONTEXT)
    more = apply_edits(file, edits).count("\n") - file.text.count("\n")
    new = SourceFile.from_text(file.path, apply_edits(file, edits))
    old_code = "".join(file.lines[near])
    new_code = "".join(new.lines[near.start : near.stop + more])
    place = f"{one['filename']}:{one['location']['row']}"
    head = f"### {place}: {one['code']} ({one['fix']['applicability']})"
    said = f"{one['message']}. Fix: {one['fix']['message']}."
    return f"{head}\n{said}\n--- before\n{old_code}--- after\n{new_code}"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.repair.packages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--tier", choices=TIERS, default=SAFE, help="what may be done")
    parser.add_argument("--python", type=Path, help="an interpreter to import edited modules with")
    parser.add_argument(
        "--sample", type=int, default=0, help="show this many fixes, drawn at random"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--records", type=Path, help="outcomes to add this one to, as JSON lines")
    parser.add_argument("--markdown", type=Path, help="write the tables of all records")
    parser.add_argument("--keep", type=Path, help="a folder to leave the fixed copies in")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
