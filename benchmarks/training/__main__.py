"""What habits of training loops cost: ``python -m benchmarks.training``.

``--measure REPORT.json`` measures on this machine; without it the report that is kept is taken.
Either way the page of the documentation, the figures in the pages of rules, and what rules are said
to be worth, are written anew.
``--check`` writes nothing and fails where they would change.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .page import page, rewritten, rewritten_rules

if TYPE_CHECKING:
    from .habits import World
    from .measure import Turns

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REPORT = HERE / "h200.json"
PAGE = ROOT / "docs" / "benchmark-training.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=Path, help="measure here, and write this report")
    parser.add_argument("--report", type=Path, default=REPORT, help="what the pages are made from")
    parser.add_argument("--device", default="", help="cpu or cuda; cuda if there is one")
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--steps", type=int, default=10, help="of each turn")
    parser.add_argument("--habits", default="", help="only these: parts of names, with commas")
    parser.add_argument("--add", type=Path, help="a report whose habits take the place of the kept")
    parser.add_argument("--forms", default="eager,compiled")
    parser.add_argument("--check", action="store_true", help="fail where a page would change")
    options = parser.parse_args()
    if options.measure is not None:
        report = measure(options)
        options.measure.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        return
    report = json.loads(options.report.read_text(encoding="utf-8"))
    if options.add is not None:
        report = joined(report, json.loads(options.add.read_text(encoding="utf-8")))
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    pages = dict(rewritten(report, sorted((ROOT / "rules").glob("*/*.md"))))
    pages |= rewritten_rules(report, sorted((ROOT / "rules").glob("*/*.py")))
    pages[PAGE] = page(report)
    changed = [one for one, text in pages.items() if not _holds(one, text)]
    if options.check and changed:
        sys.exit("not as measured: " + ", ".join(str(one.relative_to(ROOT)) for one in changed))
    for one in changed:
        one.write_text(pages[one], encoding="utf-8")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The report of this machine: each habit, by size of the model, eager and compiled."""
    import torch

    from .habits import HABITS, World
    from .measure import Turns, measured, same_bits
    from .model import CPU_SIZES, GPU_SIZES

    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    on_gpu = device.type == "cuda"
    where = torch.cuda.get_device_name() if on_gpu else "one thread of a CPU"
    if not on_gpu:
        torch.set_num_threads(1)
    turns = Turns(options.turns, options.steps)
    rows: list[dict[str, Any]] = []
    clock: list[dict[str, Any]] = []
    sizes: list[dict[str, Any]] = []
    for size in GPU_SIZES if on_gpu else CPU_SIZES:
        world = World(size, device)
        sizes.append({**size._asdict(), "tensors": len(world.parameters)})
        for form in options.forms.split(","):
            world.call = torch.compile(world.model) if form == "compiled" else world.model
            if on_gpu:
                clock += _clocked(world, size.name, form, turns)
            for habit in HABITS:
                left_out = (habit.gpu_only and not on_gpu) or (
                    habit.eager_only and form == "compiled"
                )
                if left_out or not any(one in habit.name for one in options.habits.split(",")):
                    continue
                gc.collect()
                times = measured(habit, world, turns)
                rows.append(
                    {
                        "habit": habit.name,
                        "model": size.name,
                        "form": form,
                        "found": habit.found,
                        "remedy": habit.remedy,
                        "rules": habit.rules,
                        "found_ms": round(times.found, 4),
                        "remedy_ms": round(times.remedy, 4),
                        "saved": round(times.saved, 4),
                        "low": round(times.low, 4),
                        "high": round(times.high, 4),
                    }
                )
                print(habit.name, size.name, form, times, flush=True)
    names = [one.name for one in HABITS]
    rows.sort(key=lambda row: names.index(str(row["habit"])))
    version = torch.__version__.partition("+")[0]
    return {
        "where": f"{where} (torch {version})",
        "turns": turns.count,
        "steps": turns.steps,
        "sizes": sizes,
        "rows": rows,
        "habits": names,
        "clock": clock,
        "bits": same_bits(device),
    }


def joined(kept: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """One report of two that are of the same machine and the same models."""
    for same in ("where", "turns", "steps", "sizes"):
        if kept[same] != added[same]:
            sys.exit(f"the reports differ in `{same}`: {kept[same]} and {added[same]}")
    names = added["habits"]
    anew = {row["habit"] for row in added["rows"]}
    rows = [row for row in kept["rows"] if row["habit"] not in anew and row["habit"] in names]
    rows = sorted([*rows, *added["rows"]], key=lambda row: names.index(row["habit"]))
    return {**kept, "rows": rows, "clock": added["clock"] or kept["clock"]}


def _clocked(world: World, size: str, form: str, turns: Turns) -> list[dict[str, Any]]:
    """The forward pass, and one large product, by a clock that does not wait."""
    import torch

    from .measure import shown_by_clock

    matrix = torch.randn(8192, 8192, device=world.device)
    works: dict[str, Callable[[], object]] = {
        f"forward of the {size} model, {form}": lambda: world.loss(world.batch)
    }
    if form == "eager":
        works["a product of two 8192 x 8192 matrices"] = lambda: matrix @ matrix
    for work in works.values():
        work()
    told = []
    for name, work in works.items():
        shown, true = shown_by_clock(work, turns)
        told.append({"work": name, "shown": shown, "true": true})
    return told


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
