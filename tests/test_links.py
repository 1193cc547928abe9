"""Links that lead out of a project: what is behind them changes only where somebody asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_runs import tclint

PRINTS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("x")
        return torch.zeros(3).to(x.device) + x * x.sum().item()
"""
FIXES = [
    ("fix",),
    ("fix", "."),
    ("fix", "--unsafe-fixes"),
    ("fix", "sub"),
    ("check", "--add-ignore"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a file, a link to it, and links to files outside."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "sub").mkdir(parents=True)
    outside.mkdir()
    (project / "tclint.toml").write_text("")
    for file in (project / "net.py", outside / "secret.py", outside / "other.py"):
        file.write_text(PRINTS)
    (project / "link.py").symlink_to(outside / "secret.py")
    (project / "sub" / "link.py").symlink_to("../../outside/other.py")
    (project / "sub" / "chain.py").symlink_to("../link.py")
    (project / "sub" / "inside.py").symlink_to("../net.py")
    return project


def changed(project: Path) -> list[str]:
    """The files that do not hold their first text any more."""
    files = (project / "net.py", *sorted((project.parent / "outside").iterdir()))
    return [file.name for file in files if file.read_text() != PRINTS]


@pytest.mark.parametrize("arguments", FIXES, ids=" ".join)
def test_nothing_outside_is_changed_unless_it_is_named(
    project: Path, arguments: tuple[str, ...]
) -> None:
    done = tclint(*arguments, cwd=project)
    assert changed(project) == ["net.py"], done.stderr
    assert "out of the project: not changed, unless you name the file" in done.stderr
    assert all(path.is_symlink() for path in (project / "link.py", project / "sub" / "inside.py"))


def test_no_diff_shows_what_lies_outside(project: Path) -> None:
    done = tclint("fix", "--diff", cwd=project)
    assert "net.py" in done.stdout
    assert "link.py" not in done.stdout
    assert "link.py" in done.stderr


def test_a_link_that_is_named_is_followed(project: Path) -> None:
    done = tclint("fix", "link.py", cwd=project)
    assert (changed(project), "out of the project" in done.stderr) == (["secret.py"], False)
    assert (project / "link.py").is_symlink()


def test_a_folder_that_is_named_is_part_of_the_project(project: Path) -> None:
    done = tclint("fix", ".", "../outside", cwd=project)
    assert changed(project) == ["net.py", "other.py", "secret.py"]
    assert "out of the project" not in done.stderr


def test_the_folder_of_the_configuration_is_the_project(project: Path) -> None:
    done = tclint("fix", ".", cwd=project / "sub")
    assert changed(project) == ["net.py"], done.stderr


def test_a_project_that_is_reached_by_a_link_is_inside(project: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(project)
    done = tclint("fix", str(tmp_path / "way"), cwd=tmp_path / "outside")
    # The current folder counts, too: it is where the user is.
    assert changed(project) == ["net.py", "other.py", "secret.py"], done.stderr


def test_they_are_read_all_the_same(project: Path) -> None:
    done = tclint("check", "--output-format", "concise", cwd=project)
    assert "link.py:6:9: TCL120" in done.stdout
