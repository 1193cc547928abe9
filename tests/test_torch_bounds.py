"""Which torch a project is for: every file that says so, and what is wrong with such files."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclint.cli.configuration import torch_line
from tclint.config import (
    Config,
    ConfigError,
    load_config,
    requirement_problems,
    running_on,
    with_overrides,
)
from tclint.server.programs import Programs
from tclint.server.settings import Settings
from tclint.torch_bounds import NEWEST_TORCH
from tclint.torch_bounds.infer import METADATA
from tclint.torch_bounds.locks import LOCKS

from .cli_runs import tclint

if TYPE_CHECKING:
    from collections.abc import Mapping

Version = tuple[int, int]
UNSTATED = (2, 1)
"""The oldest torch that fixes are for where nothing says which."""
UV = """\
version = 1
requires-python = ">=3.10"

[[package]]
name = "torch"
version = "2.5.1+cu124"
source = { registry = "https://registry.example/simple" }

[[package]]
name = "torchvision"
version = "0.20.1"
"""


def _project(folder: Path, files: Mapping[str, str]) -> Config:
    for name, text in files.items():
        write(folder / name, text)
    return load_config(folder)


def _versions(config: Config) -> tuple[Version, Version]:
    return config.settings.oldest_torch, config.settings.target_torch


@pytest.fixture(autouse=True)
def nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tclint.environment.sys", SimpleNamespace(path=[]))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "oldest", "target"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["torch>=1.13,<3"]\n', (1, 13), None),
        ("pyproject.toml", '[project]\ndependencies = ["Torch ~= 2.1.2"]\n', (2, 1), (2, 1)),
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"torch[opt] >2.1; os_name!='x'\"]",
            (2, 1),
            None,
        ),
        ("pyproject.toml", '[project]\ndependencies = ["torch<2.3"]\n', None, (2, 2)),
        ("pyproject.toml", '[project]\ndependencies = ["torch!=2.0.1"]\n', None, None),
        ("pyproject.toml", '[project]\ndependencies = ["torch>=2.16"]\n', (2, 16), (2, 16)),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["torchvision>=0.9", "torch-x>=1"]\n',
            None,
            None,
        ),
        (
            "pyproject.toml",
            (
                "[project]\ndependencies = [\"torch>=2.2; python_version>='3.12'\","
                " \"torch>=1.13; python_version<'3.12'\"]\n"
            ),
            (1, 13),
            None,
        ),
        (
            "pyproject.toml",
            (
                '[project]\ndependencies = ["torch>=2.0"]\n'
                '[project.optional-dependencies]\nfast = ["torch>=2.6"]\n'
            ),
            (2, 0),
            None,
        ),
        (
            "pyproject.toml",
            (
                "[project]\ndependencies = []\n[project.optional-dependencies]\n"
                'all = ["torch>=2.1"]\nfast = ["torch>=2.6"]\n'
            ),
            (2, 1),
            None,
        ),
        (
            "pyproject.toml",
            '[dependency-groups]\ndev = [{include-group = "a"}, "torch>=2.4"]\n',
            (2, 4),
            None,
        ),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^1.13"\n', (1, 13), None),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1.0"\n', (2, 1), None),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "~2.1"\n', (2, 1), (2, 1)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "~2"\n', (2, 0), None),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = ">=2.0 <2.3"\n', (2, 0), (2, 2)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "2.1.2"\n', (2, 1), (2, 1)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "*"\n', None, None),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "1.12.* || ^2.1"\n', (1, 12), None),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ntorch = { version = "^2.2", optional = true }\n',
            (2, 2),
            None,
        ),
        (
            "pyproject.toml",
            (
                '[tool.poetry.dependencies]\ntorch = [{version = "^2.3", python = ">=3.12"},'
                ' {version = "^2.0", python = "<3.12"}]\n'
            ),
            (2, 0),
            None,
        ),
        ("pyproject.toml", '[tool.poetry.group.ml.dependencies]\ntorch = "^2.4"\n', (2, 4), None),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    numpy\n    torch>=1.10  # yes\n",
            (1, 10),
            None,
        ),
        ("setup.cfg", "[options.extras_require]\nml =\n    torch==2.4.*\n", (2, 4), (2, 4)),
        ("setup.py", "setup(install_requires=['torch>=1.8', 'numpy'])", (1, 8), None),
        (
            "setup.py",
            (
                "import setuptools\nneeds = ['numpy']\nneeds += ['torch>=1.9']\n"
                "setuptools.setup(install_requires=needs + ['x'])"
            ),
            (1, 9),
            None,
        ),
        (
            "setup.py",
            (
                "extras = {}\nextras['torch'] = ['torch>=2.1']\n"
                "extras['all'] = extras['torch'] + ['x']\nsetup(extras_require=extras)"
            ),
            (2, 1),
            None,
        ),
        (
            "setup.py",
            "settings = dict(a=1)\nkw = {'install_requires': ['torch>=2.2']}\nsetup(**kw)",
            (2, 2),
            None,
        ),
        (
            "setup.py",
            (
                "import torch\nv = [int(x) for x in torch.__version__.split('.')[:2]]\n"
                "assert v >= [1, 8], 'no'\nsetup(install_requires=['numpy'])"
            ),
            (1, 8),
            None,
        ),
        ("setup.py", "setup(install_requires=read('requirements.txt'), name='torch')", None, None),
        ("requirements.txt", "numpy\ntorch>=1.12  # for now\n", (1, 12), None),
        (
            "requirements.txt",
            "torch==2.1.0+cu118 --hash=sha256:ab \\\n  --hash=sha256:cd\n",
            (2, 1),
            (2, 1),
        ),
        ("requirements.txt", "\ufefftorch >= 2.0 , < 2.4 ; python_version > '3'\n", (2, 0), (2, 3)),
        (
            "requirements.txt",
            "--extra-index-url https://x/whl\n-e .\n./local\ngit+https://a/b\ntorch>=2.2\n",
            (2, 2),
            None,
        ),
        (
            "requirements.txt",
            "torch @ https://d/whl/cu118/torch-2.0.1%2Bcu118-cp310-cp310-linux_x86_64.whl\n",
            (2, 0),
            (2, 0),
        ),
        ("requirements-gpu.txt", "torch>=2.3\n", (2, 3), None),
        ("requirements/base.txt", "torch>=2.1\n", (2, 1), None),
        ("environment.yml", "dependencies:\n  - pytorch=2.1\n", (2, 1), (2, 1)),
        ("environment.yaml", "dependencies:\n  - pytorch::pytorch >=1.13,<2.1\n", (1, 13), (2, 0)),
        (
            "environment.yml",
            "dependencies:\n  - pytorch=2.0.1=py3.10_cuda11.7_cudnn8.5.0_0\n",
            (2, 0),
            (2, 0),
        ),
        ("environment.yml", "dependencies:\n  - pytorch-cuda=11.8\n  - torchvision\n", None, None),
        (
            "environment.yml",
            "dependencies:\n  - pip\n  - pip:\n    - torch>=2.2\n    - numpy\n",
            (2, 2),
            None,
        ),
        (
            "environment-dev.yml",
            "dependencies:\n  - conda-forge::pytorch-gpu 2.4.*\n",
            (2, 4),
            (2, 4),
        ),
        ("uv.lock", UV, (2, 5), (2, 5)),
        (
            "poetry.lock",
            '[[package]]\nname = "torch"\nversion = "1.13.0"\ndescription = "x"\n',
            (1, 13),
            None,
        ),
        (
            "poetry.lock",
            '[[package]]\ncategory = "main"\nname = "torch"\noptional = false\nversion = "2.0.1"\n',
            (2, 0),
            (2, 0),
        ),
        (
            "pdm.lock",
            '[metadata]\n[[package]]\nname = "torch"\nversion = "2.2.0"\n',
            (2, 2),
            (2, 2),
        ),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.7.0"\n', (2, 7), (2, 7)),
        (
            "uv.lock",
            UV.replace("+cu124", "") + '\n[[package]]\nname = "torch"\nversion = "2.2.2"\n',
            (2, 2),
            (2, 5),
        ),
    ],
)
def test_a_file_says_which_torch_the_project_is_for(
    tmp_path: Path, name: str, text: str, oldest: Version | None, target: Version | None
) -> None:
    config = _project(tmp_path, {name: text})
    assert _versions(config) == (
        oldest or UNSTATED,
        max(target or NEWEST_TORCH, oldest or UNSTATED),
    )
    assert requirement_problems(config) == []


def test_requirements_files_include_others_and_constraints(tmp_path: Path) -> None:
    config = _project(
        tmp_path,
        {
            "requirements.txt": "-r base/needs.txt\n-c limits.txt\n-r requirements.txt\n",
            "base/needs.txt": "torch\n",
            "limits.txt": "torch>=2.1,<2.5\nnumpy<2\n",
        },
    )
    assert _versions(config) == ((2, 1), (2, 4))


def test_the_lock_file_is_the_target_and_the_metadata_the_oldest(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[project]\ndependencies = ["torch>=1.13"]\n', "uv.lock": UV}
    config = _project(tmp_path, files)
    assert _versions(config) == ((1, 13), (2, 5))
    assert (config.torch.target, config.torch.oldest) == (
        "locked in uv.lock",
        "`torch>=1.13` in pyproject.toml",
    )


def test_a_pin_in_requirements_is_the_target_below_what_the_metadata_allows(tmp_path: Path) -> None:
    files = {
        "setup.py": "setup(install_requires=['torch>=1.8'])",
        "requirements.txt": "torch==2.1.0",
    }
    assert _versions(_project(tmp_path, files)) == ((1, 8), (2, 1))


def test_metadata_without_a_bound_leaves_the_word_to_requirements(tmp_path: Path) -> None:
    files = {"setup.py": "setup(install_requires=['torch'])", "requirements.txt": "torch>=2.1"}
    assert _versions(_project(tmp_path, files)) == ((2, 1), NEWEST_TORCH)


def test_setuptools_reads_the_files_that_metadata_names(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\ndynamic = ["dependencies"]\n'
        '[tool.setuptools.dynamic]\ndependencies = { file = ["needs.txt"] }\n',
        "needs.txt": "torch>=2.2\n",
    }
    assert _versions(_project(tmp_path, files)) == ((2, 2), NEWEST_TORCH)


def test_the_torch_of_the_project_goes_before_that_of_tclint(tmp_path: Path) -> None:
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.4.1.dist-info").mkdir(parents=True)
    config = _project(tmp_path, {"requirements.txt": "torch>=2.0\n"})
    assert _versions(config) == ((2, 0), (2, 4))
    assert config.torch.target == "installed in .venv"


def test_an_installed_torch_that_the_project_forbids_is_not_its_own(tmp_path: Path) -> None:
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.4.1.dist-info").mkdir(parents=True)
    config = _project(tmp_path, {"requirements.txt": "torch>=2.0,<2.2\n"})
    assert _versions(config) == ((2, 0), (2, 1))
    assert config.torch.target == "`torch>=2.0,<2.2` in requirements.txt"


def test_files_are_looked_for_up_to_the_repository_and_the_nearest_hold(tmp_path: Path) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    write(tmp_path / "requirements.txt", "torch>=1.1\n")
    write(tmp_path / "work" / "uv.lock", UV)
    write(tmp_path / "work" / "pyproject.toml", '[project]\ndependencies = ["torch>=2.2"]\n')
    write(tmp_path / "work" / "a" / "pyproject.toml", '[project]\ndependencies = ["torch>=2.0"]\n')
    (tmp_path / "work" / "b").mkdir()
    assert _versions(load_config(tmp_path / "work" / "a")) == ((2, 0), (2, 5))
    assert _versions(load_config(tmp_path / "work" / "b")) == ((2, 2), (2, 5))


def test_without_a_repository_the_first_folder_with_metadata_is_the_last(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "torch>=1.1\n")
    write(tmp_path / "p" / "setup.py", "setup(install_requires=['torch>=2.0'])")
    (tmp_path / "p" / "pkg").mkdir()
    (tmp_path / "q").mkdir()
    assert _versions(load_config(tmp_path / "p" / "pkg"))[0] == (2, 0)
    assert _versions(load_config(tmp_path / "q"))[0] == UNSTATED


def test_what_is_configured_holds(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch>=1.13\n", "tclint.toml": 'min-torch = "2.1"\n'}
    config = _project(tmp_path, files)
    assert _versions(config) == ((2, 1), NEWEST_TORCH)
    assert _versions(with_overrides(config, target_torch="2.4")) == ((2, 1), (2, 4))
    files = {"requirements.txt": "torch>=2.1\n", "tclint.toml": 'target-torch = "2.0"\n'}
    assert _versions(_project(tmp_path, files)) == ((2, 0), (2, 0))


def test_an_oldest_torch_newer_than_the_target_moves_what_nobody_set(tmp_path: Path) -> None:
    config = _project(tmp_path, {"uv.lock": UV, "tclint.toml": 'min-torch = "2.6"\n'})
    assert _versions(config) == ((2, 6), (2, 6))
    assert config.torch.target == "min-torch"


def test_two_versions_that_contradict_each_other_are_an_error(tmp_path: Path) -> None:
    write(tmp_path / "tclint.toml", 'min-torch = "2.6"\ntarget-torch = "2.4"\n')
    with pytest.raises(ConfigError, match=r"min-torch 2\.6 is newer than target-torch 2\.4"):
        load_config(tmp_path)


MENTIONS = [
    # Badges.
    ("![](https://img.shields.io/badge/PyTorch-1.13+-ee4c2c?logo=pytorch)", (1, 13)),
    ("![](https://img.shields.io/badge/pytorch-%3E%3D1.8.0-orange.svg)", (1, 8)),
    ("[![PyTorch](https://img.shields.io/badge/PyTorch-v2.0-red)](https://pytorch.org)", (2, 0)),
    ("![](https://img.shields.io/badge/torch-%E2%89%A51.12-blue)", (1, 12)),
    ("<img src='https://img.shields.io/badge/made%20with-PyTorch%202.2-blue'>", (2, 2)),
    ("![](https://img.shields.io/static/v1?label=pytorch&message=1.10%2B&color=blue)", (1, 10)),
    ("![](https://img.shields.io/badge/python-2.1-blue)", None),
    ("![](https://img.shields.io/badge/pytorch--lightning-1.5-blue)", None),
    # Commands and requirements.
    ("```\npip install torch==1.3.1 torchvision==0.4.2\n```", (1, 3)),
    ("conda install pytorch=1.12 cudatoolkit=11.3 -c pytorch", (1, 12)),
    ("pip install torch==1.13.1+cu117 --index-url https://example.org", (1, 13)),
    ("- `torch>=1.10`\n- `numpy`", (1, 10)),
    ("* PyTorch (>= 1.8)\n", (1, 8)),
    ("**PyTorch** ≥ 2.0", (2, 0)),
    ("[PyTorch](https://pytorch.org) >= 1.6", (1, 6)),
    # Sentences and lists.
    ("PyTorch 1.13+ is needed.", (1, 13)),
    ("This needs PyTorch 2.0 or later.", (2, 0)),
    ("PyTorch version 1.9 and above", (1, 9)),
    ("Requires Python 3.8 and PyTorch 1.11.", (1, 11)),
    ("Tested with Python 3.10, PyTorch 2.1.2 and CUDA 12.1.", (2, 1)),
    ("- Python 3.9\n- PyTorch 1.7.1\n", (1, 7)),
    ("| package | version |\n| --- | --- |\n| PyTorch | 1.10.2 |\n", (1, 10)),
    ("PyTorch 2.0+ is recommended, torch>=1.13 works.", (1, 13)),
    # What says nothing of the torch that is needed.
    ("PyTorch 2.0 introduced torch.compile.", None),
    ("torchvision>=0.9 and pytorch-lightning>=1.5, torch-geometric==2.0", None),
    ("We thank the authors of PyTorch. Python 3.8+", None),
    ("torch.compile makes it 2.1 times faster", None),
    ("- PyTorch 2.0 brings a compiler", None),
]


@pytest.mark.parametrize(("text", "oldest"), MENTIONS)
def test_a_readme_says_which_torch_is_enough(
    tmp_path: Path, text: str, oldest: Version | None
) -> None:
    config = _project(tmp_path, {"README.md": f"# A model\n\n{text}\n", "setup.py": "setup()"})
    assert _versions(config) == (oldest or UNSTATED, NEWEST_TORCH)
    assert ("in README.md" in config.torch.oldest) == (oldest is not None)


def test_what_installers_read_goes_before_a_readme(tmp_path: Path) -> None:
    files = {"README.md": "PyTorch 1.13+\n", "requirements.txt": "torch>=2.2\n"}
    assert _versions(_project(tmp_path, files)) == ((2, 2), NEWEST_TORCH)
    files["requirements.txt"] = "torch\n"
    assert _versions(_project(tmp_path, files)) == ((1, 13), NEWEST_TORCH)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.rst", "Requirements\n============\n\n* torch >= 2.2\n"),
        ("README", "torch>=2.2\n"),
        ("requirements.in", "torch>=2.2\n"),
        ("requirements-gpu.in", "torch>=2.2\n"),
        ("env.yml", "dependencies:\n  - pytorch>=2.2\n"),
        ("conda_env.yaml", "dependencies:\n  - pip:\n    - torch>=2.2\n"),
        ("conda.yml", "dependencies:\n  - pytorch >=2.2\n"),
    ],
)
def test_other_files_say_which_torch_the_project_is_for(
    tmp_path: Path, name: str, text: str
) -> None:
    config = _project(tmp_path, {name: text})
    assert _versions(config) == ((2, 2), NEWEST_TORCH)
    assert requirement_problems(config) == []


def test_a_torch_without_a_compiler_is_the_oldest_and_not_the_target(tmp_path: Path) -> None:
    config = _project(tmp_path, {"requirements.txt": "torch==1.13.1\n"})
    assert _versions(config) == ((1, 13), NEWEST_TORCH)
    said = "torch 1.13, `torch==1.13.1` in requirements.txt, has no `torch.compile`"
    assert config.torch.target == said


def test_an_installed_torch_is_what_fixes_are_for_where_nothing_else_is_said(
    tmp_path: Path,
) -> None:
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.4.1.dist-info").mkdir(parents=True)
    assert _versions(_project(tmp_path, {"setup.py": "setup()"})) == ((2, 4), (2, 4))
    assert _versions(_project(tmp_path, {"README.md": "PyTorch 1.13+"})) == ((1, 13), (2, 4))


def test_a_torch_that_ran_is_the_one_where_nothing_says_another(tmp_path: Path) -> None:
    unknown = _project(tmp_path / "a", {"setup.py": "setup()"})
    assert _versions(running_on(unknown, "2.9.1+cu128")) == ((2, 9), (2, 9))
    assert running_on(unknown, None) == running_on(unknown, "of my own") == unknown
    stated = _project(tmp_path / "b", {"requirements.txt": "torch>=2.2\n"})
    assert running_on(stated, "2.9.1") == stated


def test_whoever_sets_the_target_sets_what_fixes_are_for(tmp_path: Path) -> None:
    config = _project(tmp_path, {"tclint.toml": 'target-torch = "2.6"\n'})
    assert _versions(config) == ((2, 6), (2, 6))
    config = _project(tmp_path / "other", {"setup.py": "setup()"})
    assert _versions(with_overrides(config, target_torch="2.6")) == ((2, 6), (2, 6))


def test_a_run_without_configuration_is_for_the_same_torch(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "torch>=2.2,<2.6\n")
    write(tmp_path / "tclint.toml", "weak = true\n")
    write(tmp_path / "a.py", "import torch\n")
    told = [
        tclint("check", *options, ".", cwd=tmp_path).stdout.splitlines()[-1]
        for options in ((), ("--isolated",))
    ]
    said = "(`torch>=2.2,<2.6` in requirements.txt)"
    assert told == [f"Findings are for torch 2.5 {said}, fixes for torch 2.2 too {said}."] * 2


def test_a_report_says_that_nothing_says_which_torch(tmp_path: Path) -> None:
    configs = [_project(tmp_path, {"a.py": "import torch\n"})]
    newest = ".".join(map(str, NEWEST_TORCH))
    assert torch_line(configs) == (
        f"Findings are for torch {newest} (the newest that tclint knows), fixes for torch 2.1 too "
        "(no file says which torch; set `min-torch`)."
    )
    assert torch_line([]) == ""


BROKEN = [
    ("requirements.txt", "torch>>2\n", "line 1: `torch>>2` is not a requirement"),
    ("requirements.txt", "numpy\n%%% what\n", "line 2: `%%% what` is not a requirement"),
    ("requirements.txt", "-r nowhere.txt\n", "line 1: there is no file nowhere.txt"),
    (
        "requirements.txt",
        "torch>=2.4,<2.0\n",
        "no release of torch is allowed by `torch>=2.4,<2.0`",
    ),
    ("requirements.txt", "torch>=2.4\ntorch<2.0\n", "no release of torch is allowed"),
    ("requirements.txt", "torch\0>=2\n", "is not text"),
    ("pyproject.toml", '[project\ndependencies = ["torch"]\n', "not valid TOML"),
    ("pyproject.toml", '[project]\ndependencies = ["torch 2"]\n', "`torch 2` is not a requirement"),
    ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^two"\n', "cannot be understood"),
    (
        "pyproject.toml",
        f"[project]\ndependencies = {[f'torch>=2.{n}' for n in range(5_000)]}\n",
        "has more about torch than is read: 5000 requirements",
    ),
    (
        "pyproject.toml",
        f"[tool.poetry.dependencies]\ntorch = {[f'^1.{n} || ^2.{n}' for n in range(40)]}\n",
        "has more about torch than is read: 40 requirements",
    ),
    ("setup.cfg", "[options\ntorch\n", "cannot be parsed"),
    ("setup.py", "setup(install_requires=['torch>=2'\n", "cannot be parsed"),
    ("environment.yml", "dependencies: [pytorch\n - {", "not valid YAML"),
    ("environment.yml", "dependencies:\n  - pytorch=new\n", "cannot be understood"),
    ("uv.lock", "torch\n" * 10, "is not a lock file"),
    ("uv.lock", '[[package]]\nname = "torch"\n', "its entry for torch has no version"),
    ("uv.lock", UV.replace("2.5.1", "one"), "`one+cu124` is not a version of torch"),
    ("poetry.lock", "<<<<<<< HEAD\n" + UV, "marks of a merge"),
    ("pdm.lock", "\0\0", "NUL byte"),
]


@pytest.mark.parametrize(("name", "text", "problem"), BROKEN)
def test_a_file_that_cannot_be_understood_is_one_warning_and_the_default(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    write(tmp_path / "a.py", "x = 1\n")
    config = _project(tmp_path, {name: text})
    assert _versions(config) == (UNSTATED, NEWEST_TORCH)
    (said,) = requirement_problems(config)
    assert name in said
    assert problem in said
    newest = ".".join(map(str, NEWEST_TORCH))
    assert f"assuming target-torch {newest} (the newest that tclint knows)" in said


def test_what_is_said_many_times_is_said_once(tmp_path: Path) -> None:
    text = "[project]\ndependencies = [" + '"torch>=2.4",' * 50_000 + "]\n"
    assert _versions(_project(tmp_path, {"pyproject.toml": text}))[0] == (2, 4)


def test_what_python_thinks_of_a_setup_py_is_not_said(tmp_path: Path) -> None:
    text = "if 1 is 1:\n    setup(install_requires=['torch>=2.0'])\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = _project(tmp_path, {"setup.py": text})
    assert _versions(config)[0] == (2, 0)


NAMES = (*METADATA, *LOCKS, "requirements.txt", "environment.yml")
PIECES = (
    *"[]{}()\"'=<>~^!*,;|:@#-\\\n \0\ufeffé",
    *("torch", "pytorch", "torch>=2", "2.1", "9" * 30, "[[package]]\n", "[project]\n", "version"),
    *("name = ", "dependencies", "- ", "-r ", "-c ", "torch-1-x.whl", "pip:", "setup(", "default"),
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.lists(st.sampled_from(PIECES), max_size=25))
def test_no_file_ends_the_run(name: str, pieces: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name, "".join(pieces))
        config = load_config(Path(folder))
    assert config.settings.oldest_torch <= config.settings.target_torch
    assert len(requirement_problems(config)) <= 1


def test_one_broken_file_does_not_silence_the_others(tmp_path: Path) -> None:
    config = _project(tmp_path, {"uv.lock": "no", "requirements.txt": "torch>=2.1\n"})
    assert _versions(config) == ((2, 1), NEWEST_TORCH)
    assert len(requirement_problems(config)) == 1


def test_files_that_contradict_each_other_are_told_and_the_metadata_holds(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\ndependencies = ["torch>=2.6"]\n',
        "requirements.txt": "torch==1.13.1\n",
        "uv.lock": UV,
    }
    config = _project(tmp_path, files)
    assert _versions(config) == ((2, 6), NEWEST_TORCH)
    pins, lock = requirement_problems(config)
    assert "`torch==1.13.1` contradicts `torch>=2.6` in pyproject.toml" in pins
    assert "locks torch 2.5, which `torch>=2.6` in pyproject.toml does not allow" in lock


def test_a_lock_file_of_megabytes_is_searched(tmp_path: Path) -> None:
    others = "".join(
        f'[[package]]\nname = "p{number}"\nversion = "{number}"\n' for number in range(200_000)
    )
    assert _versions(_project(tmp_path, {"uv.lock": others + UV}))[1] == (2, 5)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "uv.lock").open("wb") as stream:
        stream.truncate(65 * 2**20)
    (said,) = requirement_problems(load_config(tmp_path))
    assert "65.0 MB is over the limit of 64 MB" in said


def test_warnings_go_to_standard_error_and_leave_the_report_whole(tmp_path: Path) -> None:
    write(tmp_path / "a.py", "import torch\n")
    write(tmp_path / "requirements.txt", "torch>>2\n")
    done = tclint("check", ".", "--output-format", "json", cwd=tmp_path)
    assert json.loads(done.stdout) == []
    assert done.stderr.count("warning:") == 1
    assert "requirements.txt: line 1: `torch>>2` is not a requirement; assuming" in done.stderr


def test_the_server_infers_the_versions_anew_when_a_file_changes(tmp_path: Path) -> None:
    programs, needs = Programs(), tmp_path / "requirements.txt"
    write(tmp_path / "tclint.toml", "")

    def oldest() -> Version:
        return programs.config(tmp_path / "a.py", tmp_path, Settings()).settings.oldest_torch

    assert oldest() == UNSTATED
    write(needs, "torch>=1.13\n")
    assert oldest() == (1, 13)
    write(needs, "torch>=2.0,!=2.0.1\n")
    assert oldest() == (2, 0)
    needs.unlink()
    assert oldest() == UNSTATED


def test_settings_tell_where_the_versions_come_from(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "torch>=1.13,<2.2\n")
    shown = tclint("check", "--show-settings", ".", cwd=tmp_path).stdout
    assert 'target-torch = "2.1"  # `torch>=1.13,<2.2` in requirements.txt\n' in shown
    assert 'min-torch = "1.13"  # `torch>=1.13,<2.2` in requirements.txt\n' in shown
    shown = tclint("check", "--show-settings", "--min-torch", "2.0", ".", cwd=tmp_path).stdout
    assert 'min-torch = "2.0"  # command line\n' in shown


def test_a_configuration_that_lies_elsewhere_is_not_where_the_project_is(tmp_path: Path) -> None:
    write(tmp_path / "shared" / "tclint.toml", "")
    write(tmp_path / "shared" / "requirements.txt", "torch>=2.6\n")
    write(tmp_path / "project" / "requirements.txt", "torch>=2.1\n")
    named = str(tmp_path / "shared" / "tclint.toml")
    options = ("check", "--show-settings", "--config", named, ".")
    shown = tclint(*options, cwd=tmp_path / "project").stdout
    assert 'min-torch = "2.1"  # `torch>=2.1` in requirements.txt\n' in shown


def test_the_current_folder_may_be_anywhere(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write(folder / "requirements.txt", "torch>>2\n")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        (said,) = requirement_problems(load_config(folder))
    finally:
        os.chdir(before)
    assert said.startswith(str(Path("p", "requirements.txt")))
