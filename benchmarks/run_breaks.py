"""How many graph breaks a report explains: ``python -m benchmarks.run_breaks --python PYTHON``.

``PYTHON`` is one with transformers 4.52, whose models break in many places. Each of some small
models is trained for a few steps as ``torch.compile`` takes it, with transformers as a part of the
user's own code, and the whole is recorded by ``tclint run``. ``--only`` names some of the models.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tclint.run.events import libraries_of
from tclint.run.read import read_folder, training
from tclint.verify.break_text import read_break

_PROGRAM = Path(__file__).parent / "run_breaks_train.py"
_WHERE = "import transformers; print(transformers.__path__[0])"


def main() -> None:
    """Record, count, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="runs the models")
    parser.add_argument("--only", default="", help="parts of models' names, with commas between")
    options = parser.parse_args()
    python = options.python
    with tempfile.TemporaryDirectory(prefix="tclint-breaks-") as name:
        desk = Path(name)
        place = subprocess.run(
            [python, "-c", _WHERE], capture_output=True, text=True, check=True
        ).stdout.strip()
        shutil.copytree(place, desk / "transformers")
        shutil.copy(_PROGRAM, desk / "train.py")
        report = ("--output-format", "json", "--output-file", "report.json", "--keep", "kept")
        command = [
            sys.executable,
            "-m",
            "tclint",
            "run",
            *report,
            "--",
            python,
            "train.py",
            options.only,
        ]
        subprocess.run(command, cwd=desk, check=False)
        _tell(desk)


def _tell(desk: Path) -> None:
    records = [
        read_break(entry.text, libraries_of(one.process))
        for one in training(read_folder(desk / "kept"))
        for entry in one.breaks
    ]
    placed = sum(one.row > 0 and Path(one.filename).is_file() for one in records)
    told = json.loads((desk / "report.json").read_text())
    known = told["breaks_explained"]
    print(f"{placed} of {len(records)} break records have a line")
    print(f"a rule explains {known['known']} of {known['of']} lines that break")
    for line in told["lines"]:
        kinds = Counter(event["kind"] for event in line["events"])
        if kinds["graph-break"] and line["code"] is None:
            place = Path(line["filename"]).relative_to(desk.resolve())
            print(f"no rule: {place}:{line['row']} {line['events'][0]['what']}")


if __name__ == "__main__":
    main()
