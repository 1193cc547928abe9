"""Rules from files of a folder, which only the caller can name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli_runs import tclint
from tests.review_repository import new_repository

CODE = """\
import torch


@torch.compile
def f(x: torch.Tensor):
    torch.manual_seed(0)
    return x + torch.rand(3)
"""
RULE = '''\
"""ABC101: the global seed is set in a compiled region."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call


class NoSeedHere(Rule[Call]):
    """The seed of torch's global random generator is set in compiled code."""

    code = "ABC101"
    name = "no-seed-here"
    summary = "The global seed is set in compiled code"
    instead = "Set the seed before the compiled function is called"
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007",)

    def check(self, event: Call) -> Finding | None:
        """Report the call by its dotted name, whatever it was imported as."""
        if event.function != "torch.manual_seed":
            return None
        return Finding("`torch.manual_seed` breaks the graph")
'''
PAGE = """\
# no-seed-here (ABC101)

The seed of torch's global random generator is set in compiled code.

## What it does
Reports calls of `torch.manual_seed` that a compiled region reaches.

## Why it hurts
Dynamo cannot trace the call, so the graph breaks there.

## Fix safety
No fix is offered: only the author knows where the seed belongs.

## What to do instead
Set the seed before the compiled function is called.

## When to leave it
Where the function runs once, and one break costs nothing.

## References
- [Graph break GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)

## Examples

### Bad: the seed is set before each draw

- proves: GB0007

```python
def f(x):
    torch.manual_seed(0)
    return x + torch.rand(3)
```

### Good: nothing is drawn

```python
def f(x):
    return x + torch.ones(3)
```
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(CODE)
    folder = tmp_path / "tools" / "lint"
    folder.mkdir(parents=True)
    (folder / "no_seed_here.py").write_text(RULE)
    (folder / "no_seed_here.md").write_text(PAGE)
    return tmp_path


def codes(project: Path, *arguments: str) -> list[str]:
    done = tclint("check", "net.py", "--output-format=json", *arguments, cwd=project)
    assert done.returncode in {0, 1}, done.stderr
    return [each["code"] for each in json.loads(done.stdout)]


def test_a_rule_runs_without_a_package(project: Path) -> None:
    assert "ABC101" not in codes(project)
    assert "ABC101" in codes(project, "--rules", "tools/lint")
    assert "ABC101" not in codes(project), "nothing of it is remembered"
    assert codes(project, "--rules", "tools/lint", "--select", "ABC101") == ["ABC101"]


def test_its_page_is_printed(project: Path) -> None:
    done = tclint("rule", "ABC101", "--rules", "tools/lint", cwd=project)
    assert done.stdout.startswith("# no-seed-here (ABC101)\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise ValueError('broken')\n", "ValueError: broken"),
        ("raise SystemExit(0)\n", "SystemExit: 0"),
        ("", "none of its files has a rule"),
    ],
)
def test_a_folder_without_rules_is_an_error(project: Path, text: str, told: str) -> None:
    other = project / "other"
    other.mkdir()
    (other / "a.py").write_text(text)
    done = tclint("check", "--rules", "other", cwd=project)
    assert (done.returncode, told in done.stderr) == (2, True)
    assert tclint("check", "--rules", "gone", cwd=project).returncode == 2


def test_a_code_that_is_taken_is_an_error(project: Path) -> None:
    rule = project / "tools" / "lint" / "no_seed_here.py"
    rule.write_text(rule.read_text().replace("ABC101", "TCL101"))
    assert "TCL101 exists already" in tclint("check", "--rules", "tools/lint", cwd=project).stderr


def test_no_configuration_and_no_review_names_rules(project: Path) -> None:
    (project / "tclint.toml").write_text('rule-paths = ["tools/lint"]\n')
    assert "rule-paths" in tclint("check", cwd=project).stderr
    for command in (("review",), ("server",)):
        assert "--rules" not in tclint(*command, "--help", cwd=project).stdout


EVIL = "from pathlib import Path\n\nPath({!r}).touch()\n"
NAMED = """\
rule-paths = ["tools/lint"]
rules = ["tools/lint"]
"""


@pytest.mark.parametrize("config_from", ["base", "head"])
@pytest.mark.parametrize("is_known", [False, True], ids=["sent", "in the base"])
def test_a_pull_request_cannot_load_rules(
    tmp_path: Path, config_from: str, *, is_known: bool
) -> None:
    """Whether it brings the configuration and the files, or finds them there."""
    ran = tmp_path / "ran"
    repository = new_repository(tmp_path / "repo")
    evil = {
        "tclint.toml": NAMED,
        "pyproject.toml": "[tool.tclint]\nrule-paths = ['tools/lint']\n",
        "tools/lint/evil.py": EVIL.format(str(ran)),
        "tools/lint/__init__.py": EVIL.format(str(ran)),
        "sitecustomize.py": EVIL.format(str(ran)),
    }
    base = repository.commit(evil if is_known else {"a.py": "x = 1\n"})
    repository.commit({**evil, "net.py": CODE})
    options = ("--base", base, "--config-from", config_from, "--dry-run")
    done = tclint("review", *options, cwd=repository.folder)
    if not is_known and config_from == "base":
        assert done.returncode in {0, 1}, done.stderr  # it was reviewed, by the base's settings
    assert not ran.exists(), done.stderr
    for command in (("check", "."), ("fix", "--diff", "."), ("rule",)):
        tclint(*command, cwd=repository.folder)
    assert not ran.exists()


def test_only_commands_that_are_told_a_folder_can_load_it(repository: Path) -> None:
    clients = {
        path.relative_to(repository / "tclint").as_posix()
        for path in (repository / "tclint").rglob("*.py")
        if "lint.local_rules" in path.read_text(encoding="utf-8")
    }
    assert clients == {"cli/check.py", "cli/fix.py", "cli/rule.py"}
