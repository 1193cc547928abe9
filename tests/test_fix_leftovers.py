# ruff: noqa: E501
"""What fixes take the last use of goes with them; what others may need stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.conflicts import apply_edits
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from pathlib import Path

CODE = """

def f(x: torch.Tensor):
    with autocast():
        y = x * 2
    with autocast(enabled=True):
        return y.view(np.prod(y.shape))
"""


def fixed(folder: Path, head: str, code: str = CODE, name: str = "m.py") -> str:
    """The head after fixing; the edits that are told make the same."""
    path = folder / name
    path.write_text(head + code, encoding="utf-8")
    paths = [*folder.glob("*.py")]
    run = fix_files(paths, Config(folder, compiled=("*:f",)), unsafe=True)
    (changed,) = [file for file in run.changed if file.path == path]
    edits = {edit for fix in changed.fixes for edit in fix.edits}
    assert apply_edits(SourceFile.from_text(path, head + code), edits) == changed.after
    return changed.after.partition("\n\ndef f(")[0]


@pytest.mark.parametrize(
    ("head", "after"),
    [
        pytest.param(
            "import numpy as np\nimport torch\nfrom torch.cuda.amp import autocast\n",
            "import math\n\nimport torch\n",
            id="imports",
        ),
        pytest.param(
            "import numpy as np\nimport torch\nfrom torch.cuda.amp import GradScaler, autocast\n\n"
            "scaler = GradScaler\n",
            "import math\n\nimport torch\nfrom torch.cuda.amp import GradScaler\n\nscaler = GradScaler\n",
            id="one of several names",
        ),
        pytest.param(
            "import numpy as np\nimport torch\n\ntry:\n    from torch.cuda.amp import autocast\n"
            "except ImportError:\n    autocast = None\n\nsize = np.int64(3)\n",
            "import math\n\nimport numpy as np\nimport torch\n\nsize = np.int64(3)\n",
            id="a fallback",
        ),
        pytest.param(
            "import numpy as np  # noqa: F401\nimport torch\nfrom torch.cuda.amp import autocast\n\n"
            '__all__ = ["autocast"]\n',
            "import math\n\nimport numpy as np  # noqa: F401\nimport torch\n"
            "from torch.cuda.amp import autocast\n\n"
            '__all__ = ["autocast"]\n',
            id="what is kept on purpose",
        ),
        pytest.param(
            "import math\nimport numpy as np\nimport torch\nimport torch.cuda.amp as amp\n"
            "import torch.onnx as onnx\n\nautocast = amp.autocast\n",
            "import math\nimport torch\nimport torch.cuda.amp as amp\n"
            "import torch.onnx as onnx\n\nautocast = amp.autocast\n",
            id="what is used still, and what was unused before",
        ),
    ],
)
def test_imports_without_a_use_go(tmp_path: Path, head: str, after: str) -> None:
    assert fixed(tmp_path, head) == after


def test_a_module_that_comes_with_torch_goes(tmp_path: Path) -> None:
    code = "\n\ndef f(x: torch.Tensor):\n    with amp.autocast():\n        return x * 2\n"
    head = "import torch\nimport torch.cuda.amp as amp\n"
    assert fixed(tmp_path, head, code) == "import torch\n"


def test_imports_that_another_file_takes_stay(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("from m import autocast\n", encoding="utf-8")
    head = "import numpy as np\nimport torch\nfrom torch.cuda.amp import autocast\n"
    assert "import autocast" in fixed(tmp_path, head)
    assert "import autocast" in fixed(tmp_path, head, name="__init__.py")


def test_imports_that_were_unused_before_stay(tmp_path: Path) -> None:
    head = "import numpy as np\nimport os\nimport torch\nfrom torch.cuda.amp import autocast\n"
    assert "import os" in fixed(tmp_path, head)


NUMPY = "\n\ndef f(x: torch.Tensor):\n    return x.view(np.prod(x.shape))\n"


@pytest.mark.parametrize(
    ("head", "after"),
    [
        pytest.param(
            "import math\nimport os, numpy as np\n\nimport torch\n\nprint(os.name)\n",
            "import math\nimport os\n\nimport torch\n\nprint(os.name)\n",
            id="one of two in a row",
        ),
        pytest.param(
            "import numpy as np\n\nimport math\nimport torch\n",
            "import math\nimport torch\n",
            id="the first line",
        ),
        pytest.param(
            "import math\nimport torch\n\nimport numpy as np\n",
            "import math\nimport torch\n",
            id="the last import, by itself",
        ),
        pytest.param(
            "import math\nimport torch\n\ntry:\n    import numpy as np\nexcept ImportError:\n"
            "    np = None\n",
            "import math\nimport torch\n",
            id="a fallback",
        ),
    ],
)
def test_modules_without_a_use_go(tmp_path: Path, head: str, after: str) -> None:
    assert fixed(tmp_path, head, NUMPY) == after


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("\nSIZE = np.int64(3)\n", id="used elsewhere"),
        pytest.param('\n__all__ = ["np"]\n', id="exported"),
        pytest.param('\n\ndef g(a: "np.ndarray"): ...\n', id="an annotation as text"),
        pytest.param("\nsizes = []  # type: list[np.ndarray]\n", id="a type comment"),
        pytest.param('\n\ndef g():\n    """\n    >>> np.ones(3)\n    """\n', id="a doctest"),
        pytest.param("\nknown = eval(input())\n", id="eval"),
        pytest.param("\nknown = [*globals()]\n", id="globals"),
        pytest.param("\nimport sys\nthis = sys.modules[__name__]\n", id="the module itself"),
        pytest.param("\ndel np\n", id="deleted"),
        pytest.param("\n\nclass A:\n    kind = np.float32\n", id="in a class"),
    ],
)
def test_modules_that_something_may_need_stay(tmp_path: Path, more: str) -> None:
    code = NUMPY + more
    assert "import numpy as np\n" in fixed(
        tmp_path, "import math\nimport numpy as np\nimport torch\n", code
    )


@pytest.mark.parametrize(
    "line",
    [
        "import numpy as np  # noqa: F401",
        "import numpy as np; import sys",
        "# what follows is for the sizes\nimport numpy as np\n",
        "if True:\n    import numpy as np",
    ],
)
def test_modules_whose_line_says_more_stay(tmp_path: Path, line: str) -> None:
    head = f"import math\nimport torch\n\n{line}\n"
    assert "import numpy as np" in fixed(tmp_path, head, NUMPY)


@pytest.mark.parametrize(
    ("other", "stays"),
    [
        ("from m import np\n", True),
        ("from m import *\nprint(np)\n", True),
        ("from .m import f, np\n", True),
        ("import m\nprint(m.np.ones(3))\n", True),
        ("import m as numbers\nprint(numbers.np.ones(3))\n", True),
        ("from package import m as numbers\nprint(numbers.np.ones(3))\n", True),
        ("import m\nprint(getattr(m, 'np'))\n", True),
        ("def test(monkeypatch):\n    monkeypatch.setattr('m.np.ones', None)\n", True),
        ("import importlib\nm = importlib.import_module('m')\nprint(m.np)\n", True),
        ("import numpy as np\nfrom m import f\nprint(np.ones(3))\n", False),
        ("import m\nimport numpy as np\nprint(m.f(np.ones(3)))\n", False),
        ("import numpy as np\nm = np.ones(3)\n", False),
        ("from m import (np\n", True),
    ],
)
def test_modules_that_another_file_takes_stay(tmp_path: Path, other: str, stays: bool) -> None:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "other.py").write_text(other, encoding="utf-8")
    head = "import math\nimport numpy as np\nimport torch\n"
    assert ("import numpy" in fixed(tmp_path, head, NUMPY)) is stays
