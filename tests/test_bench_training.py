"""What was measured of training loops stands in the pages, and the habits are what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.training.__main__ import PAGE, REPORT, ROOT, joined
from benchmarks.training.page import (
    in_short,
    level,
    page,
    rewritten,
    rewritten_rules,
    sentence,
    with_sentence,
)

pytest.importorskip("torch")


def row(**changed: Any) -> dict[str, Any]:
    kept = {"habit": "loss read", "model": "small", "form": "eager", "rules": ["TCL511"]}
    arms = {"found": "a()", "remedy": "b()", "found_ms": 2.0, "remedy_ms": 1.0}
    return {**kept, **arms, "saved": 0.5, "low": 0.4, "high": 0.6, **changed}


def report(*rows: dict[str, Any]) -> dict[str, Any]:
    size = {"name": "small", "layers": 1, "width": 2, "batch": 3, "tokens": 4, "tensors": 5}
    turns = {"where": "a GPU", "turns": 1, "steps": 1}
    return {**turns, "sizes": [size], "rows": rows, "clock": [], "bits": {"copy_": True}}


def test_a_saving_within_the_noise_is_nothing() -> None:
    told = page(report(row(low=-0.1)))
    assert "- (-10.0% to 60.0%)" in told
    assert "**50.0%** (40.0% to 60.0%)" in page(report(row()))


def test_a_rule_says_what_was_measured_of_its_own_habits_only() -> None:
    rows = report(row(), row(model="middle", saved=0.002), row(habit="other", rules=["TCL512"]))
    said = sentence(rows, "TCL511")
    assert "loss read, 50% of the step in 1 of 2 cases." in said.replace("\n", " ")
    assert sentence(rows, "TCL101") is None


def test_a_sentence_takes_the_place_of_the_old_one() -> None:
    text = "# a (TCL511)\n\n## Why it hurts\nIt waits.\n\n## Fix safety\nSafe.\n"
    once = with_sentence(text, "Measured on a: b.\n")
    assert once.index("It waits.") < once.index("Measured on a") < once.index("## Fix safety")
    assert with_sentence(once, "Measured on a: b.\n") == once
    assert with_sentence(once, "Measured on c: d\ne.\n").count("Measured") == 1


def test_the_pages_say_what_was_measured() -> None:
    kept = json.loads(REPORT.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == page(kept)
    pages = list(rewritten(kept, sorted((ROOT / "rules").glob("*/*.md"))))
    pages += rewritten_rules(kept, sorted((ROOT / "rules").glob("*/*.py")))
    assert pages
    assert [one.name for one, text in pages if one.read_text(encoding="utf-8") != text] == []


def test_every_arm_takes_a_step() -> None:
    import torch

    from benchmarks.training.habits import HABITS, World
    from benchmarks.training.model import Size

    world = World(Size("tiny", 1, 32, 16, 1, 4), torch.device("cpu"))
    for habit in HABITS:
        if not habit.gpu_only:
            for arm in habit.arms(world):
                arm.step(world)
    torch.distributed.destroy_process_group()  # that of the habits of DDP


def test_habits_that_were_measured_later_join_the_rest() -> None:
    kept = {**report(row(), row(habit="finite")), "turns": 2}
    added = {**kept, "rows": [row(saved=0.1)], "habits": ["finite", "loss read"], "clock": [1]}
    both = joined(kept, added)
    assert [(one["habit"], one["saved"]) for one in both["rows"]] == [
        ("finite", 0.5),
        ("loss read", 0.1),
    ]
    assert both["clock"] == [1]
    with pytest.raises(SystemExit, match="differ in `turns`"):
        joined(kept, {**added, "turns": 3})


def test_what_a_rule_is_worth_follows_from_what_was_measured() -> None:
    nothing, loss = row(low=-0.1), row(saved=-0.1, low=-0.2, high=-0.05)
    assert level([row(saved=0.3)]) == "HIGH"
    assert level([row(saved=0.04), row(saved=0.3), row(saved=0.1)]) == "MEDIUM"
    assert level([row(saved=0.04), nothing, nothing, nothing]) == "LOW"
    assert level([row(saved=0.3), nothing, nothing, nothing, loss]) == "HINT"
    assert in_short([nothing, loss]) == "nothing measurable in 2 cases (H200)"
    assert in_short([row(), loss]) == "50% of a training step in 1 of 2 cases (H200)"


def test_a_rule_s_module_is_rewritten_where_it_says_what_was_measured(tmp_path: Path) -> None:
    module = tmp_path / "a.py"
    measured = '    measured = (\n        "a"\n        "b"\n    )\n'
    text = f'    code = "TCL511"\n    worth = Worth.HIGH\n{measured}'
    module.write_text(text, encoding="utf-8")
    [(_, after)] = rewritten_rules(report(row(saved=0.04)), [module])
    assert 'worth = Worth.LOW\n    measured = "4% of a training step in 1 case (H200)"\n' in after
    module.write_text(text.replace("511", "101"), encoding="utf-8")
    assert list(rewritten_rules(report(row()), [module])) == []
