"""``tclint run`` on public scripts as they are: ``python -m benchmarks.run_scripts``.

``--checkouts`` is a folder with a checkout of each repository (``git clone
https://github.com/OWNER/NAME``), ``--python`` a Python in which the scripts can run; tclint runs in
this one. Each script runs on small made data, alone and recorded: what it prints of its losses and
what it saves must be the same. ``--prove`` applies the fixes in turns as well.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from benchmarks.run_scripts import desk as desks
from benchmarks.run_scripts.listed import SCRIPTS, Script
from benchmarks.run_scripts.page import page
from tclint.records import record
from tclint.run.events import libraries_of
from tclint.run.read import Reading, read_folder, training
from tclint.verify.break_text import read_break

DIGEST = """
import hashlib, sys, torch
def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)
whole = hashlib.sha256()
for name in sys.argv[1:]:
    if name.endswith(".safetensors"):
        whole.update(open(name, "rb").read())
        continue
    for one in tensors(torch.load(name, map_location="cpu", weights_only=False)):
        plain = one.detach().contiguous().reshape(-1)
        whole.update(bytes(plain.view(torch.uint8).numpy()) if plain.numel() else b"")
print(whole.hexdigest())
"""


@record(frozen=True)
class Arm:
    """One run: its exit status, how long it took, the losses that it printed, what it saved."""

    status: int
    seconds: float
    losses: tuple[str, ...]
    saved: str


@record(frozen=True)
class Measured:
    """One script, alone and recorded.

    ``repeats`` is false where it does not give the same twice, even alone. ``records`` are
    Dynamo's break records, ``joined`` those that have a line of a file that is there;
    ``explained`` are lines that break, and how many of them a rule explains.
    """

    name: str
    repository: str
    commit: str
    alone: Arm
    recorded: Arm
    step_ms: float = 0.0
    steps: int = 0
    compiled: int = 0
    records: int = 0
    joined: int = 0
    explained: tuple[int, int] = (0, 0)
    first_lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    proof: Mapping[str, Any] | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    repeats: bool = True

    @property
    def same(self) -> bool:
        """Whether the recorder changed nothing: neither status nor losses nor weights."""
        return same(self.alone, self.recorded)


def same(one: Arm, other: Arm) -> bool:
    """Whether two runs printed the same losses, and saved the same."""
    return (one.status, one.losses, one.saved) == (other.status, other.losses, other.saved)


def main() -> int:
    """Measure, print, write the page."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    found = [] if options.only_page else [*_all(options)]
    if options.page is not None:
        kept = {path.stem: json.loads(path.read_text()) for path in options.out.glob("*.json")}
        scripts = [kept[one.name] for one in SCRIPTS if one.name in kept]
        prices = [json.loads(path.read_text()) for path in options.prices]
        options.page.write_text(page(scripts, prices, str(options.page), options.note))
    wrong = [one for one in found if (one.repeats and not one.same) or one.joined != one.records]
    return 1 if wrong else 0


def _all(options: argparse.Namespace) -> Iterator[Measured]:
    wanted = [one for one in SCRIPTS if not options.only or one.name in options.only.split(",")]
    for script in wanted:
        if getattr(script, options.device) is None:
            print(f"{script.name}: not for this device")
        elif not (options.checkouts / script.checkout).is_dir():
            print(f"{script.name}: no checkout {options.checkouts / script.checkout}")
        else:
            one = measured(script, options)
            data = asdict(one) | {"same": one.same, "device": options.device}
            (options.out / f"{script.name}.json").write_text(json.dumps(data, indent=1))
            print(_line(one), flush=True)
            yield one


def _line(one: Measured) -> str:
    known, of = one.explained
    return (
        f"{one.name}: status {one.recorded.status}, {_same(one)}, "
        f"{len(one.alone.losses)} losses, step {one.step_ms:.4g} ms, {one.compiled} compiled, "
        f"breaks joined {one.joined}/{one.records}, explained {known}/{of}, "
        f"{one.alone.seconds:.0f} s alone, {one.recorded.seconds:.0f} s recorded"
    )


def _same(one: Measured) -> str:
    return "same" if one.same else "DIFFERENT" if one.repeats else "never the same twice"


