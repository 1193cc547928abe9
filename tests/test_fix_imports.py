"""A fix puts an import where the project's own sorter would."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tclint.diagnostics import Decline
from tclint.fix.conflicts import apply_edits
from tclint.fix.edits import edits_for
from tclint.lint.repair import placed
from tclint.lint.rewrite import Import, Repair
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from pathlib import Path

MIXED = """\
import os
import sys

import numpy as np
import torch.nn as nn
from einops import rearrange

from mine.data import load
from .layers import Block

"""
CODE = "\n\ndef f(x):\n    return x\n"
FILES = {
    "sections": MIXED,
    "no imports": "",
    "a docstring": '"""Doc."""\n',
    "a docstring and code": '"""Doc."""\n\nx = 1\n',
    "future": "from __future__ import annotations\n",
    "docstring and future": '"""Doc."""\n\nfrom __future__ import annotations\n\nx = 1\n',
    "a license": "# Copyright\n\nimport numpy as np\n",
    "a license that touches": "# Copyright\nimport numpy as np\n",
    "local imports only": "from . import layers\n",
    "standard library only": "import os\nfrom pathlib import Path\n",
    "third party only": "import numpy as np\nfrom torch import nn\n",
    "first party only": "import mine\n",
    "a comment above": "import os\n\n# numbers\nimport numpy as np\n",
    "one line of several rows": "from numpy import (\n    array,\n    zeros,\n)\n",
    "types below": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch.nn\n",
    "a fallback below": "import os\n\ntry:\n    import x\nexcept ImportError:\n    x = None\n",
}
SETTINGS = {
    "defaults": "",
    "within sections": "force-sort-within-sections = true\n",
    "known": 'known-first-party = ["numpy"]\n',
    "no lines": 'no-lines-before = ["third-party", "local-folder"]\n',
    "order": 'section-order = ["future", "third-party", "standard-library", "first-party",'
    ' "local-folder"]\n',
}


def ruff(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """The texts as ruff sorts their imports."""
    paths = {name: folder / "pkg" / f"m{number}.py" for number, name in enumerate(texts)}
    for name, path in paths.items():
        path.write_text(texts[name], encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--select=I", "--fix", "--quiet", "pkg"]
    subprocess.run([*command, "--no-cache"], cwd=folder, check=True)
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


def with_import(path: Path, text: str, wanted: Import) -> str:
    file = SourceFile.from_text(path, text)
    edits = edits_for(file, ast.parse(text), placed(Repair("Do it", (wanted,))))
    return text if isinstance(edits, Decline) else apply_edits(file, edits)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").touch()
    (tmp_path / "mine" / "data.py").touch()
    (tmp_path / "pkg").mkdir()
    return tmp_path


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_sorter_of_the_project_changes_nothing(project: Path, settings: str) -> None:
    table = f"[tool.ruff.lint.isort]\n{SETTINGS[settings]}"
    (project / "pyproject.toml").write_text(table, encoding="utf-8")
    path = project / "pkg" / "model.py"
    before = ruff(project, {name: head + CODE for name, head in FILES.items()})
    after = {
        f"{name}: {module}": with_import(path, text, Import(module))
        for name, text in before.items()
        for module in ("math", "torch", "functools", "zlib", "a_package", "mine")
    }
    assert ruff(project, after) == after


def test_settings_of_isort_are_read(project: Path) -> None:
    (project / "setup.cfg").write_text(
        "[isort]\nknown_standard_library=numpy,setuptools\nknown_myself=mine\n"
        "no_lines_before=STDLIB,THIRDPARTY\ndefault_section=FIRSTPARTY\n"
        "known_third_party=torch\n"
        "sections=FUTURE,STDLIB,THIRDPARTY,myself,FIRSTPARTY,LOCALFOLDER\n",
        encoding="utf-8",
    )
    path = project / "pkg" / "model.py"
    before = "import logging\nimport numpy as np\nimport torch\n\nfrom .backbone import B\n"
    added = (
        "import logging\nimport math\nimport numpy as np\nimport torch\n\nfrom .backbone import B\n"
    )
    assert with_import(path, before, Import("math")) == added
    before = "import numpy as np\n\nfrom .backbone import B\n"
    added = "import numpy as np\nimport torch\n\nfrom .backbone import B\n"
    assert with_import(path, before, Import("torch")) == added


def test_imports_in_no_order_get_theirs_beside_its_kin(project: Path) -> None:
    path = project / "pkg" / "model.py"
    before = "import torch\nimport torch.nn as nn\nimport numpy as np\nimport einops\n"
    after = with_import(path, before, Import("torch._dynamo"))
    assert after == before.replace("as nn\n", "as nn\nimport torch._dynamo\n")


def test_torch_is_not_imported_above_the_settings_of_its_environment(project: Path) -> None:
    path = project / "pkg" / "model.py"
    before = "import os\nos.environ['A'] = 'b'\nfrom torch import nn\nx = 1\n"
    after = with_import(path, before, Import("torch"))
    assert after == before.replace("from torch", "import torch\nfrom torch")


def test_settings_that_cannot_be_read_say_nothing(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.ruff\n", encoding="utf-8")
    (project / "setup.cfg").write_bytes(b"\xff[isort\n")
    (project / "ruff.toml").write_text(
        'lint = 3\nisort = []\nline-length = "x"\n', encoding="utf-8"
    )
    path = project / "pkg" / "model.py"
    assert with_import(path, "import os\n", Import("math")) == "import math\nimport os\n"
