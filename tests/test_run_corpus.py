"""The corpus of runs: its list, and how a report is held against the truth."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.runs import __main__ as corpus
from benchmarks.runs.__main__ import Checked, Found, Priced, summary
from benchmarks.runs.desk import STANDINS
from benchmarks.runs.listed import COMPILE, LINE, SCRIPTS
from benchmarks.runs.timed import Timed, put_clocks, timed

LOOP = Checked("evaluation", LINE, "evaluate()", (8,), 4.0, 3.6)
FUSED = Checked("fused", LINE, "step()", (3, 12), 1.0, 1.1)
COMPILED = Checked("compile", COMPILE, "model(x)", (5,), 3.0, 2.5)
FOUND = Found(
    "a",
    "training",
    "",
    10.0,
    first="a.py:8",
    first_row=8,
    shares=1.02,
    changes=(LOOP, FUSED, COMPILED),
)


def test_the_list_has_scripts_of_many_kinds_and_most_are_public() -> None:
    names = [one.name for one in SCRIPTS]
    assert len({*names}) == len(names) >= 20
    assert sum(one.public for one in SCRIPTS) >= 14
    assert sum(one.cuda is not None for one in SCRIPTS) >= 12
    assert all(len(one.commit) == 40 for one in SCRIPTS if one.public)


def test_a_report_that_names_the_dearest_line_first_is_right() -> None:
    told = summary([FOUND])
    assert told["first_named_is_first"] == [1, 1]
    assert told["prices_within"] == [2, 2]
    assert told["shares_sum"] == [1, 1]
    assert told["compiling_within"] == [1, 1]


def test_a_report_that_names_another_line_or_price_is_wrong() -> None:
    other = replace(FOUND, first_row=12, shares=0.8, changes=(replace(LOOP, said=1.0), FUSED))
    told = summary([other])
    assert told["first_named_is_first"] == [0, 1]
    assert told["prices_within"] == [1, 2]
    assert told["shares_sum"] == [0, 1]


def test_a_line_that_is_not_named_counts_as_nothing() -> None:
    told = summary([replace(FOUND, changes=(replace(LOOP, said=None),))])
    assert told["prices_within"] == [0, 1]


def test_nothing_is_false_where_a_change_saves_a_tenth() -> None:
    assert summary([replace(FOUND, nothing=True)])["nothing_though_something"] == ["a"]
    small = replace(LOOP, saves=0.2, said=None)
    quiet = replace(FOUND, nothing=True, first_row=0, changes=(small,))
    assert summary([quiet])["nothing_though_something"] == []
    assert summary([quiet])["first_named_is_first"] == [1, 1]


def test_a_line_is_right_within_a_quarter_or_three_hundredths_of_a_step() -> None:
    lines = Priced("a.py:1", 0.5, 0.45), Priced("a.py:2", 0.04, 0.02), Priced("a.py:3", 0.3, 0.1)
    told = summary([replace(FOUND, changes=(), lines=lines, first_is_true=False)])
    assert told["prices_within"] == [2, 3]
    assert told["first_named_is_first"] == [0, 1]


def test_what_compiling_brings_is_the_median_step_and_a_line_the_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evaluation that is compiled in one of the steps makes the others no longer."""
    script = next(one for one in SCRIPTS if one.name == "vae")
    monkeypatch.setattr(corpus.desks, "lay_out", lambda *given: tmp_path)
    ms = 1_000_000
    plain = [n * 5 * ms for n in range(61)]
    compiled = [n * 3 * ms + (n > 45) * 900 * ms for n in range(61)]
    rounds = iter([plain, plain, compiled])
    monkeypatch.setattr(corpus, "_steps", lambda *given: [next(rounds)])
    options = Namespace(sources=tmp_path)
    change = next(one for one in script.changes if one.kind == COMPILE)
    before = corpus._quiet(script, options, tmp_path, None)
    same, after = (corpus._quiet(script, options, tmp_path, one) for one in (None, change))
    told = {"tried": None, "lines": [], "account": None}
    found = corpus._one(change, told, frozenset(), before, after)
    assert (found.saves, found.step) == (2, 5)
    assert after.mean > 30
    assert before == same


