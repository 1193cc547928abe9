"""A repository that somebody sends: whatever its settings name, nothing of it is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import pytest

from tclint.config import Config
from tclint.git.changes import ChangesError, changed
from tclint.git.run import GitError, command, environment
from tclint.lint.engine import check_files
from tclint.review.git import Git
from tests.cli_runs import BREAKS, commit_all, git, tclint

needs_git = pytest.mark.skipif(
    shutil.which("git") is None or sys.platform == "win32", reason="needs git and a shell"
)
pytestmark = needs_git

SECOND: Final = BREAKS + "\n\nclass More(Net):\n    def forward(self, x: torch.Tensor):\n"
CHANGED: Final = SECOND + "        return x.sum().item()\n"

# What git-config(1) says is run: the command itself, a program by its path, or with a shell.
PROGRAMS: Final = (
    "core.alternateRefsCommand", "core.askPass", "core.editor", "core.fsmonitor", "core.gitProxy",
    "core.pager", "core.sshCommand", "credential.helper", "diff.external", "diff.guitool",
    "diff.tool", "diff.evil.command", "diff.evil.textconv", "difftool.evil.cmd",
    "difftool.evil.path", "filter.evil.clean", "filter.evil.process", "filter.evil.smudge",
    "gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand",
    "gpg.x509.program", "imap.tunnel", "instaweb.httpd", "interactive.diffFilter", "merge.tool",
    "merge.evil.driver", "mergetool.evil.cmd", "pager.archive", "pager.cat-file", "pager.diff",
    "pager.diff-index", "pager.diff-tree", "pager.ls-files", "pager.ls-tree", "pager.merge-base",
    "pager.rev-parse", "receive.procReceiveRefs", "remote.origin.receivepack",
    "remote.origin.uploadpack", "remote.origin.vcs", "sendemail.sendmailCmd", "sendemail.toCmd",
    "sendemail.ccCmd", "sequence.editor", "ssh.variant", "submodule.sub.update", "tar.tar.command",
    "tar.tgz.command", "trailer.evil.cmd", "trailer.evil.command", "uploadpack.packObjectsHook",
    "alias.archive", "alias.cat-file", "alias.diff", "alias.diff-index", "alias.diff-tree",
    "alias.hash-object", "alias.ls-files", "alias.ls-tree", "alias.merge-base", "alias.rev-parse",
    "alias.update-index", "man.evil.cmd", "browser.evil.cmd", "guitool.evil.cmd",
    "commit.template", "init.templateDir", "url.ext::sh.insteadOf",
)  # fmt: skip
HOOKS: Final = (
    "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change", "pre-commit",
    "query-watchman", "reference-transaction", "update",
)  # fmt: skip
# What changes the answers, or reads another file.
TWISTED: Final = (
    ("color.ui", "always"), ("color.diff", "always"), ("core.quotePath", "false"),
    ("core.attributesFile", "/dev/zero"), ("core.bare", "false"),
    ("core.excludesFile", "/dev/zero"), ("core.ignoreCase", "true"), ("core.trustctime", "false"),
    ("core.untrackedCache", "true"), ("core.whitespace", "cr-at-eol"),
    ("diff.algorithm", "patience"), ("diff.autoRefreshIndex", "true"), ("diff.colorMoved", "zebra"),
    ("diff.context", "9"), ("diff.dstPrefix", "x/"), ("diff.ignoreSubmodules", "all"),
    ("diff.indentHeuristic", "false"), ("diff.interHunkContext", "99"),
    ("diff.mnemonicPrefix", "true"), ("diff.noprefix", "true"), ("diff.orderFile", "missing"),
    ("diff.relative", "true"), ("diff.renameLimit", "1"), ("diff.renames", "false"),
    ("diff.srcPrefix", "y/"), ("diff.statGraphWidth", "1"), ("diff.submodule", "diff"),
    ("diff.suppressBlankEmpty", "true"), ("diff.wordRegex", "."), ("diff.wsErrorHighlight", "all"),
    ("log.showSignature", "true"), ("status.relativePaths", "false"),
    ("status.showUntrackedFiles", "no"), ("submodule.recurse", "true"),
    ("core.worktree", "/"), ("include.path", "missing"), ("index.threads", "4"),
)  # fmt: skip


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A repository whose settings name one program wherever they can, and what it would write."""
    project, marker = tmp_path / "project", tmp_path / "marker"
    project.mkdir()
    (project / "model.py").write_text(BREAKS, encoding="utf-8")
    (project / "moved.py").write_text("# here\n" * 9 + BREAKS, encoding="utf-8")
    commit_all(project)
    (project / "model.py").write_text(CHANGED, encoding="utf-8")
    git(project, "mv", "moved.py", "there.py")
    (project / "new.py").write_text(BREAKS, encoding="utf-8")
    (project / ".gitattributes").write_text(
        "* filter=evil diff=evil merge=evil text eol=crlf ident export-subst\n", encoding="utf-8"
    )
    spoil(project, marker)
    return project, marker


