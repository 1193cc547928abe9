"""What a stranger's pull request must not be able to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tclint.lint.engine import check_files
from tclint.review.compose import compose
from tclint.review.findings import Outcome, change_of, review_range
from tclint.review.git import Git, GitError
from tclint.review.github.bodies import comment_body, review_payload
from tclint.review.limits import Limits
from tclint.review.marks import fingerprint_in, is_summary
from tests.review.crafted import put_blob, put_commit, put_large_blob, put_tree
from tests.review_repository import Repository, fake_check, new_repository
from tests.server_fake import FakeEngine
from tests.test_review_github import CLEAN, PRINT, net

SMALL = Limits(files=100, listing_bytes=100_000, file_bytes=10_000, total_bytes=50_000)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "repo")


def outcome_of(repository: Repository, base: str, limits: Limits = SMALL) -> Outcome:
    git = Git(repository.folder, limits)
    return review_range(git, change_of(git, base, "HEAD"), fake_check)


def places(outcome: Outcome) -> list[tuple[str, int]]:
    return [(finding.path, finding.line) for finding in outcome.introduced]


@pytest.mark.parametrize("name", [b"..", b"../../evil.py", b".git", b"a\\b.py", b"C:evil.py", b"."])
def test_no_path_leads_out_of_the_folder(
    repository: Repository, tmp_path: Path, name: bytes
) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    blob = put_blob(repository, b"x = BAD\n")
    inner = put_tree(repository, (b"100644", b"evil.py", blob))
    entry = (b"100644", name, blob) if name.endswith(b".py") else (b"40000", name, inner)
    good = (b"100644", b"z.py", blob)
    put_commit(repository, put_tree(repository, *sorted((entry, good), key=lambda e: e[1])))
    before = sorted(tmp_path.rglob("evil.py"))
    assert places(outcome_of(repository, base)) == [("z.py", 1)]
    assert sorted(tmp_path.rglob("evil.py")) == before


def test_a_link_to_a_secret_is_not_read(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("password = BAD\n")
    base = repository.commit({})
    (repository.folder / "config.py").symlink_to(tmp_path / "secret.py")
    (repository.folder / "folder").symlink_to(tmp_path)
    (repository.folder / "tclint.toml").symlink_to(tmp_path / "secret.py")
    repository.commit({"good.py": "x = BAD\n"})
    outcome = outcome_of(repository, base)
    assert places(outcome) == [("good.py", 1)]
    assert "password" not in compose(outcome, FakeEngine().fix).summary


def test_submodules_are_not_followed(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    blob = put_blob(repository, b"x = BAD\n")
    modules = put_blob(
        repository, b'[submodule "s"]\n\tpath = s\n\turl = ext::sh -c "touch /tmp/x"\n'
    )
    put_commit(
        repository,
        put_tree(
            repository,
            (b"100644", b".gitmodules", modules),
            (b"100644", b"a.py", blob),
            (b"160000", b"s", base),
        ),
    )
    assert places(outcome_of(repository, base)) == [("a.py", 1)]


def test_attributes_do_not_hide_lines(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    repository.commit({".gitattributes": "*.py -diff binary\n", "a.py": "x = BAD\n"})
    assert places(outcome_of(repository, base)) == [("a.py", 1)]


@pytest.mark.parametrize("size", [1024**2, pytest.param(1024**3, marks=pytest.mark.slow)])
def test_a_huge_blob_is_named_and_not_read(repository: Repository, size: int) -> None:
    """A gigabyte that takes a megabyte on disk; with less memory than it needs."""
    base = repository.commit({"a.py": "x = 1\n"})
    huge = put_large_blob(repository, size)
    blob = put_blob(repository, b"x = BAD\n")
    put_commit(
        repository,
        put_tree(
            repository,
            (b"100644", b"b.py", blob),
            (b"100644", b"huge.py", huge),
            (b"120000", b"link.py", huge),
        ),
    )
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (700_000_000, 700_000_000))\n"
        "import sys; from tclint.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        (sys.executable, "-c", program, "review", "--base", base, "--dry-run"),
        cwd=repository.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if size > Limits().file_bytes:
        assert f"- `huge.py`: too large: {size:,} bytes" in done.stdout, done.stderr
    assert done.returncode == 0


def test_many_files_are_refused(repository: Repository) -> None:
    """Ten trees of ten trees each, eight times over: a few kilobytes, a hundred million files."""
    base = repository.commit({"a.py": "x = 1\n"})
    tree = put_tree(repository, (b"100644", b"a.py", put_blob(repository, b"x = BAD\n")))
    for _ in range(8):
        tree = put_tree(repository, *((b"40000", b"%d" % n, tree) for n in range(10)))
    put_commit(repository, tree)
    with pytest.raises(GitError, match=r"printed more than|has more than"):
        outcome_of(repository, base)


def test_a_file_and_a_folder_of_one_name_are_refused(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    blob = put_blob(repository, b"x = BAD\n")
    inner = put_tree(repository, (b"100644", b"b.py", blob))
    both = (b"100644", b"a.py", blob), (b"40000", b"a.py", inner)
    put_commit(repository, put_tree(repository, *both))
    with pytest.raises(GitError, match=r"a\.py/b\.py: cannot be laid out"):
        outcome_of(repository, base)


def test_deep_folders_are_left_out(repository: Repository) -> None:
    base = repository.commit({"a.py": "x = 1\n"})
    blob = put_blob(repository, b"x = BAD\n")
    tree = put_tree(repository, (b"100644", b"a.py", blob))
    for _ in range(1500):
        tree = put_tree(repository, (b"40000", b"d", tree))
    put_commit(repository, put_tree(repository, (b"40000", b"d", tree), (b"100644", b"z.py", blob)))
    assert places(outcome_of(repository, base)) == [("z.py", 1)]


@pytest.mark.parametrize(
    "source",
    ["x = " + "(" * 3000 + ")" * 3000, "x = " + "-" * 4000 + "1", "x" + ".a" * 4000, "[" * 9000],
    ids=["brackets", "minus", "attributes", "open"],
)
def test_deep_nesting_does_not_end_the_review(repository: Repository, source: str) -> None:
    base = repository.commit({"net.py": CLEAN})
    repository.commit({"deep.py": f"{source}\n", "net.py": net(PRINT)})
    git = Git(repository.folder)
    outcome = review_range(git, change_of(git, base, "HEAD"), check_files)
    assert ("net.py", 7) in places(outcome)


def test_more_bytes_than_the_limit_are_refused(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({f"f{n}.py": f"x{n} = 1\n" * 900 for n in range(9)})
    with pytest.raises(GitError, match="more than 50,000 bytes"):
        outcome_of(repository, base)


def test_plugins_of_the_pull_request_are_not_loaded(repository: Repository, tmp_path: Path) -> None:
    """A package in the checkout that registers itself as a rule pack, and every way to find it."""
    base = repository.commit({"net.py": CLEAN})
    repository.commit(
        {
            "evil.py": f"open({str(tmp_path / 'owned')!r}, 'w')\nRULES = []\n",
            "evil.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
            "evil.egg-info/entry_points.txt": "[tclint.rules]\nevil = evil:RULES\n",
            "pyproject.toml": '[tool.tclint]\nplugins = ["evil"]\nexclude = ["*"]\n',
            "sitecustomize.py": f"open({str(tmp_path / 'owned')!r}, 'w')\n",
            "conftest.py": f"open({str(tmp_path / 'owned')!r}, 'w')\n",
            "net.py": net(PRINT),
        }
    )
    done = subprocess.run(
        (sys.executable, "-m", "tclint", "review", "--base", base, "--dry-run"),
        cwd=repository.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert "=== net.py:7" in done.stdout, done.stderr
    assert not (tmp_path / "owned").exists()


INJECTION = (
    "x = BAD  # `</code></details><script>alert(1)</script> @octocat #1 "
    "[click](javascript:alert(1)) ![i](http://evil.example/p.png) ``` "
    "<!-- tclint:0123456789abcdef:1 -->"
)


def test_the_text_of_a_finding_cannot_format_link_or_mention(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"a.py": "x = BAD\n", "`<img src=x>@octocat.py": "y = BAD\n"})
    outcome = outcome_of(repository, base)
    hostile = tuple(
        replace(found, result=_saying(found.result, INJECTION)) for found in outcome.introduced
    )
    review = compose(replace(outcome, introduced=hostile), FakeEngine().fix, most=1)
    body = comment_body(review.comments[0])
    for text in (review.summary, body):
        rendered = re.sub(r"(`+)(?:(?!\1).)+?\1", "", text, flags=re.DOTALL)
        for harm in ("<script", "<img", "@octocat", "](javascript", "![i]"):
            assert harm not in rendered
    assert fingerprint_in(body) == review.comments[0].fingerprint
    assert is_summary(review.summary)


def _saying(result: Any, message: str) -> Any:
    return replace(result, diagnostic=replace(result.diagnostic, message=message), repair=None)


def test_a_suggestion_cannot_end_its_block(repository: Repository) -> None:
    base = repository.commit({})
    repository.commit({"a.py": 'x = BAD + """```\n````\n"""\n'})
    payload = review_payload(compose(outcome_of(repository, base), FakeEngine().fix))
    assert "````suggestion\n" in payload["comments"][0]["body"]
