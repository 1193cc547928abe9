"""The files by which others install tclint say what the package itself says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tomli
import yaml

from tclint import __version__
from tests.cli_runs import tclint


@pytest.fixture
def project(repository: Path) -> dict[str, Any]:
    return tomli.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_conda_recipe_needs_what_the_package_needs(
    repository: Path, project: dict[str, Any]
) -> None:
    text = (repository / "install" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(text)
    assert recipe["context"]["version"] == __version__
    needed = {each.partition(";")[0].strip() for each in project["project"]["dependencies"]}
    told = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    assert told == {*needed, f"python{project['project']['requires-python']}"}


def test_the_mirror_has_our_hooks_and_our_version(repository: Path) -> None:
    mirror = repository / "install" / "pre-commit-mirror"
    ours = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    theirs = yaml.safe_load((mirror / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert theirs == [{**hook, "additional_dependencies": []} for hook in ours]
    table = tomli.loads((mirror / "pyproject.toml").read_text(encoding="utf-8"))
    assert table["project"]["dependencies"] == [f"tclint-torch=={__version__}"]


def test_images_copy_what_is_there_and_what_their_context_lets_in(repository: Path) -> None:
    let_in = (repository / ".dockerignore").read_text(encoding="utf-8").split()
    for file in (repository / "install" / "docker").glob("*.Dockerfile"):
        text = file.read_text(encoding="utf-8")
        made, used = re.findall(r"--uid (\d+) tclint|^USER (\d+)$", text, re.MULTILINE)
        assert made[0] == used[1], file
        for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE):
            for source in line.split()[:-1]:
                assert (repository / source).exists(), (file, source)
                assert f"!{source}" in let_in or f"!{source}/**" in let_in, (file, source)


def test_wheels_are_built_for_each_python_and_asked_whether_they_are_compiled(
    repository: Path, project: dict[str, Any]
) -> None:
    wheels = project["tool"]["cibuildwheel"]
    assert wheels["environment"] == {"TCLINT_COMPILE": "1"}
    checked = wheels["test-command"].rpartition("{project}/")[2]
    assert (repository / checked).is_file()
    pythons = [each.rpartition(" ")[2] for each in project["project"]["classifiers"]]
    for version in (each for each in pythons if each.startswith("3.")):
        assert f"cp{version.replace('.', '')}-*" in wheels["build"].split()
    workflow = (repository / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "trusted-publishing always" in workflow


def test_the_skill_has_the_head_that_agents_read_and_commands_that_there_are(
    repository: Path,
) -> None:
    folder = repository / "install" / "skill" / "tclint"
    _, head, body = (folder / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["name"] == folder.name
    assert 0 < len(about["description"]) <= 1024
    shown = re.findall(r"^\$ tclint (\S+)(.*)$", body, re.MULTILINE)
    assert {"check", "fix", "verify", "rule", "run"} <= {name for name, _ in shown}
    for name, rest in shown:
        known = {*re.findall(r"--[\w-]+", tclint(name, "--help", cwd=repository).stdout)}
        told = rest.partition(" -- ")[0]
        assert {*re.findall(r"--[\w-]+", told)} <= known, (name, told)
