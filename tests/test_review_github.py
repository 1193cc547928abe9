"""``tclint review`` against GitHub on loopback: what is posted, and what is not posted twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tclint.review.client import Client
from tclint.review.github.api import GitHub, author_of
from tests.review.command import as_job, write_event
from tests.review.github_server import Fault, GitHubServer, Pull
from tests.review_repository import Repository, new_repository

HEAD = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
CLEAN = f"{HEAD}        return x * 2\n"
ITEM = "        y = x.sum().item()\n"
PRINT = '        print("here")\n'
END = "        return x * 2\n"


def net(*lines: str) -> str:
    return "".join((HEAD, *lines, END))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = new_repository(tmp_path / "repo")
    repository.commit({"net.py": CLEAN})
    repository.git("checkout", "--quiet", "-b", "change")
    return repository


@pytest.fixture
def server(repository: Repository) -> Iterator[GitHubServer]:
    pulls = {("octo/model", 1): Pull(1)}
    server = GitHubServer({"octo/model": repository}, pulls, login="reviewer")
    with server.running():
        yield server
    assert server.complaints == []


def run(server: GitHubServer, repository: Repository, *options: str, **more: str) -> str:
    """One job; returns what it told people."""
    done = as_job(
        server.url,
        server.token,
        repository,
        write_event(repository.folder.parent, repository),
        *options,
        **more,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def test_one_review_holds_the_summary_and_the_comments(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({"net.py": net(ITEM, PRINT)})
    assert "comments: 2 posted" in run(server, repository)
    (review,) = server.reviews
    assert "**tclint**: 2 findings on the added lines." in review["body"]
    assert sorted(comment["line"] for comment in server.comments) == [7, 8]
    assert "```suggestion\n" in "".join(server.bodies())


def test_a_second_run_posts_nothing(server: GitHubServer, repository: Repository) -> None:
    repository.commit({"net.py": net(ITEM, PRINT)})
    run(server, repository)
    before = json.dumps([server.comments, server.reviews])
    assert "nothing new" in run(server, repository)
    assert json.dumps([server.comments, server.reviews]) == before
    assert server.posts() == 1


def test_a_push_that_fixes_a_finding_resolves_its_comment(
    server: GitHubServer, repository: Repository
) -> None:
    server.may_resolve = True
    repository.commit({"net.py": net(ITEM, PRINT)})
    run(server, repository)
    head = repository.commit({"net.py": net(ITEM)})
    assert "1 resolved" in run(server, repository)
    (struck,) = [c for c in server.comments if c["body"].startswith(f"**Resolved** in {head}")]
    assert server.resolved == {struck["id"]}
    assert len(server.live()) == 1
    assert "1 finding on the added lines" in server.reviews[0]["body"]
    assert server.posts() == 1


def test_a_finding_that_comes_back_is_posted_again(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({"net.py": net(PRINT)})
    run(server, repository)
    repository.commit({"net.py": CLEAN + "\n\nclass Other:\n    pass\n"})
    run(server, repository)
    assert server.live() == []
    assert "found nothing" in server.reviews[0]["body"]
    repository.commit({"net.py": net(PRINT)})
    assert "1 posted" in run(server, repository)
    assert len(server.live()) == 1


def test_later_findings_come_in_a_review_that_points_to_the_summary(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({"net.py": net(PRINT)})
    run(server, repository)
    repository.commit({"net.py": net(PRINT, ITEM)})
    assert "1 posted" in run(server, repository)
    first, second = server.reviews
    assert "2 findings" in first["body"]
    assert "1 more finding" in second["body"]
    assert first["html_url"] in second["body"]


def test_a_clean_change_is_met_with_silence(server: GitHubServer, repository: Repository) -> None:
    repository.commit({"net.py": CLEAN + "\n\nX = 1\n"})
    run(server, repository)
    assert (server.comments, server.reviews) == ([], [])


def test_a_fix_of_several_lines_is_suggested_on_all_of_them(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({"net.py": net("        print(\n", '            "here",\n', "        )\n")})
    run(server, repository)
    (comment,) = server.comments
    assert (comment["start_line"], comment["line"]) == (7, 9)
    assert "```suggestion\n" in comment["body"]
    assert "nothing new" in run(server, repository)


def test_a_renamed_file_counts_for_what_it_adds(
    server: GitHubServer, repository: Repository
) -> None:
    repository.git("mv", "net.py", "model.py")
    repository.commit({"model.py": net(PRINT)})
    run(server, repository)
    assert [(c["path"], c["line"]) for c in server.comments] == [("model.py", 7)]


def test_a_file_that_could_not_be_checked_is_told_though_nothing_was_found(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({"large.py": "x = 1\n" * 400_000})
    run(server, repository)
    (review,) = server.reviews
    assert "- `large.py`: too large: 2,400,000 bytes" in review["body"]


def test_a_name_that_is_no_text_does_not_end_the_review(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({os.fsdecode(b"caf\xe9.py"): net(PRINT), "net.py": net(ITEM)})
    run(server, repository)
    assert [c["path"] for c in server.comments] == ["net.py"]
    assert "- `caf\ufffd.py:7` TCL120" in server.reviews[0]["body"]


def test_deleted_lines_and_files_have_no_comments(
    server: GitHubServer, repository: Repository
) -> None:
    repository.git("checkout", "--quiet", "main")
    repository.commit({"net.py": net(ITEM, PRINT), "old.py": net(ITEM)})
    repository.git("checkout", "--quiet", "-B", "change")
    repository.commit({"net.py": net(ITEM), "old.py": None})
    run(server, repository)
    assert (server.comments, server.reviews) == ([], [])


def test_files_that_github_does_not_show_are_told_in_the_summary(
    server: GitHubServer, repository: Repository
) -> None:
    server.pulls["octo/model", 1].hidden = frozenset({"net.py"})
    repository.commit({"net.py": net(PRINT), "other.py": net(ITEM)})
    run(server, repository)
    assert [c["path"] for c in server.comments] == ["other.py"]
    assert "- `net.py:7` TCL120" in server.reviews[0]["body"]


def test_more_findings_than_the_limit_are_grouped(
    server: GitHubServer, repository: Repository
) -> None:
    lines = [f"        v{number} = x.sum().item()\n" for number in range(60)]
    repository.commit({"net.py": net(*lines)})
    run(server, repository)
    assert len(server.comments) == 40
    assert "60 findings" in server.reviews[0]["body"]
    assert "- `net.py`, lines 47, 48," in server.reviews[0]["body"]
    assert "nothing new" in run(server, repository)


def test_a_comment_that_github_refuses_is_told_in_the_summary(
    server: GitHubServer, repository: Repository
) -> None:
    server.faults.append(Fault("POST", "/reviews$", 422, times=1))
    repository.commit({"net.py": net(PRINT)})
    run(server, repository)
    (review,) = server.reviews
    assert "`net.py:7`: **" in review["body"]
    assert server.comments == []


def test_a_fork_falls_back_to_annotations(
    server: GitHubServer, repository: Repository, tmp_path: Path
) -> None:
    server.may_write = False
    repository.commit({"net.py": net(PRINT)})
    page = tmp_path / "page.md"
    said = run(
        server, repository, "--sarif", str(tmp_path / "out.sarif"), GITHUB_STEP_SUMMARY=str(page)
    )
    assert "::error title=tclint (TCL120" in said
    assert ",file=net.py,line=7::" in said
    assert "not accessible by integration; annotations instead" in said
    assert "**tclint**: 1 finding" in page.read_text("utf-8")
    (result,) = json.loads((tmp_path / "out.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "net.py"


@pytest.mark.parametrize("options", [(), ("--drafts",)])
def test_drafts_wait_until_somebody_asks(
    server: GitHubServer, repository: Repository, options: tuple[str, ...]
) -> None:
    repository.commit({"net.py": net(PRINT)})
    event = write_event(repository.folder.parent, repository, draft=True)
    done = as_job(server.url, server.token, repository, event, *options)
    assert len(server.comments) == len(options)
    assert ("a draft is not reviewed" in done.stderr) is not bool(options)


def test_nothing_is_posted_when_the_pull_request_has_moved_on(
    server: GitHubServer, repository: Repository
) -> None:
    repository.commit({"net.py": net(PRINT)})
    event = write_event(repository.folder.parent, repository)
    repository.commit({"net.py": net(PRINT, ITEM)})
    assert (
        "nothing posted: its head is" in as_job(server.url, server.token, repository, event).stderr
    )
    assert server.comments == []


@pytest.mark.parametrize("status", [429, 403])
def test_a_rate_limit_is_waited_for(
    server: GitHubServer, repository: Repository, status: int
) -> None:
    server.faults.append(Fault("POST", "/reviews$", status, headers={"Retry-After": "0"}))
    server.faults.append(Fault("GET", "/comments$", 502))
    repository.commit({"net.py": net(PRINT)})
    run(server, repository)
    assert (len(server.comments), len(server.reviews)) == (1, 1)


@pytest.mark.parametrize("login", ["github-actions[bot]", "some-app[bot]"])
def test_an_app_that_may_not_ask_its_name_knows_its_comments(
    server: GitHubServer, repository: Repository, login: str
) -> None:
    server.login = login
    repository.commit({"net.py": net(PRINT)})
    run(server, repository)
    assert "nothing new" in run(server, repository)
    assert len(server.comments) == 1


def test_enterprise_has_its_interface_below_a_path() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        stream = httpx.ByteStream(b'{"login": "octo"}')
        return httpx.Response(200, stream=stream)

    base = "https://github.example.com/api/v3/"
    client = Client(base, dict, transport=httpx.MockTransport(answer))
    github = GitHub(client, "octo/model", author_of(client))
    github.query("query { viewer { login } }", {})
    assert asked == [
        "https://github.example.com/api/v3/user",
        "https://github.example.com/api/graphql",
    ]


def test_what_others_write_is_no_mark_of_ours(server: GitHubServer, repository: Repository) -> None:
    repository.commit({"net.py": net(PRINT)})
    run(server, repository)
    (ours,) = server.comments
    theirs = {**ours, "user": {**ours["user"], "login": "stranger"}}
    server.comments[:] = [theirs]
    server.reviews.clear()
    assert "1 posted" in run(server, repository)


def test_without_a_token_the_way_out_is_named(server: GitHubServer, repository: Repository) -> None:
    event = write_event(repository.folder.parent, repository)
    done = as_job(server.url, server.token, repository, event, GITHUB_TOKEN="")
    assert done.returncode == 2
    assert "no token: set GITHUB_TOKEN" in done.stderr