@pytest.mark.parametrize(
    ("what", "loss", "mode"),
    [
        ("the model", "", ""),
        ("the model, with CUDA graphs", "", "mode='reduce-overhead'"),
        ("the model and its loss, with CUDA graphs", "criterion", "mode='reduce-overhead'"),
    ],
)
def test_compiling_by_hand_is_what_the_report_tells_of(what: str, loss: str, mode: str) -> None:
    script = next(one for one in SCRIPTS if one.name == "loss_article")
    change = next(one for one in script.changes if one.kind == COMPILE)
    first, *more = corpus._as_tried(change, {"what": what}).edits
    assert first[1].endswith(f"model.compile({mode})")
    told = [one.rpartition("; ")[2] for _, one in more]
    assert told == ([f"{loss}.compile({mode})"] if loss else [])


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    script = replace(SCRIPTS[0], path="a.py")
    inner = f"[{sys.executable!r}, '-c', 'import time; time.sleep(60)']"
    program = (
        f"import subprocess as s, time\nprint(s.Popen({inner}).pid, flush=True)\ntime.sleep(60)"
    )
    words = [sys.executable, "-c", program]
    told = corpus._run(words, script, Namespace(time_limit=2), tmp_path, {})
    inside, *rest = told.splitlines()
    assert rest[-1] == "ended after 2 s"
    until = time.monotonic() + 10
    while _runs(int(inside)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(int(inside))


def _runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


SCRIPT = """\
'''A loop, with all that a clock must not change.'''
from __future__ import annotations
import time
import torch

class Part(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.01)
        return x

class Forward(torch.nn.Module):
    def forward(self, x):
        return part(x)

def rest(ms):
    time.sleep(ms / 1000)
    return ms

def values():
    for n in range(6):
        rest(4)
        yield n

def step(n):
    if rest(1) and n >= 0:
        return apart(n)

def apart(n):
    try:
        net(n)
        raise ValueError
    except ValueError:
        pass
    for _ in range(3):
        rest(2)
    return n

part, net = Part(), Forward()
for n in values():
    got = step(n)
    rest(1)
assert got == 5
"""


def clocked(folder: Path) -> tuple[Timed, Callable[[str], tuple[str, int]]]:
    """The truth about the script, and what finds a line of it."""
    file = folder / "loop.py"
    file.write_text(SCRIPT)
    put_clocks(folder, [file])
    told = {**os.environ, "PYTHONPATH": str(STANDINS), "BENCHMARK_CLOCK": str(folder)}
    begun = time.time_ns()
    subprocess.run([sys.executable, str(file)], env=told, check=True)
    found = timed(folder, [begun, time.time_ns()], 0)
    assert found is not None
    rows = {line.strip(): row for row, line in enumerate(SCRIPT.splitlines(), 1)}
    return found, lambda text: (str(file), rows[text])


def test_a_clock_tells_what_each_line_takes_and_what_ran_inside_of_it(tmp_path: Path) -> None:
    found, at = clocked(tmp_path)
    model, loop, whole = at("net(n)"), at("for _ in range(3):"), at("got = step(n)")
    lines = found.lines(frozenset({model, loop, whole, at("for n in values():")}))
    assert lines[model] >= 60, "ten milliseconds, six times"
    assert lines[loop] >= 36, "a loop without a model is one line"
    assert lines[at("for n in values():")] >= 24, "what the loop's values take"
    assert lines[whole] < lines[model], "less what ran inside"


def test_the_dearest_line_runs_no_model(tmp_path: Path) -> None:
    found, at = clocked(tmp_path)
    ms, dear = found.dearest(None)
    assert ms >= 36
    assert {at("for _ in range(3):"), at("rest(2)")} <= dear
    assert at("got = step(n)") not in dear


def test_a_line_around_a_model_that_is_named_counts_without_it(tmp_path: Path) -> None:
    found, at = clocked(tmp_path)
    assert at("got = step(n)") in found.dearest(at("got = step(n)"))[1]
    assert at("net(n)") not in found.dearest(at("net(n)"))[1]
