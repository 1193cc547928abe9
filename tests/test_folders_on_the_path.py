"""Which file a name leads to, folder by folder: what Python finds there, or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files, load_project
from tests.semantics_probe import put

SHOWS = "import {name} as found\nprint(found.__file__ or '')\n"

# The files, the one that imports, the name, where the script is run with what on the path, and the
# file that is found.
PROGRAMS = {
    "beside a script": (["app/read.py", "read.py"], "app/run.py", "read", "", "app/read.py"),
    "a package beside a script": (
        ["app/ops/__init__.py", "other/ops/__init__.py"], "app/run.py", "ops", "",
        "app/ops/__init__.py",
    ),
    "the second of two packages of a name": (
        ["one/ops/__init__.py", "one/ops/read.py", "two/ops/__init__.py", "two/ops/read.py"],
        "two/run.py", "ops.read", "", "two/ops/read.py",
    ),
    "a package comes before a file": (
        ["app/read.py", "app/read/__init__.py"], "app/run.py", "read", "", "app/read/__init__.py"
    ),
    "a file comes before a folder": (
        ["app/read.py", "app/read/max.py"], "app/run.py", "read", "", "app/read.py"
    ),
    "a folder of the name of the file in it": (
        ["ops/ops.py", "ops/read.py"], "run.py", "ops.read", "", "ops/read.py"
    ),
    "a file far away": (["far/read.py"], "run.py", "read", "", ""),
    "a file in a folder of the run": (["pkg/far/read.py"], "pkg/run.py", "read", "", ""),
    "a package far away": (["far/ops/__init__.py"], "app/run.py", "ops", "", ""),
    "a file of a package": (["pkg/__init__.py", "pkg/read.py"], "run.py", "read", "", ""),
    "above a module": (
        ["read.py", "pkg/__init__.py"], "pkg/run.py", "read", ".", "read.py"
    ),
    "the nearest above": (
        ["ops/__init__.py", "app/ops/__init__.py"], "app/tools/run.py", "ops", "app",
        "app/ops/__init__.py",
    ),
    "the sources of a project": (
        ["src/pkg/__init__.py", "setup.py"], "tests/run.py", "pkg", "src", "src/pkg/__init__.py"
    ),
    "the sources of another project": (["other/lib/read.py"], "app/run.py", "read", "", ""),
    "a part of the sources": (
        ["lib/pkg/__init__.py", "lib/pkg/read.py"], "tools/run.py", "pkg.read", "lib",
        "lib/pkg/read.py",
    ),
    "what is installed from a folder": (
        ["libs/ops/setup.py", "libs/ops/ops/__init__.py"], "run.py", "ops", "libs/ops",
        "libs/ops/ops/__init__.py",
    ),
    "a package that is installed as it stands": (
        ["libs/ops/setup.py", "libs/ops/__init__.py", "libs/ops/read.py"], "run.py", "ops.read",
        "libs", "libs/ops/read.py",
    ),
    "a file beside what is installed": (
        ["libs/ops/setup.py", "libs/ops/read.py"], "run.py", "read", "", ""
    ),
    "a module of Python's beside a script": (
        ["app/colorsys.py"], "app/run.py", "colorsys", "", "app/colorsys.py"
    ),
    "an extension of the name of the folder that it is in": (
        ["pkg/__init__.py", "pkg/ops/native/__init__.py"], "pkg/ops/native/run.py", "native", "",
        "",
    ),
    "a package beside a script below a package": (
        ["pkg/__init__.py", "pkg/tools/ops/__init__.py"], "pkg/tools/run.py", "ops", "",
        "pkg/tools/ops/__init__.py",
    ),
    "a name that begins like another": (["app/read.py"], "app2/run.py", "read", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_import_finds_what_python_finds(name: str, tmp_path: Path) -> None:
    files, importer, wanted, on_path, found = PROGRAMS[name]
    shows = SHOWS.format(name=wanted)
    put(tmp_path, dict.fromkeys(files, "") | {importer: shows})
    folders = [str(tmp_path / on_path)] if on_path else []
    ran = subprocess.run(
        [sys.executable, str(tmp_path / importer)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )  # fmt: skip
    assert ran.stdout.strip() == (str(tmp_path / found) if found else "")
    paths = sorted(tmp_path.rglob("*.py"))
    project = load_project(paths, Config(root=tmp_path))
    assert project.find(str((tmp_path / importer).parent), wanted) == (
        tmp_path / found if found else None
    )


def test_a_folder_of_modules_in_a_package_is_something(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "", "pkg/ops/native/__init__.py": "",
        "pkg/program.py": "import torch\nfrom pkg.ops.native import compiled, other\n"
        "@torch.compile\ndef f(x):\n    return compiled.read(x)\n",
    }  # fmt: skip
    results = check_files(put(tmp_path, files), Config(root=tmp_path)).results
    assert not [
        one.diagnostic.message for one in results if "binds `ops`" in one.diagnostic.message
    ]


def test_a_package_may_be_called_dist(tmp_path: Path) -> None:
    from tclint.source.discovery import discover

    put(tmp_path, {"pkg/__init__.py": "", "pkg/dist/__init__.py": "", "build/lib/read.py": ""})
    found = discover([tmp_path], Config(root=tmp_path)).files
    assert [str(path.relative_to(tmp_path)) for path in found] == [
        f"pkg{os.sep}__init__.py", f"pkg{os.sep}dist{os.sep}__init__.py",
    ]  # fmt: skip
