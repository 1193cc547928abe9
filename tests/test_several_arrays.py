"""Functions of numpy that give several arrays: what an index picks from them is no number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

HEAD = """\
import numpy as np
import torch


@torch.compile
def f(x: torch.Tensor, a: np.ndarray):
"""
# The lines, and those that need a number in Python (TCL191) or copy an array (TCL320).
PROGRAMS = {
    "k = np.nonzero(a == 0)[0]\nreturn x[k]": ([], [8]),
    "k, = np.where(a == 0)\nreturn x[k]": ([], [8]),
    "k, = np.where(a == 0)\nreturn x[k[0]]": ([8], []),
    "i, j = a.nonzero()\nreturn x[i, j]": ([], [8]),
    "return x[np.where(a == 0)]": ([], [7]),
    "k = np.where(a > 0, a, 0)\nreturn x[k[0]]": ([8], []),
    "k = np.split(a, 2)[0]\nreturn x[k]": ([], [8]),
    "k, n = np.unique(a, return_counts=True)\nreturn x[k]": ([], [8]),
    "k = np.unique(a)\nreturn x[k[0]]": ([8], []),
}


@pytest.mark.parametrize("lines", PROGRAMS)
def test_an_array_out_of_several_is_an_array(lines: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in lines.splitlines()))
    run = check_files([file], Config(tmp_path))
    found = [result.diagnostic for result in run.results]
    rows = tuple(
        [one.span.start.row for one in found if one.code == code] for code in ("TCL191", "TCL320")
    )
    assert rows == PROGRAMS[lines]


def test_how_dynamo_takes_them() -> None:
    """The array that an index picks does not break the graph as an index, its number does."""
    torch = pytest.importorskip("torch")
    import numpy as np

    from tests.dynamo import breaks

    x, a = torch.ones(4, 3), np.array([0, 2])
    assert not breaks("def f(x, a):\n    return x[a] * 2\n", x, a)
    assert breaks("def f(x, a):\n    return x[a[0]] * 2\n", x, a)
