"""The documentation: what it shows is what happens, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.site_check import broken, incomplete, long_messages
from tests.cli_runs import tclint

BLOCK = re.compile(r"```console\n(?P<body>.*?)```", re.DOTALL)
RUN = re.compile(r"^\$ tclint (?P<arguments>(?:check|fix --diff) fixtures/\S+.*)$", re.MULTILINE)


def shown(path: Path) -> list[tuple[str, str]]:
    """The commands of a page that read the repository's programs, with what they print."""
    runs = []
    for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
        command = RUN.match(block["body"])
        if command is not None:
            runs.append((command["arguments"], block["body"][command.end() + 1 :]))
    return runs


def is_about_torch(line: str) -> bool:
    """Which torch is installed depends on where the tests run."""
    return line.startswith("Findings are for torch ")


@pytest.mark.parametrize("page", ["docs/tutorial.md", "README.md"])
def test_commands_print_what_the_page_shows(repository: Path, page: str) -> None:
    runs = shown(repository / page)
    assert runs
    for arguments, output in runs:
        # The pages leave out trailing spaces, as editors do.
        done = tclint(*arguments.split(), cwd=repository, TCLINT_NO_CACHE="1")
        lines = [line.rstrip() for line in done.stdout.splitlines() if not is_about_torch(line)]
        assert lines == [line.rstrip() for line in output.splitlines() if not is_about_torch(line)]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING  -" not in done.stderr
    assert [*broken(tmp_path), *incomplete(tmp_path)] == []
    rules = {path.stem for path in (repository / "docs" / "rules").glob("*.md")}
    assert rules == {page.parent.name for page in tmp_path.glob("rules/*/index.html")}


def test_a_link_that_leads_nowhere_and_a_missing_part_are_told(tmp_path: Path) -> None:
    page = tmp_path / "rules" / "TCL101" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(
        '<h2 id="what-it-does"></h2><a href="../gone/">x</a><a href="#here">y</a>'
        '<a href="#what-it-does">z</a><script src="https://elsewhere.example/x.js"></script>'
    )
    assert sorted(broken(tmp_path)) == [
        "rules/TCL101/index.html: #here leads to no place of that page",
        "rules/TCL101/index.html: ../gone/ leads nowhere",
        "rules/TCL101/index.html: loads https://elsewhere.example/x.js",
    ]
    assert len([*incomplete(tmp_path)]) == 4


@pytest.mark.slow
def test_no_message_is_longer_than_a_line() -> None:
    assert [*long_messages()] == []


@pytest.mark.parametrize(
    "arguments", ["check train.py --output-format concise", "fix --diff train.py"]
)
def test_the_tutorial_about_a_script_shows_what_is_printed(
    repository: Path, tmp_path: Path, arguments: str
) -> None:
    page = (repository / "docs" / "slow-script.md").read_text(encoding="utf-8")
    text = (repository / "fixtures" / "tutorial" / "train.py").read_text(encoding="utf-8")
    assert text in page
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    done = tclint(*arguments.split(), cwd=tmp_path, TCLINT_NO_CACHE="1")
    told = [line for line in done.stdout.splitlines() if not is_about_torch(line)]
    assert "\n".join(line.rstrip() for line in told) in page
