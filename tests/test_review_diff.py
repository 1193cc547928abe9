from pathlib import Path

import pytest

from tclint.git.diff import Added, added_lines
from tclint.review.git import Git, GitError
from tests.review_repository import Repository, new_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "repo")


def added(repository: Repository, old: str, new: str) -> dict[str, tuple[Added, ...]]:
    return added_lines(Git(repository.folder).diff(old, new))


def test_runs_of_added_lines_are_numbered_in_the_new_file(repository: Repository) -> None:
    old = repository.commit({"a.py": "1\n2\n3\n4\n5\n"})
    new = repository.commit({"a.py": "0\n1\n3\nx\ny\n5\n"})
    assert added(repository, old, new) == {"a.py": (Added(1, 1), Added(4, 5))}


def test_deleted_lines_and_files_add_nothing(repository: Repository) -> None:
    old = repository.commit({"a.py": "1\n2\n", "b.py": "1\n"})
    new = repository.commit({"a.py": "1\n", "b.py": None})
    assert added(repository, old, new) == {}


def test_a_new_file_is_added_whole(repository: Repository) -> None:
    old = repository.commit({"a.py": ""})
    new = repository.commit({"a.py": "1\n2", "empty.py": ""})
    assert added(repository, old, new) == {"a.py": (Added(1, 2),)}


def test_a_missing_newline_at_the_end_is_no_line(repository: Repository) -> None:
    old = repository.commit({"a.py": "1\n2", "b.py": "1\n2\n"})
    new = repository.commit({"a.py": "1\n2\n3\n", "b.py": "1\n3"})
    assert added(repository, old, new) == {"a.py": (Added(2, 3),), "b.py": (Added(2, 2),)}


def test_a_renamed_file_has_only_its_changed_lines(repository: Repository) -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    old = repository.commit({"a.py": text, "same.py": text[::-1]})
    new = repository.commit(
        {
            "a.py": None,
            "b.py": text.replace("line 7", "new 7"),
            "same.py": None,
            "moved.py": text[::-1],
        }
    )
    assert added(repository, old, new) == {"b.py": (Added(8, 8),)}


def test_binary_files_have_no_lines(repository: Repository) -> None:
    old = repository.commit({"a.py": b"\0\1", "b.py": "1\n"})
    new = repository.commit({"a.py": b"\0\2", "b.py": "2\n"})
    assert added(repository, old, new) == {"b.py": (Added(1, 1),)}


def test_carriage_returns_do_not_end_a_line_of_git(repository: Repository) -> None:
    old = repository.commit({"a.py": b"1\r\n2\r3\n"})
    new = repository.commit({"a.py": b"1\r\n2\r3\n4\r\n"})
    assert added(repository, old, new) == {"a.py": (Added(3, 3),)}


def test_lines_that_look_like_headers_are_only_lines(repository: Repository) -> None:
    old = repository.commit({"a.py": "-- a/x\n@@ -1 +1 @@\n"})
    new = repository.commit({"a.py": "++ b/other.py\ndiff --git a/x b/x\n@@ -1 +9 @@\n"})
    assert added(repository, old, new) == {"a.py": (Added(1, 3),)}


@pytest.mark.parametrize("name", ["a b.py", "ä😋.py", 'q"uote.py', "back\\slash.py", "tab\t.py"])
def test_odd_names_are_read_back(repository: Repository, name: str) -> None:
    old = repository.commit({})
    new = repository.commit({name: "1\n"})
    assert added(repository, old, new) == {name: (Added(1, 1),)}


def test_the_users_settings_for_diffs_do_not_matter(repository: Repository) -> None:
    for key, value in {
        "diff.noprefix": "true",
        "diff.external": "false",
        "diff.context": "9",
        "diff.interHunkContext": "9",
        "color.ui": "always",
        "diff.renames": "false",
        "diff.relative": "true",
        "core.quotePath": "false",
    }.items():
        repository.git("config", key, value)
    text = "".join(f"{n}\n" for n in range(20))
    old = repository.commit({"a.py": text})
    new = repository.commit({"a.py": None, "ö.py": text.replace("5\n", "five\n", 1)})
    (repository.folder / "sub").mkdir()
    diff = Git(repository.folder / "sub").diff(old, new)
    assert added_lines(diff) == {"ö.py": (Added(6, 6),)}


def test_context_lines_split_runs() -> None:
    diff = b"--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,5 @@\n 1\n+2\n-x\n+3\n 4\n+5\n\\ No newline\n"
    assert added_lines(diff) == {"a.py": (Added(2, 2), Added(3, 3), Added(5, 5))}


@pytest.mark.parametrize(
    "revision", ["nope", "--all", "", "HEAD^{tree}", "HEAD:a.py", "HEAD..HEAD"]
)
def test_what_names_no_commit_is_refused(repository: Repository, revision: str) -> None:
    repository.commit({"a.py": "1\n"})
    with pytest.raises(GitError, match=r"revision|no such commit"):
        Git(repository.folder).commit(revision)


def test_a_folder_without_a_repository_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match="not a git repository"):
        Git(tmp_path).commit("HEAD")
    with pytest.raises(GitError, match="cannot run git"):
        Git(tmp_path / "missing").commit("HEAD")


def test_histories_without_a_common_ancestor_are_refused(repository: Repository) -> None:
    one = repository.commit({"a.py": "1\n"})
    repository.git("checkout", "--quiet", "--orphan", "other")
    other = repository.commit({"a.py": "2\n"})
    with pytest.raises(GitError, match="no common ancestor"):
        Git(repository.folder).merge_base(one, other)
