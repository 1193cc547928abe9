"""``tclint review`` as people call it, with the real engine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli_runs import tclint
from tests.review_repository import Repository, new_repository

HELPER = "import torch\n\n\ndef show(x: torch.Tensor) -> torch.Tensor:\n    return x\n"
NET = """\
from torch import nn

from helper import show


class Net(nn.Module):
    def forward(self, x):
        return show(x) * 2
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "repo")


def review(repository: Repository, *options: str) -> subprocess.CompletedProcess[str]:
    here = Path.cwd()
    return tclint("review", "--repo", str(repository.folder), *options, cwd=here)


def test_a_print_added_to_a_helper_of_forward_is_commented(repository: Repository) -> None:
    base = repository.commit({"helper.py": HELPER, "net.py": NET})
    repository.commit({"helper.py": HELPER.replace("    return", '    print("here")\n    return')})
    done = review(repository, "--base", base, "--dry-run", "--output-format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    payload = json.loads(done.stdout)
    (comment,) = payload["comments"]
    assert (comment["path"], comment["line"], comment["side"]) == ("helper.py", 5, "RIGHT")
    assert "```suggestion\n" in comment["body"]
    assert payload["event"] == "COMMENT"


def test_a_clean_change_exits_with_zero(repository: Repository) -> None:
    base = repository.commit({"net.py": NET})
    repository.commit({"helper.py": HELPER})
    done = review(repository, "--base", base, "--head", "main", "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("**tclint** found nothing on the added lines.")


def test_a_file_that_does_not_parse_is_part_of_the_review(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"net.py": "def f(:\n"})
    done = review(repository, "--base", base, "--dry-run")
    assert done.returncode == 1
    assert "TCL001" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--base", "HEAD"), "it is not known which pull request it is"),
        (("--dry-run",), "it is not known what the change will be merged into"),
        (("--base", "nope", "--dry-run"), "no such commit: 'nope'"),
        (("--base", "HEAD", "--head=--all", "--dry-run"), "'--all' is not a revision"),
    ],
)
def test_what_cannot_be_done_exits_with_two(
    repository: Repository, options: tuple[str, ...], message: str
) -> None:
    repository.commit({})
    done = review(repository, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
