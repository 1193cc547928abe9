"""Code for other versions of torch than those that the project is for is never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.lint.engine import check_files

HEAD = """\
import torch
from distutils.version import LooseVersion

import pkg_resources
from packaging import version
from packaging.version import Version, parse

OLD = version.parse(torch.__version__) < version.parse("2.0")


def is_old():
    return Version(torch.__version__) < Version("1.13.1")


@torch.compile
def f(x: torch.Tensor):
    if {test}:
        print(x)
    return x * 2
"""
NEVER = [
    "torch.__version__ < '2'",
    "torch.__version__ < '2.9'",
    "torch.__version__ < (1, 9)",
    "'2.13' > torch.__version__",
    "Version('2.0.1') > Version(torch.__version__)",
    "version.parse(torch.__version__) < version.parse('1.13.1')",
    "not parse(torch.__version__) >= parse('2.0')",
    "parse(torch.__version__) <= parse('2.12.9')",
    "LooseVersion(torch.__version__) < LooseVersion('2.1.0')",
    "pkg_resources.parse_version(torch.__version__) < pkg_resources.parse_version('2.1')",
    "torch.torch_version.TorchVersion(torch.__version__) > (2, 14)",
    "torch.__version__ > '10.0'",
    "OLD",
    "is_old()",
    "version.parse('2.0') > version.parse(torch.version.__version__)",
]
PERHAPS = [
    "torch.__version__ < '2.13.1'",
    "torch.__version__ > '2.13'",
    "torch.__version__ <= '2.13.0'",
    "torch.__version__ >= '2.13.0'",
    "torch.__version__ >= '2.0'",
    "torch.__version__ != '2.0'",
    "torch.__version__ < '2.0.0.dev20231'",
    "parse(torch.__version__) < parse('2.1.0rc1')",
    "parse(torch.__version__.split('+')[0]) < parse('2.0')",
    "parse(torch.version.cuda) < parse('11.8')",
    "'2.0' < '2.13'",
    "not OLD",
    "torch.__version__ < x.text",
]


def _told(folder: Path, test: str, oldest: tuple[int, int] | None = None) -> bool:
    path = folder / "program.py"
    path.write_text(HEAD.format(test=test), encoding="utf-8")
    settings = Settings(target_torch=(2, 13), min_torch=oldest)
    config = Config(root=folder, settings=settings)
    results = check_files([path], config).results
    return any(result.diagnostic.code == "TCL120" for result in results)


@pytest.mark.parametrize("test", NEVER)
def test_code_for_older_or_newer_releases_is_left_out(tmp_path: Path, test: str) -> None:
    assert not _told(tmp_path, test)


@pytest.mark.parametrize("test", PERHAPS)
def test_code_that_may_run_is_told(tmp_path: Path, test: str) -> None:
    assert _told(tmp_path, test)


@pytest.mark.parametrize("test", ["torch.__version__ < '2.12'", "torch.__version__ == '2.12'"])
def test_all_releases_that_the_project_supports_count(tmp_path: Path, test: str) -> None:
    assert _told(tmp_path, test, oldest=(2, 11))


def test_a_release_before_the_oldest_is_left_out(tmp_path: Path) -> None:
    assert not _told(tmp_path, "torch.__version__ < '2.11'", oldest=(2, 11))
