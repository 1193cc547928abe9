"""The rule pack of the documentation, installed beside tclint and used as its README says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.test_packaging import environment, install, run

pytestmark = pytest.mark.slow

PROGRAM = """\
import torch
from library import slow


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return slow(x) + torch.cdist(x, x)
"""
SETTINGS = """\
select = ["HOUSE"]

[rules.HOUSE101]
functions = ["library.slow"]
"""


@pytest.fixture(scope="module")
def binaries(wheel: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with tclint and the pack."""
    folder = tmp_path_factory.mktemp("pack")
    shutil.copytree(repository / "docs" / "rule-pack", folder / "rule-pack")
    # In two steps: the pack's own requirement would be looked for in an index.
    binaries = environment(folder / "venv", str(wheel), "pytest")
    install(binaries, str(folder / "rule-pack"))
    return binaries


def test_the_pack_s_own_tests_pass(binaries: Path) -> None:
    pack = binaries.parent.parent / "rule-pack"
    out = run([str(binaries / "pytest"), "-q", str(pack / "tests")], pack)
    assert "2 passed" in out


def test_its_rule_is_explained_like_the_built_in_ones(binaries: Path, tmp_path: Path) -> None:
    page = run([str(binaries / "tclint"), "rule", "HOUSE101"], tmp_path)
    assert page.startswith("# slow-call-in-compiled-region (HOUSE101)\n")
    assert "- Option `functions`" in page
    assert "### Reported: a reference implementation\n" in page


def test_its_rule_is_selected_configured_and_linked(binaries: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM, encoding="utf-8")
    command = [str(binaries / "tclint"), "check", "--no-cache"]
    out = run([*command, "--select=HOUSE"], tmp_path, status=1)
    assert out.startswith("net.py:7:26: HOUSE101 `torch.cdist` is meant for tests")
    assert "page: `tclint rule HOUSE101`, https://example.org/house-rules/rules/HOUSE101/" in out
    (tmp_path / "tclint.toml").write_text(SETTINGS, encoding="utf-8")
    out = run(command, tmp_path, status=1)
    assert out.startswith("net.py:7:16: HOUSE101 `library.slow` is meant for tests")


def test_a_broken_pack_is_one_warning(binaries: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM, encoding="utf-8")
    [module] = (binaries.parent / "lib").glob("python*/site-packages/house_rules/slow_call.py")
    text = module.read_text(encoding="utf-8")
    module.write_text(text.replace("class SlowCall", "clas SlowCall"), encoding="utf-8")
    try:
        command = [str(binaries / "tclint"), "check", "--no-cache", "-q", "net.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    finally:
        module.write_text(text, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: the rule pack 'house' (house_rules:RULES) cannot be loaded: ")
    assert line.endswith("; its rules do not run")
    assert "slow_call.py:11: invalid syntax" in line