def spoil(project: Path, marker: Path) -> None:
    program = marker.with_name("program")
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{marker}"\ncat\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    folder = project / ".git"
    for name in HOOKS:
        shutil.copy(program, folder / "hooks" / name)
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info/attributes").write_text("*.py -diff filter=evil diff=evil\n", encoding="utf-8")
    lines = (folder / "config").read_text(encoding="utf-8").splitlines()
    for name in PROGRAMS:
        shell = "!" if name.startswith(("alias.", "credential.", "submodule.")) else ""
        lines += [*section(name), f'{name.rpartition(".")[2]} = "{shell}{program}"']
    lines += ['[filter "evil"]', "required = true", '[remote "origin"]', "promisor = true"]
    lines += [f'url = "ext::{program} %S"', "[protocol]", "allow = always", "[extensions]"]
    for name, value in TWISTED:
        lines += [*section(name), f"{name.rpartition('.')[2]} = {value}"]
    (folder / "config").write_text("\n".join(lines) + "\n", encoding="utf-8")


def section(name: str) -> list[str]:
    first, _, rest = name.partition(".")
    inner = rest.rpartition(".")[0]
    return [f'[{first} "{inner}"]' if inner else f"[{first}]"]


def lines_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    return sorted({":".join(line.split(":")[:2]) for line in found(done)})


def found(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if ".py:" in line and " TCL" in line]


def test_no_setting_of_a_repository_runs_anything_when_changes_are_looked_for(
    hostile: tuple[Path, Path],
) -> None:
    project, marker = hostile
    done = tclint(
        "check", "--diff-only=HEAD", ".", "--output-format", "concise", "--no-cache", cwd=project
    )
    assert done.returncode == 1, done.stderr
    assert lines_of(done) == ["model.py:12", "new.py:6"]
    assert not marker.exists(), marker.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", ".", "--no-cache"),
        ("check", ".", "--output-format", "gitlab"),
        ("fix", ".", "--diff"),
        ("fix", "."),
    ],
)
def test_no_setting_of_a_repository_runs_anything_else(
    hostile: tuple[Path, Path], arguments: tuple[str, ...]
) -> None:
    project, marker = hostile
    assert tclint(*arguments, cwd=project).returncode in {0, 1}
    assert not marker.exists(), marker.read_text(encoding="utf-8")


def test_no_setting_of_a_repository_runs_anything_in_a_review(tmp_path: Path) -> None:
    project, marker = tmp_path / "project", tmp_path / "marker"
    project.mkdir()
    (project / "model.py").write_text(BREAKS, encoding="utf-8")
    commit_all(project)
    (project / "model.py").write_text(CHANGED, encoding="utf-8")
    (project / ".gitattributes").write_text("* filter=evil diff=evil -diff\n", encoding="utf-8")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "More")
    spoil(project, marker)
    done = tclint("review", "--dry-run", "--base", "HEAD~1", "--head", "HEAD", cwd=project)
    assert "model.py" in done.stdout, done.stderr
    assert "12" in done.stdout
    assert not marker.exists(), marker.read_text(encoding="utf-8")


