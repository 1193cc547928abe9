"""The page of documentation that tells what ``tclint run`` did on scripts and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_SCRIPTS = """\
## Public scripts

Unmodified scripts of public repositories, on small synthetic data. Each ran once without the
recorder and once with it. *Same* means that both runs printed the same losses, saved the same
weights, bit for bit, and ended with the same status. *Joined* counts Dynamo's break records that
have a line, *explained* the lines that break and that a rule explains.
{times}

| script | step | compiled | joined | explained | recorded | the report's first line |
| --- | --- | --- | --- | --- | --- | --- |
"""
_PRICES = """\
## Prices

Small programs, each with a habit whose remedy is known. *Price* is the most that the lines cost, as
`tclint run` reports it. *Saved* is how much shorter a step is with the remedy, with both versions
taking turns, and how much two rounds differ. Both are shares of a step. *Line* is the place in the
report, where "none" means "worth nothing here".

| program | step | price | saved | line |
| --- | --- | --- | --- | --- |
"""


_SHARED = "Times are those of a shared machine, and mean little by themselves."
_OWN = "Each had the GPU for itself, while others started on the same CPU."


def page(
    scripts: Sequence[Mapping[str, Any]],
    prices: Sequence[Mapping[str, Any]],
    file: str,
    note: str = "",
) -> str:
    """The page; a note says what its reader has to know of how the results came about."""
    end = f"\n## How these were measured\n\n{note}\n" if note else ""
    return "\n".join(_lines(scripts, prices, file)) + "\n" + end


def _lines(
    scripts: Sequence[Mapping[str, Any]], prices: Sequence[Mapping[str, Any]], file: str
) -> Iterator[str]:
    on_gpu = any(one["device"] == "cuda" for one in scripts)
    yield f"# Benchmark of `tclint run`{f' on an {_device(scripts[0])}' if on_gpu else ''}\n"
    yield f"Written by `python -m benchmarks.run_scripts --page {file}`.\n"
    yield _SCRIPTS.rstrip().format(times=_OWN if on_gpu else _SHARED)
    yield from map(_script, scripts)
    records = sum(one["records"] for one in scripts)
    joined = sum(one["joined"] for one in scripts)
    known, of = (sum(one["explained"][n] for one in scripts) for n in (0, 1))
    same = sum(one["same"] for one in scripts)
    alike = f"\n{same} of {len(scripts)} scripts gave the same with the recorder and without; "
    if records:
        explained = f"a rule explains {known} of {of} lines that break."
        yield f"{alike}{joined} of {records} break records have a line; {explained}"
    else:
        yield f"{alike}none of them breaks its graph."
    proved = [one for one in scripts if one["proof"]]
    if proved:
        yield "\n### With the fixes\n"
        yield "| script | step before | step after | faster | breaks | losses |"
        yield "| --- | --- | --- | --- | --- | --- |"
        yield from map(_proved, proved)
    for told in prices:
        yield "\n" + _PRICES.rstrip()
        yield from map(_priced, told["found"])
        yield f"\n{_agreed(told)}"


def _script(one: Mapping[str, Any]) -> str:
    link = f"[{one['name']}](https://github.com/{one['repository']})"
    known, of = one["explained"]
    first = one["first_lines"][0] if one["first_lines"] else _nothing(one)
    same = "same" if one["same"] else "differs" if one["repeats"] else "never the same twice"
    cells = (
        f"{link}, {_device(one)}",
        f"{one['step_ms']:.3g} ms",
        f"{one['compiled']}",
        f"{one['joined']}/{one['records']}",
        f"{known}/{of}",
        same,
        _code(first),
    )
    return f"| {' | '.join(cells)} |"


def _device(one: Mapping[str, Any]) -> str:
    """The short name of what a script ran on: `H200` for `NVIDIA H200`."""
    if one["device"] != "cuda":
        return "CPU"
    named = one["report"]["ranks"][0]["process"]["device"]
    return next((word for word in named.split() if word[-1].isdigit()), named)


def _nothing(one: Mapping[str, Any]) -> str:
    return "nothing here is worth a change" if one["step_ms"] else "; ".join(one["notes"])


def _code(text: str) -> str:
    """A line of a report: its columns need no more than one space between them."""
    return "`` " + " ".join(text.split()).replace("|", "\\|") + " ``"


def _proved(one: Mapping[str, Any]) -> str:
    proof = one["proof"]
    before, after = (proof[key]["value"] for key in ("before_ms", "after_ms"))
    times = proof["speedup"]
    faster = f"{times['value']:.3g}x ({times['low']:.3g} to {times['high']:.3g})"
    breaks = " → ".join(map(str, proof["breaks"]))
    cells = one["name"], f"{before:.3g} ms", f"{after:.3g} ms", faster, breaks
    return f"| {' | '.join((*cells, proof['losses']))} |"


def _priced(one: Mapping[str, Any]) -> str:
    if one["once"]:
        price, saved = f"{one['price']:.2g} s once", f"{one['saved']:.2g} s once"
    else:
        low, high = one["low"] / one["step"], one["high"] / one["step"]
        price = f"{one['price'] / one['step']:.0%} ({low:.0%} to {high:.0%})"
        saved = f"{one['saved'] / one['plain']:.0%} ± {one['noise'] / one['plain']:.0%}"
    line = str(one["rank"]) if one["rank"] else "none"
    return f"| {one['program']} | {one['step']:.3g} ms | {price} | {saved} | {line} |"


def _agreed(told: Mapping[str, Any]) -> str:
    held = told["held_by_top_three"]
    return (
        f"Measured with torch {told['device']}: rank correlation of prices and savings "
        f"{told['rank_correlation']:.2f}; the first three lines hold {held:.0%} of what can be "
        f"gained; the report says that nothing is to be gained in {told['worthless_said']} of "
        f"{told['worthless']} where that is so."
    )