def measured(script: Script, options: argparse.Namespace) -> Measured:
    """Run one script alone, recorded, and with its fixes where these are wanted."""
    desk = Path(tempfile.mkdtemp(prefix=f"tclint-{script.name}-"))
    try:
        alone = _arm(script, options, desk, ())
        report, kept = desk / "report.json", desk / "kept"
        recorder = (sys.executable, "-m", "tclint", "run", "--output-format", "json")
        recorder += ("--output-file", str(report), "--keep", str(kept))
        if options.prove:
            recorder += ("--prove", "--unsafe-fixes", "--remedies", "settings")
        recorded = _arm(script, options, desk, (*recorder, "--"))
        told = json.loads(report.read_text())
        text = _tclint(("trace", str(kept)), desk / "work" / script.folder)
        (options.out / f"{script.name}.txt").write_text(text)
        html = (options.out / f"{script.name}.html").resolve()
        more = ("--output-format", "html", "--output-file", str(html))
        _tclint(("trace", str(kept), *more), desk / "work" / script.folder)
        found = _measured(script, options, alone, recorded, told, read_folder(kept), text)
        if found.same:
            return found
        return replace(found, repeats=same(alone, _arm(script, options, desk, ())))
    finally:
        if not options.leave:
            shutil.rmtree(desk, ignore_errors=True)


def _measured(
    script: Script,
    options: argparse.Namespace,
    alone: Arm,
    recorded: Arm,
    told: Mapping[str, Any],
    reading: Reading,
    text: str,
) -> Measured:
    records, joined = _joined(reading)
    first = told["ranks"][0] if told["ranks"] else None
    known = told["breaks_explained"]
    return Measured(
        script.name,
        script.repository,
        _commit(options.checkouts / script.checkout),
        alone,
        recorded,
        first["step_ms"]["value"] if first else 0.0,
        first["steps"] if first else 0,
        len({one["compile_id"].split("/")[0] for one in first["compiled"]}) if first else 0,
        records,
        joined,
        (known["known"], known["of"]),
        tuple(line for line in text.splitlines() if re.match(r" *\d+\. ", line))[:3],
        tuple(told["notes"]),
        told["proof"],
        told,
    )


def _joined(reading: Reading) -> tuple[int, int]:
    """Dynamo's break records, and how many of them name a line of a file that is there."""
    records = joined = 0
    for one in training(reading):
        for entry in one.breaks:
            found = read_break(entry.text, libraries_of(one.process))
            records += 1
            joined += found.row > 0 and Path(found.filename).is_file()
    return records, joined


def _arm(script: Script, options: argparse.Namespace, desk: Path, recorder: Sequence[str]) -> Arm:
    work = desk / "work"
    desks.lay_out(script, options.checkouts, options.python, work)
    arguments = desks.arguments(script, options.device, work)
    begun = time.monotonic()
    done = subprocess.run(
        [*recorder, options.python, *arguments],
        cwd=work / script.folder,
        env=desks.environment(script, work, options.device),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=options.time_limit,
        check=False,
    )
    seconds = time.monotonic() - begun
    (options.out / f"{script.name}-{'recorded' if recorder else 'alone'}.log").write_text(
        done.stdout
    )
    losses = tuple(re.findall(script.losses, done.stdout))
    return Arm(done.returncode, seconds, losses, _digest(script, options, work))


def _digest(script: Script, options: argparse.Namespace, work: Path) -> str:
    files = sorted(map(str, work.glob(script.saved))) if script.saved else []
    if not files:
        return ""
    done = subprocess.run(
        [options.python, "-c", DIGEST, *files], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr[-200:]


def _tclint(arguments: Sequence[str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tclint", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout or done.stderr


def _commit(checkout: Path) -> str:
    named = checkout / "COMMIT"
    if named.is_file():
        return named.read_text().strip()
    if not (checkout / ".git").exists():
        return ""
    done = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=Path, default=Path("checkouts"))
    parser.add_argument("--python", default=sys.executable, help="runs the scripts")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("run-scripts"), help="for the results")
    parser.add_argument("--page", type=Path, help="write the results in --out here, as a page")
    parser.add_argument("--prices", type=Path, nargs="*", default=[], help="of run_prices --out")
    parser.add_argument("--note", default="", help="about the results, for the page")
    parser.add_argument("--only-page", action="store_true", help="run nothing")
    parser.add_argument("--leave", action="store_true", help="leave the folders in which they ran")
    parser.add_argument("--time-limit", type=float, default=600)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
