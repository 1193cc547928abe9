"""Which files a run looks at."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from pathspec import GitIgnoreSpec

from tclint.config import Config
from tclint.source.discovery import Discovery, discover
from tclint.source.patterns import compile_patterns


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(root: Path, *paths: Path, **config: Any) -> list[str]:
    result = discover(paths or (root,), Config(root, **config))
    assert not result.errors
    return [str(path.relative_to(root)) for path in result.files]


def test_folder_is_walked_in_the_order_of_paths(tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a.py", "notes.md", "stub.pyi", "script")
    assert found(tmp_path) == ["a/b/c.py", "a/z.py", "a.py", "b.py"]


def test_paths_come_back_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "src/a.py")
    monkeypatch.chdir(tmp_path)
    for given in (Path(), Path("src"), Path("src/a.py")):
        assert discover([given], Config(tmp_path)).files == (Path("src/a.py"),)


def test_path_given_twice_is_checked_once(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b/c.py")
    twice = (tmp_path, tmp_path / "a.py", tmp_path / "b", tmp_path / "b" / ".." / "a.py")
    assert found(tmp_path, *twice) == ["a.py", "b/c.py"]


def test_missing_path_is_an_error_and_the_rest_is_found(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    result = discover([tmp_path / "gone", tmp_path / "a.py"], Config(tmp_path))
    assert result.files == (tmp_path / "a.py",)
    assert [str(e) for e in result.errors] == [
        f"{tmp_path / 'gone'}: cannot read: no such file or directory"
    ]


@pytest.mark.parametrize(
    "folder", [".git", ".venv", "venv", "__pycache__", "build", "node_modules"]
)
def test_default_excludes_hold_at_any_depth(tmp_path: Path, folder: str) -> None:
    tree(tmp_path, f"{folder}/a.py", f"pkg/{folder}/b.py", "pkg/c.py")
    assert found(tmp_path) == ["pkg/c.py"]


def test_excluded_folder_is_walked_when_it_is_named(tmp_path: Path) -> None:
    tree(tmp_path, "build/a.py", "build/build/b.py")
    assert found(tmp_path, tmp_path / "build") == ["build/a.py"]


def test_named_file_needs_no_suffix_and_ignores_excludes(tmp_path: Path) -> None:
    tree(tmp_path, "script", "build/a.py", "stub.pyi")
    named = (tmp_path / "script", tmp_path / "build" / "a.py", tmp_path / "stub.pyi")
    assert found(tmp_path, *named) == ["build/a.py", "script"]


def test_force_exclude_holds_for_named_files_too(tmp_path: Path) -> None:
    tree(tmp_path, "build/a.py", "old/b.py", "c.py")
    named = (tmp_path / "build" / "a.py", tmp_path / "old", tmp_path / "c.py")
    config = {"force_exclude": True, "extend_exclude": ("/old",)}
    assert found(tmp_path, *named, **config) == ["c.py"]


def test_exclude_replaces_the_defaults_and_extend_exclude_adds(tmp_path: Path) -> None:
    tree(tmp_path, "build/a.py", "gen/b.py", "pkg/c_pb2.py", "pkg/sub/d.py", "pkg/e.py")
    assert found(tmp_path, exclude=("gen",)) == [
        "build/a.py",
        "pkg/c_pb2.py",
        "pkg/e.py",
        "pkg/sub/d.py",
    ]
    assert found(tmp_path, extend_exclude=("*_pb2.py", "pkg/sub", "gen/**")) == ["pkg/e.py"]


def test_patterns_are_relative_to_the_configuration_not_to_the_path_given(tmp_path: Path) -> None:
    tree(tmp_path, "a/b/c.py", "a/d.py")
    assert found(tmp_path, tmp_path / "a", extend_exclude=("/a/b",)) == ["a/d.py"]


def test_include_may_take_more(tmp_path: Path) -> None:
    tree(tmp_path, "SConstruct", "a.py", "bin/tool.in", "bin/x.txt")
    assert found(tmp_path, include=("*.py", "SConstruct", "bin/*.in")) == [
        "SConstruct",
        "a.py",
        "bin/tool.in",
    ]


def test_exclusion_can_be_taken_back(tmp_path: Path) -> None:
    tree(tmp_path, "gen/a.py", "gen/keep.py")
    assert found(tmp_path, exclude=("gen/*", "!gen/keep.py")) == ["gen/keep.py"]


def test_gitignore_files_nest(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "out/b.py", "pkg/c.py", "pkg/out/d.py", "pkg/gen_x.py", "pkg/gen_y.py")
    (tmp_path / ".gitignore").write_text("# built\r\nout/\r\ngen_*.py\r\n!\r\n")
    (tmp_path / "pkg" / ".gitignore").write_text("!gen_y.py\n/c.py\n")
    assert found(tmp_path) == ["a.py", "pkg/gen_y.py"]
    assert len(found(tmp_path, respect_gitignore=False)) == 6


def test_gitignore_above_the_path_holds_up_to_the_repository(tmp_path: Path) -> None:
    tree(tmp_path, "repo/pkg/a.py", "repo/pkg/b.py", "repo/pkg/c.py", "repo/pkg/d.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "repo" / ".gitignore").write_text("/pkg/b.py\n")
    (tmp_path / "repo" / ".git" / "info").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "info" / "exclude").write_text("c.py\n")
    folder = tmp_path / "repo" / "pkg"
    assert found(folder) == ["a.py", "d.py"]


def test_ignored_folder_is_walked_when_it_is_named(tmp_path: Path) -> None:
    tree(tmp_path, "data/gen/a.py", "data/gen/b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/data/*\n")
    assert found(tmp_path) == []
    assert found(tmp_path, tmp_path / "data" / "gen") == ["data/gen/a.py", "data/gen/b.py"]


def test_links_to_folders_are_not_followed_and_loops_do_no_harm(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py", "elsewhere/b.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path / "pkg")
    (tmp_path / "pkg" / "self.py").symlink_to(tmp_path / "pkg" / "self.py")
    (tmp_path / "pkg" / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "pkg" / "out").symlink_to(tmp_path / "elsewhere")
    assert found(tmp_path, tmp_path / "pkg") == ["pkg/a.py"]
    assert found(tmp_path, tmp_path / "pkg" / "out") == ["pkg/out/b.py"]


def test_linked_file_is_taken_once_under_its_own_name(tmp_path: Path) -> None:
    tree(tmp_path, "z.py")
    (tmp_path / "a.py").symlink_to(tmp_path / "z.py")
    assert found(tmp_path) == ["z.py"]


def test_loop_given_by_name_is_an_error(tmp_path: Path) -> None:
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    (error,) = discover([loop], Config(tmp_path)).errors
    assert "symbolic links" in error.message


def test_unreadable_folder_is_an_error_and_the_rest_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "a.py", "closed/b.py")
    closed = tmp_path / "closed"
    closed.chmod(0)
    if os.access(closed, os.R_OK):  # root reads everything
        real = os.scandir

        def scandir(path: str) -> Any:
            if Path(path) == closed:
                raise PermissionError(13, "Permission denied")
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
    result: Discovery = discover([tmp_path], Config(tmp_path))
    closed.chmod(0o700)
    assert result.files == (tmp_path / "a.py",)
    assert [str(e) for e in result.errors] == [f"{closed}: cannot read folder: permission denied"]


def test_very_deep_tree_is_walked(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(300):
        folder /= "d"
        folder.mkdir()
    (folder / "a.py").write_text("")
    assert len(found(tmp_path)) == 1


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*a" * 60 + "b", "a" * 200, None),
        ("*a" * 60 + "b", "a" * 200 + "b", True),
        ("*[ab]" * 40 + "c", "a" * 200, None),
        ("a*b*c", "abbcc", True),
        ("a*bc*bd", "abcbcbd", True),
        ("*a?*a", "folder/aaa", True),
        ("*a?*a", "folder/aa", None),
        ("*a*b/c", "xa/b/c", None),
        ("**/" + "a/**/" * 60 + "b", "a/" * 1000 + "c", None),
        ("**/" + "a/**/" * 60 + "b", "a/" * 1000 + "b", True),
        ("a/**/b/**/c", "a/b/c", True),
        ("a/**/b/**/c", "a/xb/b/x/c", True),
        ("a/**/b/**/c", "a/bx/c", None),
        ("**/a/b/**/c", "a/x/a/b/c", True),
        ("**/*a*b/**/c", "xa/b/ab/c", True),
    ],
)
def test_stars_without_end_take_no_time_without_end(
    pattern: str, path: str, matches: bool | None
) -> None:
    name = path.rpartition("/")[2]
    assert compile_patterns([pattern]).match(path, name, folder=False) is matches


def test_patterns_with_stars_match_what_git_matches() -> None:
    chance = random.Random(1)
    parts = ("a", "ab", "*a", "a*", "*", "*a*b", "?", "[ab]", "[!a]*", "**", "**", "**")
    names = ("a", "b", "ab", "ba", "aa", "a.b", "axb")
    for _ in range(400):
        pattern = "/".join(["*", *chance.choices(parts, k=chance.randint(1, 6))])
        pattern = chance.choice(("", "/")) + pattern + chance.choice(("", "", "/"))
        git, ours = GitIgnoreSpec.from_lines([pattern]), compile_patterns([pattern])
        for _ in range(5):
            path = "/".join(chance.choices(names, k=chance.randint(1, 8)))
            for folder in (False, True):
                expected = git.check_file(path + "/" * folder).include
                name = path.rpartition("/")[2]
                assert ours.match(path, name, folder=folder) is expected, (pattern, path)
