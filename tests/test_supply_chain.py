"""What tclint is built from: locked by hash, pinned by digest, and as the project asks for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.conftest import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES, EXTRAS = (
    PROJECT["project"]["dependencies"],
    PROJECT["project"]["optional-dependencies"],
)
RUN = [*DEPENDENCIES, *EXTRAS["server"], *EXTRAS["review"]]
ASKED = {
    "run.txt": RUN,
    "dev.txt": [*RUN, *EXTRAS["dev"]],
    "release.txt": PROJECT["dependency-groups"]["release"],
}
ENTRY = re.compile(r"(?m)^(?=[\w])")
USES = re.compile(r"(?m)^\s*(?:- )?uses:\s*(\S+)(.*)$")
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def _lock(name: str) -> list[tuple[Requirement, str]]:
    """The requirements of a lock, each with the lines below it."""
    text = (REPOSITORY / "requirements" / name).read_text("utf-8")
    entries = [entry.partition("\\\n") for entry in ENTRY.split(text)[1:]]
    return [(Requirement(first.strip()), rest) for first, _, rest in entries]


def _pinned(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for requirement, _ in _lock(name):
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        found.setdefault(canonicalize_name(requirement.name), []).append(pin.version)
    return found


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_has_what_the_project_asks_for(name: str) -> None:
    pinned = _pinned(name)
    for text in ASKED[name]:
        asked = Requirement(text)
        versions = pinned.get(canonicalize_name(asked.name), [])
        assert versions, f"{asked.name}: run `make lock`"
        assert all(version in asked.specifier for version in versions), f"{text}: run `make lock`"


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_has_nothing_that_the_project_no_longer_asks_for(name: str) -> None:
    asked = {canonicalize_name(Requirement(text).name) for text in ASKED[name]}
    found = {one.name for one, below in _lock(name) if "tclint-torch (pyproject.toml" in below}
    assert {canonicalize_name(one) for one in found} == asked


@pytest.mark.parametrize("name", ASKED)
def test_everything_that_is_locked_has_its_hashes_and_no_address(name: str) -> None:
    assert [str(one) for one, below in _lock(name) if "--hash=sha256:" not in below] == []
    assert "://" not in (REPOSITORY / "requirements" / name).read_text("utf-8")


def test_a_release_lists_what_the_tests_ran_with() -> None:
    run, dev = _pinned("run.txt"), _pinned("dev.txt")
    assert {name: versions for name, versions in run.items() if dev.get(name) != versions} == {}


def test_torch_is_pinned_but_left_to_the_machine() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    pins = set(re.findall(r"(?<![\w-])torch==([\d.]+)", makefile))
    (torch,) = (one for one in map(Requirement, EXTRAS["verify"]) if one.name == "torch")
    assert len(pins) == 1
    assert pins.pop() in torch.specifier
    assert not [name for name in _pinned("dev.txt") if re.match("torch$|triton|nvidia|cuda", name)]


def _files_that_use_actions() -> list[Path]:
    named = [path for kind in ("*.yml", "*.yaml", "*.md") for path in REPOSITORY.rglob(kind)]
    left = {".venv", "build", "node_modules", "site"}
    return [path for path in named if not left & {*path.relative_to(REPOSITORY).parts}]


def test_every_action_is_pinned_by_digest_with_its_version_beside_it() -> None:
    found = [
        (path.name, used, comment)
        for path in _files_that_use_actions()
        for used, comment in USES.findall(path.read_text("utf-8"))
    ]
    assert len(found) > 10
    others = [one for one in found if not one[1].startswith("OWNER/tclint@")]
    pinned = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
    assert [one for one in others if not pinned.fullmatch(one[1])] == []
    assert [one for one in others if not re.match(r" # v\d+\.\d+\.\d+$", one[2])] == []


def test_one_version_of_an_action_is_used_everywhere() -> None:
    texts = [path.read_text("utf-8") for path in _files_that_use_actions()]
    used = {one for text in texts for one, _ in USES.findall(text)}
    assert len(used) == len({one.partition("@")[0] for one in used})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_no_more_than_it_says(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_workflows_call_targets_that_exist() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):", makefile))
    called = [
        word
        for path in WORKFLOWS
        for line in re.findall(r"run: make (.*)", path.read_text("utf-8"))
        for word in line.split()
        if "=" not in word
    ]
    assert called
    assert set(called) <= targets


STAND_IN = """\
#!/bin/sh
echo "$@" >> {log}
if [ "$3" = venv ]; then
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
  printf '#!/bin/sh\\necho tclint 1.2.3\\n' > "$4/bin/tclint"
  chmod +x "$4/bin/tclint"
fi
"""


@pytest.mark.parametrize("version", ["", "1.2.3"])
def test_the_action_installs_nothing_without_a_hash(tmp_path: Path, version: str) -> None:
    log, python = tmp_path / "log", tmp_path / "python"
    python.write_text(STAND_IN.format(log=log))
    python.chmod(0o755)
    told = {"RUNNER_TEMP": str(tmp_path), "PYTHON": str(python), "VERSION": version}
    done = subprocess.run(
        ["bash", str(REPOSITORY / "scripts/action/install.sh")],
        env={**os.environ, **told, "ACTION": str(REPOSITORY)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "tclint 1.2.3\n"), done.stderr
    made, *ran = log.read_text().splitlines()
    assert made == f"-I -m venv {tmp_path}/tclint"
    pip = "-I -m pip --quiet --disable-pip-version-check"
    assert all(line.startswith(pip) for line in ran)
    installs = [line.removeprefix(f"{pip} install ") for line in ran if f"{pip} install" in line]
    first, *others, last = installs
    assert first == f"--require-hashes -r {REPOSITORY}/requirements/run.txt"
    if version:
        assert (others, last) == ([], "--no-deps tclint-torch==1.2.3")
        assert ran[-1] == f"{pip} check"
    else:
        (builds,) = others
        assert builds == f"--require-hashes -r {tmp_path}/tclint/build.txt"
        assert last == f"--no-deps --no-build-isolation {REPOSITORY}"
        text = (tmp_path / "tclint" / "build.txt").read_text()
        ((name, _, below),) = [one.partition("\n") for one in ENTRY.split(text)[1:]]
        assert name.startswith("setuptools==")
        assert "--hash=sha256:" in below
