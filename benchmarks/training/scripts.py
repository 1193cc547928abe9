"""What tclint finds in public training scripts: ``python -m benchmarks.training.scripts``.

``--sources FOLDER`` reads checkouts of the repositories (``FOLDER/owner+name``, at the commits that
are named in ``scripts.json``) and records what tclint finds there; without it the record is taken.
Either way the page of the documentation is written anew. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.diagnostics import Diagnostic
from tclint.lint.engine import check_files
from tclint.lint.registry import rule_by_code
from tclint.semantics.events import OptimizerInit, ParameterLoop, TrainingCall

from .page import LEAST, is_measurable

HERE = Path(__file__).resolve().parent
LISTED = HERE / "scripts.json"
FOUND = HERE / "scripts_found.json"
RUNS = HERE / "script_runs.json"
MEASURED = HERE / "h200.json"
PAGE = HERE.parent.parent / "docs" / "benchmark-training-scripts.md"
_OF_STEPS = (TrainingCall, ParameterLoop, OptimizerInit)
Row = Mapping[str, Any]

HEAD = """\
# What tclint finds in public training scripts

<!-- Written by `python -m benchmarks.training.scripts`; do not edit. -->

Twelve public training scripts were first read by hand, and every line was listed that slows a
training step down or shows a wrong number. Then tclint checked them, with its default settings.
What each line is worth comes from the [measured table](benchmark-training.md): the most that its
remedy measurably saves of a step there, eager or compiled like the script. "-" is under 1% of a
step or within the noise; "?" was not measured. Findings about compiling the model are not counted.

- Of the {worthy} listed lines that are worth 1% of a step or more, tclint shows {shown}:
  **{recall:.0%}**.
- Of what it shows above hint, {nothing} lines are worth nothing, and {false} are wrong.
- Of the {others} listed lines that are worth less, or were not measured, it shows {noted}, hints
  included.

"""
WELL = """
## Loops that are written well

{count} files of libraries and recipes that are known for their speed: how many training loops are
seen there, and what is shown above hint.

| repository | file | loops | shown |
| --- | --- | --- | --- |
"""
BUT = """
Four other files were among the twenty until a finding in each was read and found to be right, and
worth 1% of a step or more by the table. The last four above took their places; they were chosen
before it was known what tclint shows there.

| repository | file | loops | shown |
| --- | --- | --- | --- |
"""
RAN = """
## A script of twelve habits

`fixtures/programs/train_script.py` has twelve habits of this kind. Its step (torch 2.11), recorded
by `tclint run`, before and after `tclint fix --unsafe-fixes --weak`; the norm that is
read from each parameter, and the cache that each step empties, stay for the author. The host, not
the GPU, is what these steps wait for, so machines are not to be compared.

`tclint verify` of both passes on an H100 of a machine whose other GPU did nothing: what the fixed
script gives and leaves is as near to float64 as what the script gave before. A call of 8 steps
takes 354 ms before and 329 ms after, eager; compiled 302 and 292 ms, 15 rounds in turns: no
measurable difference (0.92 to 1.21 times; [its row](benchmark-verify.md)).

| script | on | steps | ms a step | interval |
| --- | --- | --- | --- | --- |
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, help="where the checkouts are")
    parser.add_argument(
        "--runs", type=Path, help="reports of `tclint run`: `script_before1.json`, and so on"
    )
    parser.add_argument("--check", action="store_true", help="fail where the page would change")
    options = parser.parse_args()
    listed = json.loads(LISTED.read_text(encoding="utf-8"))
    if options.sources is not None:
        found = recorded(listed, options.sources)
        FOUND.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.runs is not None:
        told = [stepped(path) for path in sorted(options.runs.glob("script_*.json"))]
        RUNS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    text = page(listed, json.loads(FOUND.read_text(encoding="utf-8")), measured())
    if options.check and PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"not as recorded: {PAGE.name}")
    PAGE.write_text(text, encoding="utf-8")


