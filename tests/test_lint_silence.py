"""Comments that silence nothing, or cannot be understood, are findings themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint import shards
from tclint.lint.engine import Run, check_files
from tclint.lint.file_rules import OWN as OWN_RULES
from tclint.lint.rule import PRELUDE, Bad, Example, Good, Rule, Untouched
from tests.semantics_probe import put

READS = "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.item(){}\n"
KEEPS = "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return x + 1{}\n"


def check(folder: Path, text: str, **config: object) -> Run:
    return check_files(put(folder, {"a.py": text}), Config(folder, **config))  # type: ignore[arg-type]


def found(run: Run) -> list[tuple[str, str]]:
    return [(r.diagnostic.code, r.file.excerpt(r.diagnostic.span)) for r in run.results]


@pytest.mark.parametrize(
    ("comment", "named"),
    [
        ("  # tclint: ignore[TCL101]", ["TCL101"]),
        ("  # tclint: ignore[TCL101, TCL120]  -- why", ["TCL101", "TCL120"]),
        ("  # tclint: ignore", ["# tclint: ignore"]),
        ("  # noqa: TCL101", ["TCL101"]),
        ("  # noqa: E501, TCL101", ["TCL101"]),
        ("  # noqa", []),
        ("  # noqa: E501", []),
    ],
)
def test_a_comment_that_silences_nothing_is_a_finding(
    tmp_path: Path, comment: str, named: list[str]
) -> None:
    run = check(tmp_path, KEEPS.format(comment))
    assert found(run) == [("TCL002", name) for name in named]


@pytest.mark.parametrize("comment", ["  # tclint: ignore[TCL101]", "  # tclint: ignore"])
def test_a_comment_that_silences_something_is_none(tmp_path: Path, comment: str) -> None:
    assert found(check(tmp_path, READS.format(comment))) == []


def test_what_is_hidden_as_weak_counts_as_silenced(tmp_path: Path) -> None:
    text = (
        "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n"
        "    for row in x:  # tclint: ignore[TCL210]\n        row + 1\n"
    )
    assert found(check(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("config", "judged"),
    [
        ({"ignore": ("TCL101",)}, False),
        ({"select": ("TCL2", "TCL002")}, False),
        ({"per_file_ignores": (("a.py", ("TCL101",)),)}, False),
        ({"ignore": ("TCL002",)}, False),
        ({"select": ("TCL1", "TCL002")}, True),
    ],
)
def test_only_codes_of_rules_that_ran_are_judged(
    tmp_path: Path, config: dict[str, object], judged: bool
) -> None:
    run = check(tmp_path, KEEPS.format("  # tclint: ignore[TCL101]"), **config)
    assert bool(run.results) is judged


HELPER = "def g(x):\n    return x.item()  # tclint: ignore[TCL101]\n"


def test_a_file_alone_does_not_tell_who_calls_its_functions(tmp_path: Path) -> None:
    assert found(check(tmp_path, HELPER, partial=True)) == []
    assert found(check(tmp_path, HELPER)) == [("TCL002", "TCL101")]
    run = check(tmp_path, KEEPS.format("  # tclint: ignore[TCL101]"), partial=True)
    assert found(run) == [("TCL002", "TCL101")]


def test_a_comment_that_another_shard_needs_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "WHOLE", 1)
    monkeypatch.setattr(shards, "SMALLEST", 1)
    monkeypatch.setattr(shards, "LARGEST", 1)
    main = (
        "import torch\nfrom helper import g\n@torch.compile\n"
        "def f(x: torch.Tensor):\n    return g(x)\n"
    )
    paths = put(tmp_path, {"helper.py": HELPER, "main.py": main})
    assert len(shards.shards(paths)) == 2
    assert found(check_files(paths, Config(tmp_path))) == []
    assert found(check_files(paths[:1], Config(tmp_path))) == [("TCL002", "TCL101")]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("  # tclint: ignore[TCL9999]", "No rule has the code 'TCL9999'"),
        ("  # tclint: ignore[TCL10l]", "'TCL10L' is not a rule's code"),
        ("  # tclint: ingore[TCL101]", "'ingore' is not known"),
    ],
)
def test_a_comment_that_cannot_be_understood_is_a_finding(
    tmp_path: Path, comment: str, message: str
) -> None:
    run = check(tmp_path, READS.format(comment))
    assert [r.diagnostic.code for r in run.results] == ["TCL101", "TCL003"]
    assert message in run.results[1].diagnostic.message


def test_these_findings_can_be_silenced_too(tmp_path: Path) -> None:
    text = "# tclint: ignore-file[TCL002, TCL003]\n" + KEEPS.format("  # tclint: ignore[XY1]")
    assert found(check(tmp_path, text)) == []


def test_fixing_takes_out_our_comments_and_leaves_noqa(tmp_path: Path) -> None:
    text = (
        "# tclint: disable[TCL120]\n"
        + KEEPS.format("  # tclint: ignore[TCL101, TCL102]  -- why")
        + "y = 1  # noqa: TCL101\n# tclint: enable[TCL120]\n"
    )
    [path] = put(tmp_path, {"a.py": text})
    [changed] = fix_files([path], Config(tmp_path)).changed
    assert changed.after == KEEPS.format("") + "y = 1  # noqa: TCL101\n"


OWN = [(rule, example) for rule in OWN_RULES for example in rule.examples]


@pytest.mark.parametrize(("rule", "example"), OWN, ids=lambda item: getattr(item, "code", "")[:9])
def test_the_examples_of_these_rules_do_what_they_say(
    tmp_path: Path, rule: Rule[Any], example: Example
) -> None:
    [path] = put(tmp_path, {"a.py": PRELUDE + example.code})
    config = Config(tmp_path, compiled=("*:f",))
    results = check_files([path], config).results
    reported = [r.diagnostic for r in results if r.diagnostic.code == rule.code]
    assert bool(reported) is not isinstance(example, Good)
    fixed = [file.after for file in fix_files([path], config).changed]
    wanted = example.fixed if isinstance(example, Bad) else None
    assert fixed == ([PRELUDE + wanted] if wanted else [])
    if isinstance(example, Untouched):
        assert [d.declined.reason for d in reported if d.declined] == [example.reason]
