"""Reporting less: what is new since a baseline, what changed, and silencing what is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runs import BREAKS, commit_all, git, tclint

SECOND = BREAKS.replace("return x * scale", "return x * scale + x.mean().item()")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tclint.toml").write_text("", encoding="utf-8")
    (folder / "model.py").write_text(BREAKS, encoding="utf-8")
    return folder


def places(folder: Path, *arguments: str) -> list[str]:
    """The places that a run reports."""
    done = tclint("check", "--output-format=concise", "-q", *arguments, cwd=folder)
    assert done.returncode in {0, 1}, done.stderr
    assert bool(done.stdout) is (done.returncode == 1)
    return [line.partition(": ")[0] for line in done.stdout.splitlines()]


BASELINE = ("--baseline", "known.json")
DAMAGED = """{"version": 1, "findings": [
    {"path": "model.py", "code": %s, "function": "f", "source": "x", "count": %s}
]}"""


def update(project: Path, *arguments: str) -> str:
    done = tclint("check", *BASELINE, "--update-baseline", *arguments, cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    return done.stderr


def test_a_baseline_leaves_new_findings(project: Path) -> None:
    assert update(project) == "Wrote known.json: 1 known finding.\n"
    assert places(project, *BASELINE) == []
    (project / "model.py").write_text(SECOND, encoding="utf-8")
    assert places(project, *BASELINE) == ["model.py:7:28"]


def test_a_baseline_holds_when_lines_move_or_are_indented(project: Path) -> None:
    update(project)
    moved = "# new\n\n" + BREAKS.replace(
        "        scale = x.sum().item()", "        if True:\n            scale = x.sum().item()"
    )
    (project / "model.py").write_text(moved, encoding="utf-8")
    assert places(project, *BASELINE) == []


def test_the_same_line_twice_is_two_findings(project: Path) -> None:
    update(project)
    twice = BREAKS.replace(
        "        return", "        x = x * scale\n        scale = x.sum().item()\n        return"
    )
    (project / "model.py").write_text(twice, encoding="utf-8")
    assert len(places(project, *BASELINE)) == 1


def test_entries_without_a_finding_are_told_and_taken_out(project: Path) -> None:
    update(project)
    (project / "model.py").write_text("x = 1\n", encoding="utf-8")
    done = tclint("check", *BASELINE, cwd=project)
    assert done.returncode == 0
    assert "warning: known.json: 1 entry without a finding, such as model.py: TCL101" in done.stderr
    update(project)
    assert tclint("check", *BASELINE, cwd=project).stderr == ""


def test_files_that_are_not_checked_keep_their_entries(project: Path) -> None:
    (project / "other.py").write_text(BREAKS, encoding="utf-8")
    update(project)
    done = tclint("check", *BASELINE, "model.py", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    update(project, "model.py")
    assert places(project, *BASELINE) == []
    (project / "other.py").unlink()
    assert update(project, "model.py") == "Wrote known.json: 1 known finding.\n"


def test_the_summary_counts_what_the_baseline_knows(project: Path) -> None:
    update(project)
    out = tclint("check", *BASELINE, cwd=project).stdout
    assert out.startswith("All checks passed! 1 known finding in the baseline.\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "known.json: no such baseline; --update-baseline writes it"),
        ("{", "known.json: not a baseline: "),
        ("[]", "known.json: not a baseline of version 1; remove it, and --update-"),
        ('{"version": 1, "findings": [{}]}', "known.json: not a baseline: an entry is damaged"),
        (DAMAGED % ('"TCL101"', '"x"'), "known.json: not a baseline: an entry is damaged"),
        (DAMAGED % ("1", "1"), "known.json: not a baseline: an entry is damaged"),
        ("[" * 100_000, "known.json: not a baseline: "),
    ],
)
def test_a_baseline_that_cannot_be_used_is_one_error(
    project: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (project / "known.json").write_text(content, encoding="utf-8")
    done = tclint("check", *BASELINE, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_a_full_disk_leaves_the_old_baseline(project: Path) -> None:
    update(project)
    before = (project / "known.json").read_bytes()
    many = "".join(f"    y{n} = x.sum().item()\n" for n in range(200))
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n{many}"
    (project / "model.py").write_text(text, encoding="utf-8")
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "from tclint.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "check", "--no-cache", *BASELINE, "--update-baseline"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "known.json: cannot write: file too large" in done.stderr
    assert (project / "known.json").read_bytes() == before
    assert [path.name for path in project.glob("*known*")] == ["known.json"]


def test_a_baseline_reads_well_in_reviews(project: Path) -> None:
    update(project)
    text = (project / "known.json").read_text(encoding="utf-8")
    assert json.loads(text)["findings"] == [
        {
            "path": "model.py",
            "code": "TCL101",
            "function": "Net.forward",
            "source": "scale = x.sum().item()",
            "count": 1,
        }
    ]
    assert sum('"TCL101"' in line for line in text.splitlines()) == 1


def test_only_lines_that_are_not_committed_are_reported(project: Path) -> None:
    commit_all(project)
    assert places(project, "--diff-only=HEAD") == []
    (project / "model.py").write_text(SECOND, encoding="utf-8")
    assert places(project, "--diff-only=HEAD") == ["model.py:7:28"]
    git(project, "add", "model.py")
    assert places(project, "--diff-only=HEAD") == ["model.py:7:28"]
    (project / "new file é.py").write_text(BREAKS, encoding="utf-8")
    assert places(project, "--diff-only=HEAD") == ["model.py:7:28", "new file é.py:6:17"]


def test_lines_changed_since_the_branch_began_are_reported(project: Path) -> None:
    commit_all(project)
    git(project, "branch", "-m", "main")
    git(project, "switch", "-qc", "work")
    (project / "model.py").write_text(SECOND, encoding="utf-8")
    commit_all(project)
    git(project, "switch", "-q", "main")
    (project / "other.py").write_text(BREAKS, encoding="utf-8")
    commit_all(project)
    git(project, "switch", "-q", "work")
    assert places(project, "--diff-only", "main") == ["model.py:7:28"]


def test_a_folder_of_a_repository_can_be_checked_from_inside(project: Path) -> None:
    commit_all(project)
    inner = project / "pkg"
    inner.mkdir()
    (inner / "model.py").write_text(BREAKS, encoding="utf-8")
    git(project, "add", ".")
    assert places(inner, "--diff-only=HEAD") == ["model.py:6:17"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--diff-only", "nosuch"], "no revision 'nosuch' in "),
        (["--diff-only=--all"], "'--all' is not a revision"),
        (["--update-baseline"], "--baseline names the file to write"),
        ([*BASELINE, "--update-baseline", "--diff-only=HEAD"], "needs all findings"),
        (["--diff-only=HEAD", "-"], "standard input has no file to change, and no history"),
        (["--add-ignore=two\nlines"], "a reason is one line"),
        (["--watch", "-"], "standard input is read once"),
        (["--watch", "--add-ignore"], "--watch changes no files"),
        (["--watch", *BASELINE, "--update-baseline"], "--watch changes no files"),
    ],
)
def test_what_makes_no_sense_is_refused(project: Path, arguments: list[str], message: str) -> None:
    commit_all(project)
    done = tclint("check", *arguments, cwd=project, stdin=b"x = 1\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_before_the_first_commit_everything_has_changed(project: Path) -> None:
    git(project, "init", "--quiet")
    assert places(project, "--diff-only=HEAD") == ["model.py:6:17"]
    git(project, "add", "model.py")
    assert places(project, "--diff-only=HEAD") == ["model.py:6:17"]


def test_every_file_is_asked_of_its_own_repository(project: Path) -> None:
    commit_all(project)
    inner, elsewhere = project / "vendored", project.parent / "elsewhere"
    for folder in (inner, elsewhere):
        folder.mkdir()
        (folder / "model.py").write_text(BREAKS, encoding="utf-8")
        commit_all(folder)
    assert places(project, "--diff-only=HEAD", ".", "../elsewhere") == []
    for folder in (inner, elsewhere):
        (folder / "model.py").write_text(SECOND, encoding="utf-8")
    changed = places(project, "--diff-only=HEAD", ".", "../elsewhere")
    assert changed == ["../elsewhere/model.py:7:28", "vendored/model.py:7:28"]


def test_what_a_link_leads_to_in_no_repository_is_new(project: Path) -> None:
    (project.parent / "beside").mkdir()
    (project.parent / "beside" / "other.py").write_text(BREAKS, encoding="utf-8")
    (project / "linked.py").symlink_to(project.parent / "beside" / "other.py")
    commit_all(project)
    assert places(project, "--diff-only", "HEAD") == ["linked.py:6:17"]


def test_a_revision_that_a_shallow_clone_lacks_is_named(project: Path) -> None:
    commit_all(project)
    commit_all(project)
    git(project, "clone", "--quiet", "--depth=1", project.as_uri(), "shallow")
    assert places(project / "shallow", "--diff-only=HEAD") == []
    done = tclint("check", "--diff-only", "HEAD~1", cwd=project / "shallow")
    assert done.returncode == 2
    assert "no revision 'HEAD~1' in " in done.stderr
    assert "fetch more history" in done.stderr


def test_without_a_repository_nothing_can_have_changed(project: Path) -> None:
    done = tclint(
        "check", "--diff-only=HEAD", cwd=project, GIT_CEILING_DIRECTORIES=str(project.parent)
    )
    assert done.returncode == 2
    assert "not a git repository" in done.stderr


@pytest.mark.parametrize(
    ("option", "comment"),
    [
        ("--add-ignore", "  # tclint: ignore[TCL101]"),
        ("--add-ignore=cold path", "  # tclint: ignore[TCL101]  -- cold path"),
    ],
)
def test_findings_can_be_silenced_where_they_are(project: Path, option: str, comment: str) -> None:
    done = tclint("check", option, cwd=project)
    assert (done.returncode, done.stderr) == (0, "Silenced 1 finding in 1 file.\n")
    line = "scale = x.sum().item()"
    text = (project / "model.py").read_text(encoding="utf-8")
    assert text == BREAKS.replace(line, line + comment)
    assert places(project) == []


def test_all_findings_of_a_statement_share_a_comment(project: Path) -> None:
    text = BREAKS.replace("x.sum().item()", "(\n            x.sum().item()\n + print(x)\n)")
    (project / "model.py").write_text(text, encoding="utf-8")
    assert len(places(project)) == 2
    assert tclint("check", "--add-ignore", cwd=project).returncode == 0
    silenced = (project / "model.py").read_text(encoding="utf-8")
    assert ")  # tclint: ignore[TCL101, TCL120]\n" in silenced
    assert silenced.count("#") == 1
    assert places(project) == []


def test_what_comments_silence_can_be_looked_at(project: Path) -> None:
    text = BREAKS.replace(".item()", ".item()  # tclint: ignore[TCL101, TCL102]")
    (project / "model.py").write_text(f"# tclint: disable\n{text}", encoding="utf-8")
    assert places(project, "--ignore-noqa") == ["model.py:7:17"]
    assert places(project, "--ignore=TCL002") == []


def test_attributes_that_hide_differences_hide_no_findings(project: Path) -> None:
    (project / ".gitattributes").write_text("*.py -diff\n", encoding="utf-8")
    commit_all(project)
    (project / "model.py").write_text(SECOND, encoding="utf-8")
    assert places(project, "--diff-only=HEAD") == ["model.py:7:28"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--diff-only", "no-such-revision", "no revision 'no-such-revision'"),
        ("--diff-only", "", "is not a revision"),
        ("--baseline", "none.json", "no such baseline"),
        ("--baseline", "model.py", "not a baseline"),
    ],
)
@pytest.mark.parametrize("command", ["check", "fix", "fix --diff"])
def test_what_cannot_be_narrowed_by_is_told_before_anything_is_checked(
    tmp_path: Path, option: str, value: str, told: str, command: str
) -> None:
    (tmp_path / "model.py").write_text(BREAKS)
    commit_all(tmp_path)

    program = (
        "import sys\n"
        "from tclint.lint import engine\n"
        "from tclint.cli import checking, fixing\n"
        "def checked(*_, **__): raise SystemExit('checked')\n"
        "checking.check_files = engine.check_files = checked\n"
        "from tclint.fix import apply, recheck\n"
        "recheck.check_files = checked\n"
        "from tclint.cli import main\n"
        f"sys.argv = ['tclint', *{command.split()!r}, {option!r}, {value!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert told in done.stderr
