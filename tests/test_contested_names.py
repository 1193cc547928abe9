"""A function that a module hands on under a name of several meanings proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
import torch

from handed import scale


@torch.compile
def f(x: torch.Tensor, sizes: torch.Tensor):
    most = (sizes[1:] - sizes[:-1]).max().item()
    return scale(x, most)
"""
OWN = "def scale_own(x, most):\n    return x * 2\n"
PLAIN = "def scale(x, most):\n    return x * 2\n"
HANDED = {
    "one meaning": "from own import scale_own as scale\n",
    "the same twice": "from own import scale_own as scale\nfrom own import scale_own as scale\n",
    "two conditions": (
        "import sys\n\nif sys.flags.debug:\n    from faster import scale\n"
        "if not sys.flags.debug:\n    from own import scale_own as scale\n"
    ),
    "a fallback": (
        "try:\n    from faster import scale\nexcept ImportError:\n"
        "    from own import scale_own as scale\n"
    ),
    "none first": "from own import scale_own as scale\n\nscale = None\nfrom plain import scale\n",
    "far": "from further import scale\n",
    "all of it": "from further import *\n",
}
KNOWN = ("one meaning", "the same twice")


@pytest.mark.parametrize("name", HANDED)
@pytest.mark.parametrize("whole", [False, True], ids=["the name", "its module"])
def test_a_number_stays_one_where_another_function_may_be_meant(
    name: str, whole: bool, tmp_path: Path
) -> None:
    model = MODEL
    if whole:
        model = MODEL.replace("from handed import scale", "import handed")
        model = model.replace("return scale(", "return handed.scale(")
    files = {
        "model.py": model, "handed.py": HANDED[name], "own.py": OWN, "plain.py": PLAIN,
        "further.py": HANDED["two conditions"],
    }  # fmt: skip
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    changed = fix_files(sorted(tmp_path.glob("*.py")), Config(root=tmp_path)).changed
    assert bool(changed) is (name in KNOWN)