def test_a_folder_that_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    """Git takes any folder with these names in it for a repository, and a clone may carry it."""
    project, marker = tmp_path / "project", tmp_path / "marker"
    (project / "inner").mkdir(parents=True)
    git(project, "init", "--quiet", "--bare", "inner")
    (project / "inner/config").write_text(
        f'[core]\nbare = false\nfsmonitor = "touch {marker}"\nworktree = .\n', encoding="utf-8"
    )
    (project / "inner/model.py").write_text(BREAKS, encoding="utf-8")
    git(project, "init", "--quiet")
    git(project, "add", "inner/model.py")
    git(project, "commit", "--quiet", "-m", "All")
    (project / "inner/model.py").write_text(CHANGED, encoding="utf-8")
    folder = project / "inner"
    done = tclint(
        "check", "--diff-only=HEAD", ".", "--output-format=concise", "--no-cache", cwd=folder
    )
    assert lines_of(done) == ["model.py:12"], done.stderr
    tclint("review", "--dry-run", "--base", "HEAD", "--head", "HEAD", cwd=folder)
    assert not marker.exists()


def test_a_program_of_that_name_in_the_current_folder_is_not_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "git"
    here.write_text("#!/bin/sh\n", encoding="utf-8")
    here.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    assert os.path.isabs(command("version")[0])  # noqa: PTH117
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(GitError, match="not installed"):
        command("version")


def test_the_environment_cannot_make_git_run_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND",
        "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TRACE", "GIT_TRACE2_EVENT",
        "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_DIFF_OPTS",
    ):  # fmt: skip
        monkeypatch.setenv(name, "/bin/evil")
    assert "/bin/evil" not in environment().values()


def test_contents_that_a_clone_lacks_are_not_fetched(tmp_path: Path) -> None:
    project, clone = tmp_path / "project", tmp_path / "clone"
    project.mkdir()
    (project / "model.py").write_text(BREAKS, encoding="utf-8")
    commit_all(project)
    (project / "model.py").write_text(CHANGED, encoding="utf-8")
    git(project, "commit", "--quiet", "-am", "More")
    git(project, "config", "uploadpack.allowFilter", "true")
    url = project.as_uri()
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", url, str(clone))
    done = tclint("check", "--diff-only=HEAD~1", ".", "--no-cache", cwd=clone)
    assert done.returncode == 2
    assert "`git diff` fetches what is missing" in done.stderr


def test_line_ends_that_a_checkout_converts_are_no_change(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BREAKS, encoding="utf-8", newline="\n")
    commit_all(tmp_path)
    (tmp_path / "model.py").write_text(CHANGED, encoding="utf-8", newline="\r\n")
    done = tclint(
        "check", "--diff-only=HEAD", ".", "--output-format=concise", "--no-cache", cwd=tmp_path
    )
    assert lines_of(done) == ["model.py:12"]


def test_lines_are_those_of_the_file_and_not_of_what_a_filter_makes_of_it(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BREAKS, encoding="utf-8")
    commit_all(tmp_path)
    (tmp_path / ".git/info/attributes").write_text("*.py filter=short\n", encoding="utf-8")
    git(tmp_path, "config", "filter.short.clean", "tail -n 3")
    (tmp_path / "model.py").write_text(CHANGED, encoding="utf-8")
    done = tclint(
        "check", "--diff-only=HEAD", ".", "--output-format=concise", "--no-cache", cwd=tmp_path
    )
    assert lines_of(done) == ["model.py:12"]


