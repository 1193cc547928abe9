"""The example programs: every seeded defect is found at its place, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

PROGRAMS = Path(__file__).parents[1] / "fixtures" / "programs"
EXPECTED = json.loads((PROGRAMS / "expected.json").read_text())


def places(paths: list[Path], root: Path) -> dict[str, list[tuple[str, int, int]]]:
    """Code, row and column of every finding by file."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    for result in check_files(paths, Config(root)).results:
        start = result.diagnostic.span.start
        place = (result.diagnostic.code, start.row, start.column)
        found.setdefault(result.diagnostic.path.name, []).append(place)
    return found


def test_exactly_the_seeded_defects_are_found() -> None:
    wanted = {
        name: [(item["code"], item["row"], item["column"]) for item in items]
        for name, items in EXPECTED.items()
        if items
    }
    assert places(sorted(PROGRAMS.glob("*.py")), PROGRAMS) == wanted


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixing_leaves_nothing_fixable_and_is_done_at_once(tmp_path: Path, unsafe: bool) -> None:
    copies = [Path(shutil.copy(path, tmp_path)) for path in sorted(PROGRAMS.glob("*.py"))]
    config = Config(tmp_path)
    run = fix_files(copies, config, unsafe=unsafe)
    assert run.changed
    for file in run.changed:
        file.path.write_text(file.after)
        compile(file.after, str(file.path), "exec")
    allowed = {"safe", "unsafe"} if unsafe else {"safe"}
    left = [result.diagnostic for result in check_files(copies, config).results]
    assert not [d for d in left if d.fixable is not None and d.fixable.value in allowed]
    assert not fix_files(copies, config, unsafe=unsafe).changed
