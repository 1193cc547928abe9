"""What findings are worth: measured by rules, and which are shown, counted and told to tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.diagnostics import Effect, Worth
from tclint.lint.engine import Run, check_files, in_one
from tclint.lint.examine import INTERRUPTS, worth_of
from tclint.lint.registry import load_rules
from tclint.lint.rule import Finding
from tclint.report.formats import OutputFormat, render
from tclint.report.summary import summary
from tclint.report.view import View
from tests.cli_runs import tclint

LOOP = """\
import torch


def train(model, optimizer, batches):
    total = 0.0
    for batch in batches:
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
"""
BREAK = """\


@torch.compile
def f(x):
    return x * x.max().item()
"""


def checked(root: Path, text: str = LOOP, **settings: Any) -> Run:
    path = root / "train.py"
    path.write_text(text, encoding="utf-8")
    return check_files([path], Config(root, **settings))


def command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return tclint("check", "train.py", *arguments, cwd=root)


def test_a_hint_is_counted_and_not_shown(tmp_path: Path) -> None:
    run = checked(tmp_path)
    assert (run.results, run.hidden) == ((), 1)
    assert summary(run) == "All checks passed! 1 weak finding not shown (`--weak`)."


def test_a_hint_is_shown_to_who_asks_for_it(tmp_path: Path) -> None:
    run = checked(tmp_path, weak=True)
    assert [(one.diagnostic.code, one.diagnostic.worth) for one in run.results] == [
        ("TCL511", Worth.HINT)
    ]
    assert run.hidden == 0
    assert checked(tmp_path, select=("TCL511",)).results


def test_a_break_beside_a_hint_is_shown_alone(tmp_path: Path) -> None:
    run = checked(tmp_path, LOOP + BREAK)
    assert [one.diagnostic.effect for one in run.results] == [Effect.GRAPH_BREAK]
    assert "1 weak finding not shown" in summary(run)


def test_hints_of_several_configurations_add_up(tmp_path: Path) -> None:
    assert in_one([checked(tmp_path), checked(tmp_path)]).hidden == 2


def test_the_command_passes_with_hints_now_and_when_it_remembers(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP, encoding="utf-8")
    first, second = command(tmp_path), command(tmp_path)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "1 weak finding not shown" in first.stdout
    assert first.stdout == second.stdout
    asked = command(tmp_path, "--weak")
    assert asked.returncode == 1
    assert "worth next to nothing in most programs" in asked.stdout


def test_tools_are_told_of_a_hint_as_a_note(tmp_path: Path) -> None:
    run, view = checked(tmp_path, weak=True), View(tmp_path)
    [found] = json.loads(render(OutputFormat.SARIF, run, view))["runs"][0]["results"]
    assert (found["level"], found["properties"]["worth"]) == ("note", "hint")
    assert json.loads(render(OutputFormat.JSON, run, view))[0]["worth"] == "hint"
    assert render(OutputFormat.GITHUB, run, view).startswith("::notice ")
    assert render(OutputFormat.GITHUB, checked(tmp_path), view) == ""


def test_what_interrupts_compiled_code_is_never_a_hint() -> None:
    for rule in load_rules():
        for effect in {*rule.effects} & INTERRUPTS:
            found = Finding("", effect=effect, worth=Worth.HINT)
            assert worth_of(rule, found) is not Worth.HINT


def test_a_rule_that_states_its_worth_says_what_was_measured() -> None:
    rules = load_rules()
    assert [rule.code for rule in rules if bool(rule.measured) != (rule.worth is not None)] == []