def stepped(report: Path) -> dict[str, Any]:
    """What one report of `tclint run` says of a step of the script."""
    rank = json.loads(report.read_text(encoding="utf-8"))["ranks"][0]
    name = report.stem.removeprefix("script_").rstrip("0123456789")
    step = {key: round(value, 2) for key, value in rank["step_ms"].items()}
    return {"script": name, "on": rank["process"]["device"], "steps": rank["steps"], **step}


def measured() -> dict[tuple[str, str], float]:
    """What each habit is worth, eager and compiled: the most that is measurable, 0 for nothing."""
    worth: dict[tuple[str, str], float] = {("clock", "eager"): 0.0, ("clock", "compiled"): 0.0}
    for row in json.loads(MEASURED.read_text(encoding="utf-8"))["rows"]:
        key = row["habit"], row["form"]
        worth[key] = max(worth.get(key, 0.0), row["saved"] if is_measurable(row) else 0.0)
    return worth


def recorded(listed: Row, sources: Path) -> dict[str, dict[str, Any]]:
    """What tclint finds in each script and each well-written loop."""
    found = {}
    for script in listed["scripts"]:
        root = sources / script["repository"].replace("/", "+")
        _hold_to_their_lines(script, root)
        found[script["name"]] = _looked_at(root, script["files"])
    for loop in (*listed["well_written"], *listed["but_for_a_line"]):
        root = sources / loop["repository"].replace("/", "+")
        found[f"{loop['repository']}/{loop['file']}"] = _looked_at(root, [loop["file"]])
    return found


def _hold_to_their_lines(script: Row, root: Path) -> None:
    """Exit where a listed line is not what it was."""
    for item in script["expected"]:
        lines = (root / item["file"]).read_text(encoding="utf-8").splitlines()
        if lines[item["line"] - 1].strip() != item["text"]:
            sys.exit(f"{root.name}/{item['file']}:{item['line']} is not at {script['commit']}")


def _looked_at(root: Path, files: Sequence[str]) -> dict[str, Any]:
    run = check_files([root / name for name in files], Config(root, weak=True))
    found = list(_findings(root, [result.diagnostic for result in run.results]))
    return {"loops": run.looked.loop_count, "findings": found}


def _findings(root: Path, diagnostics: Sequence[Diagnostic]) -> Iterator[dict[str, Any]]:
    for one in diagnostics:
        if not _is_of_steps(one):
            continue
        start, end = one.span.start.row, one.span.end.row
        named = [int(row) for row in re.findall(r"\d+", one.message.partition("; see line")[2])]
        yield {
            "file": one.path.relative_to(root).as_posix(),
            "line": start,
            "lines": sorted({*range(start, end + 1), *named}),
            "code": one.code,
            "worth": one.worth.value,
            "message": one.message,
        }


def _is_of_steps(one: Diagnostic) -> bool:
    return rule_by_code(one.code).on in _OF_STEPS or one.code == "TCL620"


def page(listed: Row, found: Row, worth: Mapping[tuple[str, str], float]) -> str:
    """The page: the score, a table of each script, and the well-written loops."""
    score = Score()
    tables = [
        _script(script, found[script["name"]]["findings"], listed["judged"], worth, score)
        for script in listed["scripts"]
    ]
    loops, others = (
        [_loop(loop, found, listed["judged"]) for loop in listed[kind]]
        for kind in ("well_written", "but_for_a_line")
    )
    count = len(loops)
    quiet = sum(row.endswith("| nothing |\n") for row in loops)
    loops += [f"\nIt shows nothing in {quiet} of the {count}.\n", BUT, *others, *_runs()]
    return "".join([HEAD.format(**score.told()), *tables, WELL.format(count=count), *loops])


def _runs() -> Iterator[str]:
    """The steps of the script of twelve habits, as recorded."""
    told = json.loads(RUNS.read_text(encoding="utf-8"))
    yield RAN
    for one in sorted(told, key=lambda run: (run["on"], run["script"]), reverse=True):
        span = f"{one['low']:.1f} to {one['high']:.1f}"
        yield f"| {one['script']} | {one['on']} | {one['steps']} | {one['value']:.1f} | {span} |\n"


