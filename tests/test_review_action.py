"""The GitHub Action: valid, and its steps do what they say in a throwaway repository."""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY
from tests.copied_command import python_of_copies, settings_of_torch
from tests.review.command import write_event
from tests.review.github_server import GitHubServer, Pull
from tests.review.workflow import Runner
from tests.review_repository import Repository, new_repository
from tests.test_review_github import CLEAN, PRINT, net

SCHEMAS = {
    "action.yml": "github-actions",
    "docs/workflows/review.yml": "github-workflows",
    "docs/workflows/verify.yml": "github-workflows",
    "docs/workflows/gitlab-ci.yml": "gitlab-ci",
    **{f".github/workflows/{name}.yml": "github-workflows" for name in ("audit", "ci", "release")},
}


@pytest.mark.parametrize(("file", "schema"), SCHEMAS.items())
def test_the_files_are_what_the_forges_take(file: str, schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    if schema == "gitlab-ci":
        command += ["--data-transform", "gitlab-ci"]
    done = subprocess.run([*command, str(REPOSITORY / file)], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_workflows_use_inputs_that_exist_and_pin_other_actions() -> None:
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
    steps = [*action["runs"]["steps"]]
    for name in ("review", "verify"):
        text = (REPOSITORY / "docs" / "workflows" / f"{name}.yml").read_text("utf-8")
        jobs = yaml.safe_load(text)["jobs"].values()
        used = [step for job in jobs for step in job["steps"] if "uses" in step]
        ours = [step for step in used if step["uses"].startswith("OWNER/")]
        assert ours
        for step in ours:
            assert step.get("with", {}).keys() <= action["inputs"].keys()
        steps += [step for step in used if step not in ours]
    pins = [step["uses"].rpartition("@")[2] for step in steps if "uses" in step]
    assert all(len(pin) == 40 for pin in pins)


def test_no_input_is_pasted_into_a_script() -> None:
    """Texts of a pull request reach scripts as variables only."""
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
    assert all("${{" not in step.get("run", "") for step in action["runs"]["steps"])


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = new_repository(tmp_path / "repo")
    for number in range(3):
        repository.commit({"net.py": CLEAN, "n.txt": str(number)})
    repository.git("checkout", "--quiet", "-b", "change")
    for number in range(60):
        repository.commit({"net.py": net(PRINT), "m.txt": str(number)})
    return repository


@pytest.fixture
def server(repository: Repository) -> Iterator[GitHubServer]:
    server = GitHubServer({"octo/model": repository}, {("octo/model", 1): Pull(1)}, login="octo")
    with server.running():
        yield server
    assert server.complaints == []


@pytest.fixture
def runner(server: GitHubServer, repository: Repository, tmp_path: Path) -> Runner:
    """A checkout as the runner has it: one commit deep, without credentials."""
    temp, workspace = tmp_path / "temp", tmp_path / "work"
    temp.mkdir()
    basic = b64encode(f"x-access-token:{server.token}".encode()).decode()
    subprocess.run(
        (
            "git", "-c", f"http.extraHeader=Authorization: Basic {basic}", "clone", "--quiet",
            "--depth=1", "--branch=change", f"{server.url}/git/octo/model.git", str(workspace),
        ),
        check=True,
    )  # fmt: skip
    event = write_event(tmp_path, repository)
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": server.url,
        "GITHUB_SERVER_URL": f"{server.url}/git",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PIP_COMPILE": "0",  # as in `tests/conftest.py`
    }
    provided = {"python": {"python-path": sys.executable, "python-version": "3.12.0"}}
    return Runner(REPOSITORY, workspace, temp, environment, provided)


def from_cache(runner: Runner) -> None:
    """The environment that the cache would bring."""
    folder = runner.temp / "tclint" / "bin"
    folder.mkdir(parents=True)
    program = folder / "tclint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m tclint "$@"\n')
    program.chmod(0o755)


@pytest.mark.slow
def test_the_steps_review_and_fail_the_job(runner: Runner, server: GitHubServer) -> None:
    from_cache(runner)
    assert not runner.run(token=server.token, sarif="true"), runner.said
    assert runner.ran == [
        "Set up Python", "Restore tclint", "Install tclint", "Fetch the history", "Review",
        "Upload SARIF", "Judge",
    ]  # fmt: skip
    assert [c["line"] for c in server.live()] == [7]
    (run,) = json.loads((runner.temp / "tclint.sarif").read_text("utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["TCL120"]
    assert server.token not in runner.said
    assert server.token not in (runner.workspace / ".git" / "config").read_text()


@pytest.mark.slow
def test_findings_need_not_fail_the_job(runner: Runner, server: GitHubServer) -> None:
    from_cache(runner)
    assert runner.run(token=server.token, fail_on_findings="false", mode="annotations"), runner.said
    assert "::error title=tclint (TCL120" in runner.said
    assert server.requests == []


def test_an_event_without_a_pull_request_is_one_clear_error(runner: Runner) -> None:
    from_cache(runner)
    Path(runner.environment["GITHUB_EVENT_PATH"]).write_text("{}")
    assert not runner.run(token="unused")
    assert "tclint: this job is for no pull request" in runner.said


@pytest.mark.slow
def test_a_fresh_runner_installs_tclint(runner: Runner, server: GitHubServer) -> None:
    assert runner.run(token=server.token, fail_on_findings="false"), runner.said
    assert [c["line"] for c in server.live()] == [7]


@pytest.mark.slow(20)
def test_a_verification_reports_what_is_left(runner: Runner) -> None:
    program = "import torch\n\n\ndef make():\n    return torch.nn.ReLU(), (torch.ones(2),), {}\n"
    (runner.workspace / "model.py").write_text(program)
    # The environment of the tests has tclint, and is not to be changed.
    python = python_of_copies(runner.temp)
    python.write_text(python.read_text().replace("\n", '\n[ "$2" = pip ] && exit 0\n', 1))
    runner.environment = {**runner.environment, **settings_of_torch()}
    targets, options = "model.py:make\n", "--device cpu --backend eager"
    done = runner.run(verify=targets, verify_options=options, verify_python=str(python))
    assert done, runner.said
    report = json.loads((runner.temp / "tclint-verify.json").read_text("utf-8"))
    assert [target["passed"] for target in report["targets"]] == [True]
    assert runner.ran == ["Verify", "Judge"]
