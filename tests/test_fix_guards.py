"""Guards that fixes put next to each other are one, as a person would have written them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import logging\nimport sys\nimport torch\n\nlogger = logging.getLogger(__name__)\n\n\n"
GUARD = "if not torch.compiler.is_compiling():"


def fixed(folder: Path, body: str, *, unsafe: bool = False) -> str:
    """The body of a compiled function after fixing, a second time too."""
    path = folder / "m.py"
    lines = "".join(f"    {line}\n" if line else "\n" for line in body.split("\n"))
    path.write_text(f"{HEAD}def f(x, log=None):\n{lines}    return x\n", encoding="utf-8")
    config = Config(folder, compiled=("*:f",))
    run = fix_files([path], config, unsafe=unsafe)
    text = run.changed[0].after if run.changed else path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert not fix_files([path], config, unsafe=unsafe).changed
    inside = text.partition("log=None):\n")[2].removesuffix("    return x\n")
    return "\n".join(line[4:] for line in inside.splitlines())


@pytest.mark.parametrize(
    ("body", "after"),
    [
        pytest.param(
            "print(1)\nprint(2, x)\nprint(3)",
            f"{GUARD}\n    print(1)\n    print(2, x)\n    print(3)",
            id="adjacent prints",
        ),
        pytest.param(
            "print(1)\nlogger.debug('2')\nsys.stdout.write('3')",
            f"{GUARD}\n    print(1)\n    logger.debug('2')\n    sys.stdout.write('3')",
            id="prints and logging",
        ),
        pytest.param(
            "print(1)\n# of two\n\nprint(2)  # end",
            f"{GUARD}\n    print(1)\n    # of two\n\n    print(2)  # end",
            id="comments and blank lines between stay between",
        ),
        pytest.param(
            "print(1)\nx = x + 1\nprint(2)",
            f"{GUARD}\n    print(1)\nx = x + 1\n{GUARD}\n    print(2)",
            id="a statement between keeps them apart",
        ),
        pytest.param(
            f"{GUARD}\n    print(1)\nprint(2)",
            f"{GUARD}\n    print(1)\n    print(2)",
            id="the author's guard takes what stands below it",
        ),
        pytest.param(
            f"{GUARD}\n    print(1)\n{GUARD}\n    print(2)",
            f"{GUARD}\n    print(1)\n{GUARD}\n    print(2)",
            id="guards of the author's stay as they are",
        ),
        pytest.param(
            "if x.sum() > 0:\n    print(1)\n    print(2)\nprint(3)",
            f"{GUARD}\n    if x.sum() > 0:\n        print(1)\n        print(2)\n    print(3)",
            id="a decision for output",
        ),
        pytest.param(
            "print(1); print(2)",
            f"{GUARD}\n    print(1)\n    print(2)",
            id="on one line",
        ),
    ],
)
def test_adjacent_guards_are_one(tmp_path: Path, body: str, after: str) -> None:
    assert fixed(tmp_path, body) == after


def test_a_file_that_the_user_writes_is_not_lost_in_silence(tmp_path: Path) -> None:
    for print_ in ("print(x.shape, file=log)", "print(1, **log)"):
        assert fixed(tmp_path, print_) == print_
        assert fixed(tmp_path, print_, unsafe=True) == f"{GUARD}\n    {print_}"
    for print_ in ("print(1, file=sys.stderr)", "print(1, file=None)"):
        assert fixed(tmp_path, print_) == f"{GUARD}\n    {print_}"
