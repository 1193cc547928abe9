from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config, ConfigError
from tclint.lint.engine import Run
from tclint.review.compose import compose
from tclint.review.findings import Outcome, change_of, review_range
from tclint.review.git import Git
from tclint.review.github.bodies import comment_body, review_payload
from tclint.review.text import to_text
from tests.review_repository import Repository, fake_check, new_repository
from tests.server_fake import FakeEngine


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "repo")


def outcome_of(repository: Repository, base: str, head: str = "HEAD") -> Outcome:
    git = Git(repository.folder)
    return review_range(git, change_of(git, base, head), fake_check)


def places(outcome: Outcome) -> list[tuple[str, int, str]]:
    return [(i.path, i.line, i.result.diagnostic.code) for i in outcome.introduced]


def request(repository: Repository, base: str) -> dict[str, Any]:
    review = compose(outcome_of(repository, base), FakeEngine().fix)
    sent: dict[str, Any] = json.loads(json.dumps(review_payload(review)))
    return sent


def test_only_findings_on_added_lines_count(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = BAD\n", "b.py": "y = BAD\n"})
    repository.commit({"a.py": "x = BAD\nz = 1\nw = BAD\n", "sub/c.py": "v = SAD\n"})
    assert places(outcome_of(repository, base)) == [
        ("a.py", 3, "TCL901"),
        ("sub/c.py", 1, "TCL904"),
    ]


def test_what_happened_on_the_base_meanwhile_does_not_count(repository: Repository) -> None:
    repository.commit({"a.py": "x = 1\n"})
    repository.git("checkout", "--quiet", "-b", "change")
    repository.commit({"b.py": "x = BAD\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"a.py": "x = BAD\n"})
    assert places(outcome_of(repository, "main", "change")) == [("b.py", 1, "TCL901")]


def test_the_working_tree_is_neither_read_nor_written(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    repository.commit({"a.py": "x = BAD\n"})
    (repository.folder / "a.py").write_text("x = 2\n")
    (repository.folder / "new.py").write_text("x = BAD\n")
    before = repository.git("status", "--porcelain")
    assert places(outcome_of(repository, base)) == [("a.py", 1, "TCL901")]
    assert repository.git("status", "--porcelain") == before
    assert repository.git("worktree", "list").count("\n") == 0


def test_the_configuration_is_the_one_of_the_base(repository: Repository) -> None:
    base = repository.commit({"tclint.toml": 'exclude = ["old"]\n', "old/a.py": "x = 1\n"})
    repository.commit(
        {
            "tclint.toml": 'exclude = ["*.py"]\n',
            "pyproject.toml": '[tool.tclint]\nexclude = ["*.py"]\n',
            "old/a.py": "x = BAD\n",
            "b.py": "x = BAD\n",
        }
    )
    assert places(outcome_of(repository, base)) == [("b.py", 1, "TCL901")]


def test_a_faulty_configuration_of_the_base_is_named_by_its_file(repository: Repository) -> None:
    base = repository.commit({"tclint.toml": "nonsense = 1\n"})
    repository.commit({"a.py": "x = BAD\n"})
    with pytest.raises(ConfigError, match=r"^(?!.*tclint-review).*tclint\.toml"):
        outcome_of(repository, base)


def test_the_base_says_which_torch_the_project_is_for(repository: Repository) -> None:
    base = repository.commit({"requirements.txt": "torch>=1.13,<2.1\n", "uv.lock": "no"})
    head = repository.commit({"requirements.txt": "torch>=2.6\n", "a.py": "x = 1\n"})
    seen: list[Config] = []

    def check(paths: Sequence[Path], config: Config) -> Run:
        seen.append(config)
        return fake_check(paths, config)

    git = Git(repository.folder)
    outcome = review_range(git, change_of(git, base, head), check)
    assert seen[0].settings.oldest_torch == (1, 13)
    assert seen[0].settings.target_torch == (2, 0)
    (said,) = outcome.problems
    assert said.startswith("uv.lock: is not a lock file: it has no packages; assuming")


def test_the_nearest_configuration_of_the_base_holds_for_each_file(repository: Repository) -> None:
    base = repository.commit(
        {
            "shared/common.toml": 'exclude = ["made"]\n',
            "tclint.toml": 'extend = "shared/common.toml"\n',
            "part/pyproject.toml": '[tool.tclint]\nexclude = ["old"]\n',
            "made/a.py": "x = 1\n",
        }
    )
    repository.commit(
        {
            "shared/common.toml": "",
            "part/new/tclint.toml": 'exclude = ["*.py"]\n',
            **{f"{name}.py": "x = BAD\n" for name in ("made/a", "b", "part/old/c", "part/new/d")},
        }
    )
    assert places(outcome_of(repository, base)) == [
        ("b.py", 1, "TCL901"),
        ("part/new/d.py", 1, "TCL901"),
    ]


def test_a_faulty_configuration_below_is_named_by_its_file(repository: Repository) -> None:
    base = repository.commit({"part/tclint.toml": "nonsense = 1\n"})
    repository.commit({"part/a.py": "x = BAD\n"})
    with pytest.raises(ConfigError, match=r"^(?!.*tclint-review)part.tclint\.toml"):
        outcome_of(repository, base)


def test_ignored_but_tracked_files_are_checked(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    repository.commit({"a.py": "x = BAD\n"})
    repository.commit({".gitignore": "*.py\n"})
    assert places(outcome_of(repository, base)) == [("a.py", 1, "TCL901")]


def test_links_are_not_followed(repository: Repository, tmp_path: Path) -> None:
    base = repository.commit({})
    (tmp_path / "secret.py").write_text("x = BAD\n")
    (repository.folder / "link.py").symlink_to(tmp_path / "secret.py")
    repository.commit({})
    assert places(outcome_of(repository, base)) == []


def test_line_numbers_are_gits_where_python_sees_more_lines(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"a.py": b"x = 1\ry = 2\nz = BAD\r\n"})
    assert places(outcome_of(repository, base)) == [("a.py", 2, "TCL901")]


def test_a_fingerprint_survives_edits_elsewhere(repository: Repository) -> None:
    base = repository.commit({"a.py": ""})
    repository.commit({"a.py": "x = BAD\ny = 1\nx = BAD\n"})
    first = [i.fingerprint for i in outcome_of(repository, base).introduced]
    repository.commit({"a.py": "import os\n\nif os:\n    x = BAD\ny = 2\nx = BAD\n"})
    assert [i.fingerprint for i in outcome_of(repository, base).introduced] == first
    assert len(set(first)) == 2


def test_the_payload_is_what_github_takes(repository: Repository) -> None:
    base = repository.commit({"a.py": "a = 1\n"})
    head = repository.commit({"a.py": "a = 1\nx = BAD  # `\ny = SAD\n"})
    sent = request(repository, base)
    assert set(sent) == {"commit_id", "event", "body", "comments"}
    assert (sent["commit_id"], sent["event"]) == (head, "COMMENT")
    assert "**tclint**: 2 findings on the added lines." in sent["body"]
    assert "| graph break | 2 |" in sent["body"]
    assert "`tclint fix a.py`" in sent["body"]
    fixed, declined = sent["comments"]
    assert {k: v for k, v in fixed.items() if k != "body"} == {
        "path": "a.py",
        "line": 2,
        "side": "RIGHT",
    }
    assert "```suggestion\nx = GOOD  # `\n```" in fixed["body"]
    assert "Instead, as suggested: Be good (`tclint fix a.py`)" in fixed["body"]
    assert "Instead: Be good (no fix: it is too sad)" in declined["body"]
    assert "suggestion" not in declined["body"]


def test_a_suggestion_of_several_lines_names_its_first(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint.diagnostics import Applicability, Change, Edit, Fix, Position, Span

    def fix(result: Any) -> Fix:
        span = Span(Position(1, 1), Position(2, 2))
        return Fix("Join", Applicability.UNSAFE, Change.BEHAVIOUR, (Edit(span, "joined"),))

    base = repository.commit({})
    repository.commit({"a.py": "x = (\n) + BAD\n"})
    review = compose(outcome_of(repository, base), fix)
    (comment,) = review_payload(review)["comments"]
    assert (comment["start_line"], comment["start_side"], comment["line"]) == (1, "RIGHT", 2)
    assert "Instead, as suggested: Join (`tclint fix --unsafe-fixes a.py`)" in comment["body"]


def test_a_fix_beyond_the_added_lines_is_left_to_the_command(repository: Repository) -> None:
    from tclint.diagnostics import Applicability, Change, Edit, Fix, Position, Span

    def fix(result: Any) -> Fix:
        start = Span(Position(1, 1), Position(1, 1))
        return Fix(
            "Import", Applicability.UNSAFE, Change.BEHAVIOUR, (Edit(start, "import math\n"),)
        )

    base = repository.commit({"a b.py": "x = 1\n"})
    repository.commit({"a b.py": "x = 1\ny = BAD\n"})
    review = compose(outcome_of(repository, base), fix)
    assert "`tclint fix --unsafe-fixes 'a b.py'`" in comment_body(review.comments[0])
    assert review.comments[0].last == 2


def test_what_is_over_the_limit_stands_in_the_summary_by_rule(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"a.py": "x = BAD\ny = BAD\nz = SAD\nw = BAD\n"})
    review = compose(outcome_of(repository, base), FakeEngine().fix, most=1)
    assert len(review.comments) == 1
    assert "- `a.py`, lines 2, 4, TCL901: `BAD` is bad" in review.summary
    assert "- `a.py:3` TCL904: `SAD` is bad" in review.summary
    assert len(review.fingerprints) == 4


def test_a_clean_range_says_so(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"a.py": "x = 1\n"})
    sent = request(repository, base)
    assert sent["body"].startswith("**tclint** found nothing on the added lines.")
    assert sent["comments"] == []


def test_the_text_shows_each_comment_under_its_lines(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"a.py": "x = BAD\n"})
    text = to_text(compose(outcome_of(repository, base), FakeEngine().fix))
    assert "\n\n=== a.py:1\n**[TCL901](<https://example.org/TCL901>)** `bad-word`" in text
    assert text.endswith("-->\n")
