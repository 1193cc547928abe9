"""The analysis and the fixes do to every example of every rule exactly what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config, Settings
from tclint.diagnostics import Confidence
from tclint.fix.apply import FixRun, fix_files
from tclint.lint import examine
from tclint.lint.claims import newest_of
from tclint.lint.engine import Run, check_files
from tclint.lint.registry import load_rules
from tclint.lint.rule import PRELUDE, Bad, Good, Rule, Untouched

from .proof.cases import cases, compiles_itself

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def _config(codes: Sequence[str], root: Path, code: str, torch: str) -> Config:
    compiled = () if compiles_itself(code) else ("*:f",)
    settings = Settings(target_torch=newest_of(torch))
    return Config(root=root, select=tuple(codes), compiled=compiled, settings=settings)


def _write(root: Path, code: str) -> Path:
    path = root / "example.py"
    path.write_text(PRELUDE + code, encoding="utf-8")
    return path


def _check(rule: Rule, root: Path, code: str, torch: str) -> Run:
    return check_files([_write(root, code)], _config([rule.code], root, code, torch))


def _fix(rule: Rule, root: Path, code: str, torch: str, *, unsafe: bool) -> FixRun:
    return fix_files([_write(root, code)], _config([rule.code], root, code, torch), unsafe=unsafe)


def _fixed(rule: Rule, root: Path, code: str, torch: str, *, unsafe: bool = False) -> str:
    changed = _fix(rule, root, code, torch, unsafe=unsafe).changed
    return changed[0].after.removeprefix(PRELUDE) if changed else code


@pytest.mark.parametrize(("rule", "example"), cases(Bad, Untouched))
def test_fires(rule: Rule, example: Bad | Untouched, tmp_path: Path) -> None:
    run = _check(rule, tmp_path, example.code, example.torch)
    assert not run.errors
    assert {r.diagnostic.code for r in run.results} == {rule.code}


def _reported_twice(rule: Rule, example: Bad | Untouched, root: Path) -> set[str]:
    """The other rules that report, with the same effect, what this one reports in its example."""
    options = _config(["ALL"], root, example.code, example.torch)
    run = check_files([_write(root, example.code)], options)
    told = [one.diagnostic for one in run.results]
    own = {(one.span, one.effect) for one in told if one.code == rule.code}
    return {one.code for one in told if (one.span, one.effect) in own} - {rule.code}


@pytest.mark.parametrize(("rule", "example"), cases(Bad, Untouched))
def test_no_other_rule_reports_the_same(
    rule: Rule, example: Bad | Untouched, tmp_path: Path
) -> None:
    assert _reported_twice(rule, example, tmp_path) == set()


def test_a_rule_that_reports_what_another_reports_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, example = next(one.values for one in cases(Bad, where=lambda r, _: r.code == "TCL180"))
    again = type("Again", (type(rule),), {"code": "TCL199", "name": "again"})()
    monkeypatch.setattr(examine, "load_rules", lambda: (*load_rules(), again))
    assert _reported_twice(rule, example, tmp_path) == {"TCL199"}


@pytest.mark.parametrize(("rule", "example"), cases(Good))
def test_stays_silent(rule: Rule, example: Good, tmp_path: Path) -> None:
    run = _check(rule, tmp_path, example.code, example.torch)
    assert not run.errors
    assert [r.diagnostic.message for r in run.results] == []


@pytest.mark.parametrize(("rule", "example"), cases(Bad))
def test_fix_is_exact_and_idempotent(rule: Rule, example: Bad, tmp_path: Path) -> None:
    safe = example.code if example.fixed is None else example.fixed
    unsafe = safe if example.unsafe is None else example.unsafe
    # Where there is nothing to fix, some of the four are the same run.
    expected = {
        (example.code, False): safe,
        (safe, False): safe,
        (example.code, True): unsafe,
        (unsafe, True): unsafe,
    }
    for (code, is_unsafe), fixed in expected.items():
        assert _fixed(rule, tmp_path, code, example.torch, unsafe=is_unsafe) == fixed


@pytest.mark.parametrize(("rule", "example"), cases(Bad))
def test_fixed_code_is_clean(rule: Rule, example: Bad, tmp_path: Path) -> None:
    for code in filter(None, (example.fixed, example.unsafe)):
        if code == example.fixed and example.unsafe is not None:
            continue  # what the safe fix leaves is there for the unsafe one
        left = [r.diagnostic for r in _check(rule, tmp_path, code, example.torch).results]
        assert [d.message for d in left if d.confidence is not Confidence.LOW] == []


@pytest.mark.parametrize(("rule", "example"), cases(Untouched))
def test_declines_with_its_reason(rule: Rule, example: Untouched, tmp_path: Path) -> None:
    assert _fixed(rule, tmp_path, example.code, example.torch, unsafe=True) == example.code
    reasons = [
        r.diagnostic.declined for r in _check(rule, tmp_path, example.code, example.torch).results
    ]
    # The page prints it, so it is the whole sentence.
    assert any(d is not None and example.reason == d.reason for d in reasons), reasons
