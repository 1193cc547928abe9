"""What is installed: every package, the rules under their own name, and no torch."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from tclint.lint.registry import load_rules
from tests.conftest import writing_bytecode

PROBE = """\
import json, sys
from importlib.metadata import entry_points
from importlib.resources import files
from tclint.lint.pages import read_page

(builtin,) = entry_points(group="tclint.rules")
codes = sorted(rule.code for rule in builtin.load())
tables = sorted(f.name for f in files("tclint.torch_facts").iterdir() if f.name.endswith(".json"))
typed = files("tclint").joinpath("py.typed").is_file()
unread = [rule.code for rule in builtin.load() if not read_page(rule).examples]
print(json.dumps([codes, tables, typed, unread, "torch" in sys.modules]))
"""

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.sum().item()
"""


@pytest.mark.parametrize("root", ["tclint", "rules"])
def test_every_folder_with_modules_is_a_package(repository: Path, root: str) -> None:
    folders = {path.parent for path in (repository / root).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_distribution_is_never_called_by_the_other_project_s_name(repository: Path) -> None:
    other = "pip install " + "tclint"
    texts = [*repository.glob("*.md"), *(repository / "docs").rglob("*.md")]
    for path in texts:
        words = path.read_text(encoding="utf-8").replace(f"{other}-torch", "")
        assert other not in words, path


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sources", "editable", "wheel"])
def test_an_installation_has_the_built_in_rules_and_checks_without_torch(
    how: str, sources: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wanted = {"sources": [str(sources)], "editable": ["-e", str(sources)]}.get(how)
    wanted = wanted or [str(request.getfixturevalue("wheel"))]
    binaries = environment(tmp_path / "venv", *wanted)
    python = str(binaries / "python")
    probed = json.loads(run([python, "-c", PROBE], tmp_path))
    codes, tables, typed, unread, torch_imported = probed
    assert codes == sorted(rule.code for rule in load_rules())
    assert tables == sorted(path.name for path in (sources / "tclint/torch_facts").glob("*.json"))
    assert typed
    assert unread == []
    assert not torch_imported

    (tmp_path / "net.py").write_text(PROGRAM, encoding="utf-8")
    report = run([str(binaries / "tclint"), "check", "net.py"], tmp_path, status=1)
    assert "net.py:6" in report
    run([python, "-c", "import torch"], tmp_path, status=1)


@pytest.mark.slow
def test_the_source_distribution_has_every_file_of_the_packages(
    repository: Path, sources: Path, tmp_path: Path
) -> None:
    script = "from setuptools.build_meta import build_sdist; import sys; build_sdist(sys.argv[1])"
    run([sys.executable, "-c", script, str(tmp_path)], sources)
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    endings = {".py", ".md", ".json", ".typed"}
    wanted = {
        path.relative_to(repository).as_posix()
        for root in ("tclint", "rules")
        for path in (repository / root).rglob("*")
        if path.suffix in endings and "__pycache__" not in path.parts
    }
    assert wanted - names == set()


def environment(folder: Path, *requirements: str) -> Path:
    """A new environment with something installed; gives the folder of its commands.

    It has no pip of its own, which would take longer to install than the rest.
    """
    venv.create(folder, with_pip=False)
    install(folder / "bin", *requirements)
    return folder / "bin"


def install(binaries: Path, *requirements: str) -> None:
    """Install into an environment."""
    pip = [sys.executable, "-m", "pip", "--python", str(binaries / "python")]
    run([*pip, "install", "-q", *requirements], binaries.parent)


def run(command: list[str], folder: Path, status: int = 0) -> str:
    """Run a command that must end with this status; give its output."""
    done = subprocess.run(
        command, cwd=folder, env=writing_bytecode(), capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout
