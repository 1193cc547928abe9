"""Tables of what `tclint verify` said of programs, from its JSON reports.

Run: python -m benchmarks.verify.page benchmarks/verify/h[12]00.json > docs/benchmark-verify.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

_HEAD = """\
# tclint verify on a GPU

<!-- Written by `python -m benchmarks.verify.page`; do not edit. -->

What `tclint verify` reports for the programs in `fixtures/programs`, on {where}.
An arrow stands between the program as it is and the program after `tclint fix`, for the optimizer,
the configuration and the script of habits with `--unsafe-fixes`. Times are medians, by CUDA events,
of rounds in which the variants take turns; a ratio is given only where the difference is larger
than the noise.
"""
_COLUMNS = (
    "program",
    "mode",
    "breaks",
    "graphs",
    "recompiles",
    "host syncs, eager",
    "host syncs, compiled",
    "eager ms",
    "compiled ms",
    "ratio (95%)",
    "cold start s",
    "kernels, eager / compiled",
    "launches, compiled",
    "peak MiB, eager / compiled",
    "numbers",
)
_SPREAD = ("program", "processes", "form", "alone ms", "slowest rank ms", "scaling", "in step")


def page(targets: Sequence[Record]) -> str:
    """The page."""
    places = {(a["torch"], a["device"]) for t in targets for a in t["arms"] if a.get("torch")}
    where = "; ".join(f"{device}, torch {torch}" for torch, device in sorted(places))
    first = next((_device(target) for target in targets), "")
    rows = [(_named(t, first), *row[1:]) for t in targets for row in _rows(t)]
    text = _HEAD.format(where=where) + "\n" + _table(_COLUMNS, rows)
    spread = [row for target in targets for row in _ranks(target)]
    if spread:
        text += (
            "\n## Several GPUs\n\nEach rank gets a batch of the same size as the single process.\n"
        )
        text += "\n" + _table(_SPREAD, spread)
    reasons = [f"- {t['target']}: {reason}" for t in targets for reason in _failures(t)]
    return text + ("\n## What fails\n\n" + "\n".join(reasons) + "\n" if reasons else "")


def _rows(target: Record) -> Iterator[tuple[str, ...]]:
    arms = target["arms"]
    modes = [speedup["mode"] for speedup in target["speedups"]]
    for mode in modes:
        speeds = [arm["modes"].get(mode) for arm in arms]
        if None in speeds:
            yield _untimed(target, mode)
            continue
        first, last = speeds[0], speeds[-1]
        speedup = next(one for one in target["speedups"] if one["mode"] == mode)
        yield (
            target["target"],
            mode,
            _each(str(_own(arm["breaks"])) for arm in arms),
            _each(str(arm["graphs"]) for arm in arms),
            _each(str(len(speed["steady"]["recompiles"])) for speed in speeds),
            _each(_waits(arm["syncs"]) for arm in arms),
            _each(_waits(speed["steady"]["syncs"]) for speed in speeds),
            _ms(first["times"]["eager_ms"]),
            _each(_ms(speed["times"]["compiled_ms"]) for speed in speeds),
            _ratio(speedup),
            _each(f"{speed['times']['cold_start_s']:.1f}" for speed in speeds),
            f"{last['eager_kernels']['run']} / {last['kernels']['run']}",
            str(last["kernels"]["launches"]),
            f"{_mib(last['eager_memory'])} / {_mib(last['memory'])}",
            last["steady"]["like_eager"]["verdict"],
        )


def _device(target: Record) -> str:
    return next((arm["device"] for arm in target["arms"] if arm.get("device")), "")


def _named(target: Record, first: str) -> str:
    """The program, and on what it ran where that is not what the first ran on."""
    device = _device(target)
    return f"{target['target']}, {device}" if device not in {first, ""} else str(target["target"])


def _untimed(target: Record, mode: str) -> tuple[str, ...]:
    """A program of which one side does not run: the other's breaks and graphs."""
    arms = target["arms"]
    like = arms[-1].get("like_eager")
    known = {
        "program": target["target"],
        "mode": mode,
        "breaks": _each(_ran(arm, str(_own(arm["breaks"]))) for arm in arms),
        "graphs": _each(_ran(arm, str(arm["graphs"])) for arm in arms),
        "recompiles": _each(_ran(arm, str(len(arm["recompiles"]))) for arm in arms),
        "numbers": like["verdict"] if like else "-",
    }
    return tuple(known.get(column, "-") for column in _COLUMNS)


def _ran(arm: Record, cell: str) -> str:
    return "raises" if arm["failure"] else cell


def _ranks(target: Record) -> Iterator[tuple[str, ...]]:
    found = target["distributed"]
    for one in found["scaling"] if found else ():
        yield (
            target["target"],
            f"{found['size']} ({found['parallel']}, {found['backend']})",
            one["form"],
            f"{one['alone']:.2f}",
            f"{one['slowest']:.2f}",
            f"{one['efficiency']:.0%}",
            "no" if found["diverged"] else "yes",
        )


def _failures(target: Record) -> Iterator[str]:
    for arm in target["arms"]:
        if arm["failure"]:
            yield f"{arm['name']}: {_short(arm['failure']['message'])}"
    yield from map(_short, target["complaints"])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _each(cells: Iterator[str]) -> str:
    return " → ".join(cells)


def _own(breaks: Sequence[Record]) -> int:
    return sum(not one["by_torch"] for one in breaks)


def _waits(syncs: Sequence[Record] | None) -> str:
    return "-" if syncs is None else str(sum(sync["count"] for sync in syncs))


def _ms(timing: Record) -> str:
    return f"{timing['median']:.3f} ±{(timing['upper'] - timing['lower']) / 2:.3f}"


def _ratio(speedup: Record) -> str:
    if speedup["ratio"] is None:
        low, high = speedup.get("low"), speedup.get("high")
        known = f" ({low:.2f} to {high:.2f})" if low and high and low <= 1 <= high else ""
        return f"no measurable difference{known}" if "measurable" in speedup["note"] else "-"
    return f"{speedup['ratio']:.2f} ({speedup['low']:.2f} to {speedup['high']:.2f})"


def _mib(memory: Record) -> str:
    return f"{memory['allocated'] / 2**20:.1f}"


def _short(text: str) -> str:
    return text.partition(" (/")[0]


def main() -> None:
    """Print the page."""
    reports = [json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:]]
    sys.stdout.write(page([target for report in reports for target in report["targets"]]))


if __name__ == "__main__":
    main()