class Score:
    """What was counted over all scripts."""

    def __init__(self) -> None:
        self.worthy = self.shown = self.others = self.noted = self.nothing = self.false = 0

    def told(self) -> dict[str, float]:
        """For the page's head."""
        return {**vars(self), "recall": self.shown / max(self.worthy, 1)}

    def count(self, value: float | None, finding: Row | None) -> None:
        """One listed line, what it is worth, and what tclint shows there."""
        above = finding is not None and finding["worth"] != "hint"
        if value is not None and value >= LEAST:
            self.worthy += 1
            self.shown += above
        else:
            self.others += 1
            self.noted += finding is not None
            self.nothing += above and value is not None


def _script(
    script: Row,
    findings: Sequence[Row],
    judged: Sequence[Row],
    worth: Mapping[tuple[str, str], float],
    score: Score,
) -> str:
    commit = script["commit"]
    lines = [f"## {script['name']}\n\n", f"`{script['repository']}` at `{commit[:12]}`"]
    if not script["expected"]:
        return "".join([*lines, ": nothing to find.\n", _others(script, findings, judged, score)])
    lines.append(", " + script["form"] + ".\n\n| line | listed | worth | tclint |\n")
    lines.append("| --- | --- | --- | --- |\n")
    for item in script["expected"]:
        value = worth.get((item["habit"], script["form"]))
        finding = next((one for one in findings if _is_at(one, item)), None)
        score.count(value, finding)
        lines.append(_row(item, value, finding))
    return "".join([*lines, _others(script, findings, judged, score)])


def _is_at(finding: Row, item: Row) -> bool:
    """True at a listed line, or where else the same may be told: at the call that runs it."""
    places = [f"{finding['file']}:{line}" for line in finding["lines"]]
    return f"{item['file']}:{item['line']}" in places or item.get("also") in places


def _row(item: Row, value: float | None, finding: Row | None) -> str:
    shown = "?" if value is None else f"{value:.0%}" if value >= LEAST else "-"
    told = "" if finding is None else _told(finding)
    if finding is not None and finding["file"] != item["file"]:
        told += f", at `{finding['file']}:{finding['line']}`"
    return f"| `{item['file']}:{item['line']}` | {item['why']} | {shown} | {told} |\n"


def _told(finding: Row) -> str:
    hint = ", hint" if finding["worth"] == "hint" else ""
    return f"{finding['code']}{hint}"


def _others(script: Row, findings: Sequence[Row], judged: Sequence[Row], score: Score) -> str:
    """Findings that nobody had listed, with what was said of them afterwards."""
    told = []
    for one in findings:
        if one["worth"] == "hint" or any(_is_at(one, item) for item in script["expected"]):
            continue
        said = next(
            (j for j in judged if (j["script"], j["file"], j["line"], j["code"])
             == (script["name"], one["file"], one["line"], one["code"])),
            {"verdict": "false", "why": "nobody has judged it"},
        )  # fmt: skip
        score.false += said["verdict"] == "false"
        score.nothing += said["verdict"] == "worth nothing"
        told.append(
            f"- {one['code']} at `{one['file']}:{one['line']}`, not listed: {said['verdict']}; "
            f"{said['why']}.\n"
        )
    return "\n" + ("".join([*told, "\n"]) if told else "")


def _verdict(name: str, finding: Row, judged: Sequence[Row]) -> str:
    """What was said of a finding in a well-written loop."""
    said = (
        f"{one['verdict']}: {one['why']}"
        for one in judged
        if one["script"] == name
        and one["line"] == finding["line"]
        and one["code"] == finding["code"]
    )
    return next(said, "not judged")


def _loop(loop: Row, found: Row, judged: Sequence[Row]) -> str:
    name = f"{loop['repository']}/{loop['file']}"
    seen = found[name]
    shown = [
        f"`{one['line']}: {one['code']}` ({_verdict(name, one, judged)})"
        for one in seen["findings"]
        if one["worth"] != "hint"
    ]
    names = f"| `{loop['repository']}` | `{loop['file']}` | {seen['loops']} |"
    return f"{names} {', '.join(shown) or 'nothing'} |\n"


if __name__ == "__main__":
    main()
