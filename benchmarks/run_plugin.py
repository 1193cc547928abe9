"""Regressions that the pytest plugin finds: ``python -m benchmarks.run_plugin``.

A project's code is the fixed side of a rule's example, and a test with the plugin's fixture
passes. Then somebody writes the other side: the test has to fail. Both are run over and over in
one process: what a test comes to, and every number that the plugin counts, must never change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

from tclint.lint.registry import load_rules
from tclint.lint.rule import Bad
from tclint.records import record
from tclint.testing import examples_of

PRELUDE = """\
import random
import numpy as np
import torch
"""
SUITE = """\
import importlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

NAMES = json.loads(Path("names.json").read_text())
INPUTS = json.loads(Path("inputs.json").read_text())


@pytest.mark.parametrize(("side", "name", "run"), NAMES)
def test_it(side, name, run, compiled):
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    module = importlib.import_module(f"{side}.{name}")
    f = module.f() if isinstance(module.f, type) else module.f
    compiled(f, *eval(INPUTS[name], vars(module)))
"""


@record(frozen=True)
class Regression:
    """One example: the code that compiles whole, and the code that breaks."""

    name: str
    good: str
    bad: str
    inputs: str


@record(frozen=True)
class Seen:
    """What one test came to: whether it passed, and what was counted."""

    passed: bool
    counts: str


def main() -> int:
    """Inject, repeat, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--regressions", type=int, default=50)
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tclint-plugin-") as folder:
        desk = Path(folder)
        found = written(desk, [*regressions()])
        sane = _run(desk, [("good", one.name, 0) for one in found])
        whole = [one for one in found if sane["good", one.name, 0].passed][: options.regressions]
        bad = _run(desk, [("bad", one.name, 0) for one in whole])
        missed = [one.name for one in whole if bad["bad", one.name, 0].passed]
        print(f"{len(whole)} regressions, {len(whole) - len(missed)} found", *missed)
        sides = [(side, one.name) for one in whole for side in ("good", "bad")]
        count = -(-options.runs // len(sides))
        runs = [(*side, n) for n in range(count) for side in sides][: options.runs]
        begun = time.monotonic()
        again = _run(desk, runs)
        first = {("good", one.name): sane["good", one.name, 0] for one in whole}
        first |= {("bad", one.name): bad["bad", one.name, 0] for one in whole}
        flakes = [run for run, seen in again.items() if seen != first[run[0], run[1]]]
        seconds = time.monotonic() - begun
        print(
            f"{len(again)} runs in one process, {len(flakes)} flakes, {seconds:.0f} s", *flakes[:5]
        )
    return 1 if missed or flakes else 0


def regressions() -> Iterator[Regression]:
    """Examples that break the graph and whose fixed side does not, of each rule in turn."""
    rules = [
        [*_of_rule(rule.code, [one for one in examples_of(rule) if isinstance(one, Bad)])]
        for rule in load_rules()
    ]
    for n in range(max(map(len, rules))):
        yield from (found[n] for found in rules if n < len(found))


def _of_rule(code: str, examples: Sequence[Bad]) -> Iterator[Regression]:
    for n, one in enumerate(examples):
        good = one.unsafe or one.fixed
        proves = any(claim.startswith("GB") and " " not in claim for claim in one.proves)
        if good is None or not proves or ".compile" in one.code or one.inputs.startswith("["):
            continue
        yield Regression(f"{code.lower()}_{n}", good, one.code, one.inputs)


def written(desk: Path, found: Sequence[Regression]) -> Sequence[Regression]:
    """The project: both sides of each example, and its suite."""
    for side in ("good", "bad"):
        (desk / side).mkdir()
        for one in found:
            code = one.good if side == "good" else one.bad
            (desk / side / f"{one.name}.py").write_text(PRELUDE + code)
    (desk / "inputs.json").write_text(json.dumps({one.name: one.inputs for one in found}))
    (desk / "test_models.py").write_text(SUITE)
    return found


def _run(desk: Path, names: Sequence[tuple[str, str, int]]) -> dict[tuple[str, str, int], Seen]:
    """One session of pytest, in one process."""
    (desk / "names.json").write_text(json.dumps(names))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    # An installed tclint is loaded by pytest itself.
    installed = any(one.name == "tclint" for one in entry_points(group="pytest11"))
    command += [
        *(() if installed else ("-p", "tclint.pytest_plugin")),
        "--junitxml=seen.xml",
        "-o",
        "junit_family=xunit1",
        "--tb=no",
        "--no-header",
    ]
    done = subprocess.run(
        [*command, "test_models.py"],
        cwd=desk,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if not (desk / "seen.xml").is_file():
        raise SystemExit(done.stdout + done.stderr)
    cases = {one.get("name"): one for one in ElementTree.parse(desk / "seen.xml").iter("testcase")}
    (desk / "seen.xml").unlink()
    return {one: _seen(cases["test_it[{}-{}-{}]".format(*one)]) for one in names}


def _seen(case: ElementTree.Element) -> Seen:
    counts = [one.get("value", "") for one in case.iter("property")]
    failed = case.find("failure") is not None or case.find("error") is not None
    return Seen(not failed, " ".join(counts))


if __name__ == "__main__":
    sys.exit(main())
