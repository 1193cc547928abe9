"""Names of the compiler that came with a release: told to projects that run on an older one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.lint.engine import check_files

USES = (
    'import torch\n\ntorch.compiler.set_default_backend("eager")\n',
    "import torch.compiler as tc\n\ntc.set_default_backend\n",
    "from torch import compiler\n\ncompiler.set_default_backend\n",
    "from torch.compiler import set_default_backend as use\n\nuse\n",
    "import torch\n\n\ndef f(x):\n    torch.compiler.set_default_backend(None)\n    return x\n",
    "import torch\n\ntorch._dynamo.override_optimization_hint\n",
)
LEFT = (
    'import torch\n\nif hasattr(torch.compiler, "precompile"):\n    torch.compiler.precompile\n',
    'import torch\n\nif torch.__version__ >= "2.13":\n    torch.compiler.set_default_backend\n',
    "import torch\n\ntry:\n    torch.compiler.precompile\nexcept AttributeError:\n    pass\n",
    "import torch\n\ntorch.compiler.is_compiling()\n",
    "class Own:\n    set_default_backend = 1\n\n\nOwn.set_default_backend\n",
    "import torch\n\n\nclass compiler:\n    precompile = 1\n\n\ncompiler.precompile\n",
)


def _told(folder: Path, text: str, settings: Settings) -> list[str]:
    path = folder / "program.py"
    path.write_text(text)
    results = check_files([path], Config(root=folder, settings=settings, weak=True)).results
    return [one.diagnostic.code for one in results if one.diagnostic.code == "TCL425"]


@pytest.mark.parametrize("text", USES)
@pytest.mark.parametrize(("release", "lacks"), [((2, 11), 1), ((2, 12), 1), ((2, 13), 0)])
def test_a_name_is_told_where_the_release_lacks_it(
    text: str, release: tuple[int, int], lacks: int, tmp_path: Path
) -> None:
    settings = Settings(target_torch=release)
    assert _told(tmp_path, text, settings) == ["TCL425"] * lacks


@pytest.mark.parametrize("text", USES)
def test_a_name_is_told_where_the_oldest_release_lacks_it(text: str, tmp_path: Path) -> None:
    settings = Settings(target_torch=(2, 15), min_torch=(2, 12))
    assert _told(tmp_path, text, settings) == ["TCL425"]


@pytest.mark.parametrize("text", LEFT)
def test_code_that_asks_first_is_left_alone(text: str, tmp_path: Path) -> None:
    settings = Settings(target_torch=(2, 11))
    assert _told(tmp_path, text, settings) == []
