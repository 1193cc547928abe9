"""What was measured as a page of the documentation, and as a sentence of each rule's page."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HEAD = """\
# What habits of training loops cost

<!-- Written by `python -m benchmarks.training`; do not edit. -->

A training step with a habit, and the same step with the remedy, on {where}. The model is a GPT:
{sizes}. A step is a forward pass under bfloat16 autocast, a backward pass and a fused AdamW,
except where the optimizer itself is measured. Both arms take turns ({turns} turns of {steps}
steps, one synchronization at the end of each); times are medians in milliseconds a step. "Saved"
is the part of the found step that the remedy saves, with the 95% interval of its median over the
turns. A dash means nothing measurable: the interval reaches zero, or the saving is below 1%. By
chance about one in twenty such intervals is wrong.

The same line costs nothing or several percent, depending on whether the CPU runs ahead of the
device: what a habit costs in your loop, `tclint run` measures there.

| habit | model | form | as found | ms | remedy | ms | saved | rules |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
CLOCK = """
## A clock that does not wait

`time.perf_counter()` before and after, without `torch.cuda.synchronize()`: the clock shows how long
it took to launch the work.

| work | shown ms | true ms |
| --- | --- | --- |
"""
BITS = """
## Averages at once, and their bits

200 tensors of different sizes, averaged one after the other and by `torch._foreach_*`.

| operation | bit for bit the same |
| --- | --- |
"""
SENTENCE = "Measured on {where}, with two sizes of a model, eager and compiled: "
LEAST = 0.01
LOW, MEDIUM = 0.05, 0.2
_WORTH = re.compile(r"^    worth = Worth\.\w+\n", re.MULTILINE)
_MEASURED = re.compile(
    r'^    measured = (?:"[^"\n]*"|\((?:\n        "[^"\n]*")+\n    \))\n', re.MULTILINE
)
Row = Mapping[str, Any]


def page(report: Row) -> str:
    """The page of a report."""
    sizes = "; ".join(
        f"{one['name']}: {one['layers']} layers of {one['width']}, {one['batch']} x "
        f"{one['tokens']} tokens, {one['tensors']} parameters"
        for one in report["sizes"]
    )
    turns, steps = report["turns"], report["steps"]
    head = HEAD.format(where=report["where"], sizes=sizes, turns=turns, steps=steps)
    lines = ["| " + " | ".join(_cells(row)) + " |\n" for row in report["rows"]]
    clock = [
        f"| {work} | {one['shown']:.2f} | {one['true']:.2f} |\n"
        for work, one in {one["work"]: one for one in report["clock"]}.items()
    ]
    bits = [f"| {name} | {'yes' if same else 'no'} |\n" for name, same in report["bits"].items()]
    return "".join([head, *lines, CLOCK if clock else "", *clock, BITS, *bits])


def sentence(report: Row, code: str) -> str | None:
    """What a rule's page says of its habits; None for a rule without any."""
    rows = [row for row in report["rows"] if code in row["rules"]]
    if not rows:
        return None
    habits = dict.fromkeys(row["habit"] for row in rows)
    said = [f"{habit}, {_in_short([r for r in rows if r['habit'] == habit])}" for habit in habits]
    return _filled(SENTENCE.format(where=report["where"]) + "; ".join(said) + ".")


def with_sentence(text: str, said: str) -> str:
    """A rule's page with its sentence: in the place of the old one, else before "Fix safety"."""
    old = re.compile(r"^Measured on [^\n]*\n(?:[^\n]+\n)*", re.MULTILINE)
    if old.search(text):
        return old.sub(lambda _: said, text, count=1)
    return text.replace("\n## Fix safety\n", f"\n{said}\n## Fix safety\n", 1)


def rewritten(report: Row, rules: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The pages of rules that have a habit in the report, as they should be."""
    for path in rules:
        text = path.read_text(encoding="utf-8")
        code = re.search(r"^# [\w-]+ \((TCL\d+)\)", text)
        said = sentence(report, code[1]) if code else None
        if said is not None:
            yield path, with_sentence(text, said)


def rewritten_rules(report: Row, rules: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The modules of rules that have a habit in the report: what they are worth, and by what."""
    for path in rules:
        text = path.read_text(encoding="utf-8")
        code = re.search(r'^    code = "(TCL\d+)"$', text, re.MULTILINE)
        rows = [row for row in report["rows"] if code and code[1] in row["rules"]]
        if rows:
            text = _WORTH.sub(f"    worth = Worth.{level(rows)}\n", text, count=1)
            yield path, _MEASURED.sub(_assigned(in_short(rows)), text, count=1)


def level(rows: Sequence[Row]) -> str:
    """What removing a habit is worth: a hint where fewer than a quarter of the cases save anything.

    Else it is the middle one of those that do which decides.
    """
    parts = [row["saved"] for row in rows if is_measurable(row) and row["saved"] > 0]
    if 4 * len(parts) < len(rows):
        return "HINT"
    middle = statistics.median(parts)
    return "LOW" if middle < LOW else "MEDIUM" if middle < MEDIUM else "HIGH"


def in_short(rows: Sequence[Row]) -> str:
    """What the cases of a rule save, in a few words."""
    gained = [row for row in rows if row["saved"] > 0 or not is_measurable(row)]
    lost = len(rows) - len(gained)
    said = _in_short([*gained, *({**row, "low": 0, "high": 0} for row in rows[:lost])])
    return said.replace("of the step in ", "of a training step in ") + " (H200)"


def _assigned(text: str) -> str:
    line = f'    measured = "{text}"\n'
    return line if len(line) <= 101 else f'    measured = (\n        "{text}"\n    )\n'


def _cells(row: Row) -> tuple[str, ...]:
    ms = (f"{row['found_ms']:.2f}", f"{row['remedy_ms']:.2f}")
    rules = ", ".join(row["rules"])
    found, remedy = f"`{row['found']}`", f"`{row['remedy']}`"
    return row["habit"], row["model"], row["form"], found, ms[0], remedy, ms[1], _saved(row), rules


def is_measurable(row: Row) -> bool:
    """True where an interval leaves no doubt that a remedy changes 1% of the step or more."""
    low, high = row["low"], row["high"]
    return not low <= 0 <= high and abs(row["saved"]) >= LEAST


def _saved(row: Row) -> str:
    interval = f"({row['low']:.1%} to {row['high']:.1%})"
    return f"**{row['saved']:.1%}** {interval}" if is_measurable(row) else f"- {interval}"


def _in_short(rows: Sequence[Row]) -> str:
    """What a habit's cases have in common."""
    parts = sorted(row["saved"] for row in rows if is_measurable(row))
    if not parts:
        return f"nothing measurable in {_count(len(rows))}"
    low, high = f"{parts[0]:.0%}", f"{parts[-1]:.0%}"
    span = low if low == high else f"{low} to {high}"
    of = f"{len(parts)} of {_count(len(rows))}" if len(parts) < len(rows) else _count(len(rows))
    return f"{span} of the step in {of}"


def _count(number: int) -> str:
    return f"{number} case" if number == 1 else f"{number} cases"


def _filled(text: str) -> str:
    """A paragraph in lines of at most 98 letters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= 98:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines) + "\n"