def test_a_renamed_file_has_changed_where_its_lines_have(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(BREAKS, encoding="utf-8")
    commit_all(tmp_path)
    git(tmp_path, "mv", "old.py", "renamed.py")
    (tmp_path / "renamed.py").write_text(CHANGED, encoding="utf-8")
    done = tclint(
        "check", "--diff-only=HEAD", ".", "--output-format=concise", "--no-cache", cwd=tmp_path
    )
    assert lines_of(done) == ["renamed.py:12"]


def test_a_name_in_another_case_is_the_same_file_where_the_system_says_so(tmp_path: Path) -> None:
    """A hard link stands in for a folder in which case does not count."""
    (tmp_path / "Model.py").write_text(BREAKS, encoding="utf-8")
    commit_all(tmp_path)
    os.link(tmp_path / "Model.py", tmp_path / "model.py")
    with (tmp_path / ".gitignore").open("w", encoding="utf-8") as stream:
        stream.write("model.py\n")
    (tmp_path / "model.py").write_text(CHANGED, encoding="utf-8")
    done = tclint(
        "check",
        "--diff-only=HEAD",
        "model.py",
        "--output-format=concise",
        "--no-cache",
        cwd=tmp_path,
    )
    assert lines_of(done) == ["model.py:12"]


def test_a_repository_that_is_broken_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BREAKS, encoding="utf-8")
    os.mkfifo(tmp_path / ".git")
    done = tclint("check", "--diff-only=HEAD", ".", "--no-cache", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "name", ['"a b".py', "tab\t.py", "line\nend.py", "é.py", "-c.py", ":(x).py"]
)
def test_a_file_of_any_name_has_changed_where_its_lines_have(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(BREAKS, encoding="utf-8")
    commit_all(tmp_path)
    (tmp_path / name).write_text(CHANGED, encoding="utf-8")
    done = tclint(
        "check", "--diff-only=HEAD", ".", "--output-format=json", "--no-cache", cwd=tmp_path
    )
    assert [each["location"]["row"] for each in json.loads(done.stdout)] == [12]


def known_settings() -> list[str]:
    """All that this Git says it knows, with a name where one is to be filled in."""
    listed = subprocess.run(["git", "help", "-c"], capture_output=True, text=True, check=True)
    names = (line.strip() for line in listed.stdout.splitlines())
    return sorted(
        {
            re.sub(r"<[^>]*>|\*", "evil", name)
            for name in names
            if re.fullmatch(r"[A-Za-z0-9]+\.[^ ]+", name)
        }
    )


@pytest.mark.slow(15)
def test_no_setting_that_git_knows_runs_anything(tmp_path: Path) -> None:
    """Each names a program: the answer is the right one, or one error."""
    project, marker = tmp_path / "project", tmp_path / "marker"
    project.mkdir()
    (project / "model.py").write_text(BREAKS, encoding="utf-8")
    commit_all(project)
    (project / "model.py").write_text(CHANGED, encoding="utf-8")
    (project / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n", "utf-8")
    program = marker.with_name("program")
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{marker}"\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    config = project / ".git/config"
    before = config.read_text(encoding="utf-8")
    results = check_files([project / "model.py"], Config(project)).results

    def refused(names: Sequence[str]) -> list[str]:
        """Those that Git does not take a program for; what it takes changes nothing."""
        lines = [(*section(n), f'{n.rpartition(".")[2]} = "{program}"') for n in names]
        config.write_text(before + "\n".join(chain(*lines, [""])), encoding="utf-8")
        git_ = Git(project)
        try:
            rows = {r.diagnostic.span.start.row for r in changed(results, "HEAD")}
            head = git_.commit("HEAD")
            assert rows == {12}, names
            assert git_.diff(head, head) == b""
            assert [blob.path for blob in git_.files(head)] == ["model.py"], names
        except (GitError, ChangesError):
            return [*names]
        finally:
            assert not marker.exists(), names
        return []

    settings = known_settings()
    parts = (settings[start : start + 16] for start in range(0, len(settings), 16))
    alone = chain.from_iterable(refused(part) for part in parts)
    said = [name for each in alone for name in refused([each])]
    assert len(settings) > 400
    assert len(said) < len(settings) / 5, said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away")
def test_a_repository_of_somebody_else_is_trusted_by_its_reader_alone(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BREAKS, encoding="utf-8")
    commit_all(tmp_path)
    for place in (tmp_path, *tmp_path.rglob("*")):
        os.chown(place, 4321, 4321)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").touch()
    own = {"HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
    done = tclint("check", "--diff-only=HEAD", ".", "--no-cache", cwd=tmp_path, **own)
    assert done.returncode == 2
    assert f"`git config --global --add safe.directory {tmp_path}` trusts it" in done.stderr
    (tmp_path / "home/.gitconfig").write_text(f"[safe]\ndirectory = {tmp_path}\n", "utf-8")
    assert (
        tclint("check", "--diff-only=HEAD", ".", "--no-cache", cwd=tmp_path, **own).returncode == 0
    )
