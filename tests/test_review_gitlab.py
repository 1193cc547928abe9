"""``tclint review`` on GitLab's side: discussions and a note."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.review.command import Done, as_job
from tests.review.gitlab_server import GitLabServer
from tests.review_repository import Repository, new_repository
from tests.test_review_github import CLEAN, ITEM, PRINT, net


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = new_repository(tmp_path / "repo")
    repository.commit({"net.py": CLEAN})
    repository.git("checkout", "--quiet", "-b", "change")
    return repository


@pytest.fixture
def server(repository: Repository) -> Iterator[GitLabServer]:
    server = GitLabServer(repository)
    with server.running():
        yield server
    assert server.complaints == []


def job(server: GitLabServer, repository: Repository, *options: str, **more: str) -> Done:
    """A job of a merge request's pipeline."""
    environment = {
        "GITLAB_CI": "true",
        "GITLAB_TOKEN": server.token,
        "CI_API_V4_URL": server.url,
        "CI_PROJECT_ID": "group/model",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.git("merge-base", "main", "change"),
        "CI_COMMIT_SHA": repository.git("rev-parse", "change"),
        **more,
    }
    event = repository.folder.parent / "no-event"
    return as_job("", "", repository, event, *options, **environment)


def test_findings_become_discussions_and_a_note(
    server: GitLabServer, repository: Repository
) -> None:
    repository.commit({"net.py": net(ITEM, PRINT)})
    assert "comments: 2 posted" in job(server, repository).stderr
    first, second = (d["notes"][0] for d in server.discussions)
    assert [n["position"]["new_line"] for n in (first, second)] == [7, 8]
    assert "```suggestion:-0+0\n" in second["body"]
    (note,) = server.notes
    assert "2 findings on the added lines" in note["body"]


def test_a_second_run_posts_nothing_and_a_push_resolves(
    server: GitLabServer, repository: Repository
) -> None:
    repository.commit({"net.py": net(ITEM, PRINT)})
    job(server, repository)
    before = json.dumps([server.discussions, server.notes])
    assert "nothing new" in job(server, repository).stderr
    assert json.dumps([server.discussions, server.notes]) == before
    repository.commit({"net.py": net(ITEM)})
    assert "1 resolved" in job(server, repository).stderr
    assert [d["notes"][0]["position"]["new_line"] for d in server.open_discussions()] == [7]
    assert "1 finding on" in server.notes[0]["body"]


def test_an_answer_that_got_lost_does_not_double(
    server: GitLabServer, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    server.faults += ["POST discussions", "POST notes"]
    repository.commit({"net.py": net(ITEM, PRINT)})
    job(server, repository)
    assert (len(server.discussions), len(server.notes), server.faults) == (2, 1, [])


def test_a_renamed_file_is_named_by_both_paths(
    server: GitLabServer, repository: Repository
) -> None:
    repository.git("mv", "net.py", "model.py")
    repository.commit({"model.py": net(PRINT)})
    job(server, repository)
    (position,) = [d["notes"][0]["position"] for d in server.discussions]
    assert (position["old_path"], position["new_path"]) == ("net.py", "model.py")


def test_lines_that_gitlab_does_not_know_are_told_in_the_note(
    server: GitLabServer, repository: Repository
) -> None:
    server.refuse_lines = True
    repository.commit({"net.py": net(PRINT)})
    for _ in range(2):
        job(server, repository)
    assert server.discussions == []
    (note,) = server.notes
    assert "`net.py:7`: **" in note["body"]


def test_a_token_that_may_not_write_leaves_annotations(
    server: GitLabServer, repository: Repository
) -> None:
    server.may_write = False
    repository.commit({"net.py": net(PRINT)})
    done = job(server, repository)
    assert done.returncode == 1
    assert "403" in done.stderr
    assert done.stdout.startswith("net.py:7: TCL120 ")


@pytest.mark.parametrize("more", [{"CI_MERGE_REQUEST_TITLE": "Draft: x"}, {"state": "merged"}])
def test_drafts_and_merged_requests_are_left_alone(
    server: GitLabServer, repository: Repository, more: dict[str, str]
) -> None:
    server.state = more.get("state", "opened")
    repository.commit({"net.py": net(PRINT)})
    job(server, repository, **more)
    assert (server.discussions, server.notes) == ([], [])
