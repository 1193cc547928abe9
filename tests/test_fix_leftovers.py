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
            "import math\n\nimport numpy as np\nimport torch\n",
            id="imports",
        ),
        pytest.param(
            "import numpy as np\nimport torch\nfrom torch.cuda.amp import GradScaler, autocast\n\n"
            "scaler = GradScaler\n",
            "import math\n\nimport numpy as np\nimport torch\nfrom torch.cuda.amp import GradScaler\n\nscaler = GradScaler\n",
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
    ],
)
def test_imports_without_a_use_go(tmp_path: Path, head: str, after: str) -> None:
    assert fixed(tmp_path, head) == after


def test_imports_that_another_file_takes_stay(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("from m import autocast\n", encoding="utf-8")
    head = "import numpy as np\nimport torch\nfrom torch.cuda.amp import autocast\n"
    assert "import autocast" in fixed(tmp_path, head)
    assert "import autocast" in fixed(tmp_path, head, name="__init__.py")


def test_imports_that_were_unused_before_stay(tmp_path: Path) -> None:
    head = "import numpy as np\nimport os\nimport torch\nfrom torch.cuda.amp import autocast\n"
    assert "import os" in fixed(tmp_path, head)
