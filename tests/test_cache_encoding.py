"""What was found is the same when it comes back from the cache, whatever it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tclint.cache.encoding import Decoder, encoded
from tclint.config import Config
from tclint.lint.examined import examined
from tclint.lint.execution import IN_PROCESS, Program
from tclint.lint.outcome import Outcome
from tclint.lint.registry import load_rules
from tclint.lint.repair import Action, PlacedRepair
from tclint.lint.rewrite import Import
from tclint.lint.rule import PRELUDE, Bad
from tclint.testing import examples_of


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What the rules' pages show as bad, an idle comment, a file that does not parse."""
    folder = tmp_path_factory.mktemp("bad")
    bad = [e for rule in load_rules() for e in examples_of(rule) if isinstance(e, Bad)]
    silent = "x = 1  # tclint: ignore[TCL101]\n"
    texts = [*(PRELUDE + example.code for example in bad), silent, "def f(:\n"]
    paths = [folder / f"example_{number}.py" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def outcome(paths: list[Path]) -> Outcome:
    config = Config(paths[0].parent, compiled=("*:f",))
    [found], _ = examined(Program(paths, config, {}), [tuple(paths)], IN_PROCESS)
    repair = PlacedRepair("Import it", imports=(Import("math"), Import("math", "inf")))
    found.findings.append(replace(found.findings[0], repair=repair))
    return found


def test_whatever_was_found_comes_back_as_it_was(paths: list[Path], outcome: Outcome) -> None:
    assert len(outcome.findings) > 100
    assert len(outcome.errors) == 1
    repairs = [found.repair for found in outcome.findings if found.repair]
    assert {step.action for repair in repairs for step in repair.steps} == {*get_args(Action)}
    assert any(repair.edits for repair in repairs)
    text = json.dumps(encoded(outcome))
    assert Decoder({str(path): path for path in paths}).outcome(json.loads(text)) == outcome


def test_findings_in_other_files_are_not_taken(paths: list[Path], outcome: Outcome) -> None:
    told = {found.diagnostic.path for found in outcome.findings}
    some = {str(path): path for path in paths if path != max(told)}
    with pytest.raises(ValueError, match="nothing that was written"):
        Decoder(some).outcome(encoded(outcome))
