"""What a stranger's request or pull request must not be able to do to the bot."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from tclint.review.secret import Secret
from tclint.review.service.signature import is_signed, sign
from tests.review.bot import SECRET, Bot, payload, running_bot
from tests.review.crafted import put_blob, put_commit, put_large_blob, put_tree
from tests.review.github_server import GitHubServer, Pull
from tests.review_repository import Repository, new_repository
from tests.test_review_github import CLEAN, PRINT, net


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubServer]:
    repository = new_repository(tmp_path_factory.mktemp("attacks") / "repo")
    repository.commit({"net.py": CLEAN})
    server = GitHubServer({"octo/model": repository}, {})
    with server.running():
        yield server


@pytest.fixture(scope="module")
def bot(server: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    folder = tmp_path_factory.mktemp("state")
    bounds = {"seconds": 60.0, "memory_bytes": 2 * 1024**3, "pack_bytes": 20_000_000}
    with running_bot(folder, server, attempts=1, bounds=bounds) as bot:
        yield bot
        everything = b"".join(
            f.read_bytes() for f in folder.rglob("*") if f.is_file() and f.suffix != ".pem"
        )
        assert server.token.encode() not in everything
        assert SECRET.reveal().encode() not in everything


@pytest.mark.parametrize(
    "signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=abc", "sha256=\xe9"]
)
def test_a_bad_signature_is_refused_before_anything_is_read(bot: Bot, signature: str) -> None:
    answer = bot.send(b"not even JSON", signature=signature)
    assert answer.status_code == 401
    assert bot.jobs() == {}


def test_a_signature_holds_for_its_body_and_secret_alone() -> None:
    assert is_signed(SECRET, b"body", sign(SECRET, b"body"))
    assert not is_signed(SECRET, b"body ", sign(SECRET, b"body"))
    assert not is_signed(SECRET, b"body", sign(Secret("another"), b"body"))


def test_a_replay_does_nothing_new(bot: Bot, server: GitHubServer) -> None:
    pull, repository = _pull(server, {"net.py": net(PRINT)})
    body = payload(pull.number)
    bot.send(body, delivery="d-1")
    bot.settle()
    assert bot.send(body, delivery="d-1").json() == {"status": "duplicate"}
    posts = server.posts()
    # The id is not signed, so that a replay may bear another one.
    bot.send(body, delivery="d-2")
    bot.settle()
    assert server.posts() == posts
    assert len(server.live(number=pull.number)) == 1
    assert repository.folder.exists()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"number": "1; rm -rf"}, 400),
        ({"number": -1}, 400),
        ({"repository": {"full_name": "../../etc/passwd"}}, 400),
        ({"repository": {"full_name": "a/.."}}, 400),
        ({"repository": {"full_name": "--upload-pack=evil/x"}}, 400),
        ({"installation": {"id": "x"}}, 400),
        ({"installation": None}, 400),
        ({"installation": {"id": 2**70}}, 400),
        ({"installation": {"id": 2**53}}, 400),
        ({"installation": {"id": -1}}, 400),
        ({"installation": {"id": 0}}, 400),
        ({"installation": {"id": True}}, 400),
        ({"installation": {"id": 1.0}}, 400),
        ({"installation": {"id": float("nan")}}, 400),
        ({"installation": [1]}, 400),
        ({"number": 2**70}, 400),
        ({"number": True}, 400),
        ({"number": [1]}, 400),
        ({"action": ["opened"]}, 400),
        ({"action": {"opened": 1}}, 400),
        ({"action": "edited", "changes": 7}, 400),
        ({"repository": "octo/model"}, 400),
        ({"repository": {"full_name": ["octo/model"]}}, 400),
        ({"repository": {"full_name": "octo/model\n"}}, 400),
        ({"repository": {"full_name": "octo/" + "m" * 101}}, 400),
        ({"repository": {"full_name": "öcto/model"}}, 400),
        ({"padding": "x" * 2_000_000}, 413),
    ],
)
def test_signed_nonsense_is_refused(bot: Bot, change: dict[str, object], status: int) -> None:
    body = json.dumps({**json.loads(payload()), **change}).encode()
    assert bot.send(body).status_code == status
    assert bot.send(b"[" * 100_000).status_code == 400
    for text in (b"", b"null", b"[]", b'"x"', b"7", b"\xff\xfe{}", b"{}{}", b"9" * 9_999):
        assert bot.send(text).status_code == 400
    assert bot.send(payload().replace(b"{", b'{"number": 7,', 1)).status_code == 400
    assert bot.jobs().keys() <= {"failed"}


def test_a_bomb_in_the_repository_is_told_and_the_bot_lives(bot: Bot, server: GitHubServer) -> None:
    pull, repository = _pull(server, {"a.py": "x = 1\n"})
    tree = put_tree(repository, (b"100644", b"a.py", put_blob(repository, b"x = 1\n")))
    for _ in range(8):
        tree = put_tree(repository, *((b"40000", b"%d" % n, tree) for n in range(10)))
    put_commit(repository, tree)
    pull.unlisted = True
    bot.send(payload(pull.number))
    bot.settle()
    (review,) = [r for r in server.reviews if r["number"] == pull.number]
    assert "could not review this" in review["body"]
    assert "git ls-tree printed more than" in review["body"].replace("\\", "")


@pytest.mark.slow
def test_a_gigabyte_that_packs_well_is_told_and_the_bot_lives(
    bot: Bot, server: GitHubServer
) -> None:
    pull, repository = _pull(server, {"a.py": "x = 1\n"})
    huge = put_large_blob(repository, 1024**3)
    put_commit(repository, put_tree(repository, (b"100644", b"huge.py", huge)))
    pull.hidden = frozenset({"huge.py"})
    bot.send(payload(pull.number))
    bot.settle()
    (review,) = [r for r in server.reviews if r["number"] == pull.number]
    assert "- `huge.py`: too large: 1,073,741,824 bytes" in review["body"]


@pytest.mark.slow
def test_more_than_may_be_fetched_ends_the_job(bot: Bot, server: GitHubServer) -> None:
    pull, _ = _pull(server, {"noise.bin": os.urandom(25_000_000)})
    bot.send(payload(pull.number))
    bot.settle()
    assert server.bodies(pull.number) == []
    assert bot.jobs() == {"failed": 1}
    assert "given up" in bot.log.read_text("utf-8")


def _pull(server: GitHubServer, files: dict[str, str | bytes | None]) -> tuple[Pull, Repository]:
    repository = server.repositories["octo/model"]
    number = len(server.pulls) + 1
    repository.git("checkout", "--quiet", "-f", "-b", f"change-{number}", "main")
    repository.commit(files)
    pull = Pull(number, head=f"change-{number}")
    server.pulls["octo/model", number] = pull
    return pull, repository
