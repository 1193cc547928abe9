"""The repair benchmark: what it fixes, what it compares, and what it calls sound."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.catalogues import Model
from benchmarks.repair.__main__ import main
from benchmarks.repair.names import missing_names
from benchmarks.repair.packages import fix_package
from benchmarks.repair.reasons import left_by_reason
from benchmarks.repair.record import (
    AFTER,
    BEFORE,
    ROUNDED,
    SAME,
    SETTINGS,
    UNSAFE,
    VERIFIED,
    Measured,
    Site,
)
from benchmarks.repair.report import Report, is_better, page, summary, text, tiers_table
from benchmarks.repair.rows import TABLES, TRAIN, Row, chosen
from benchmarks.repair.tree import Edited, Fixed, fix, installed
from benchmarks.repair.verified import Kept, verified

CODE = """\
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Net(nn.Module):
    def forward(self, x):
        logger.warning("seen")   # odd   spacing
        return x * 2
"""
ROW = Row(Model("net", "Net", "", {}))
SITE = Site("pkg/net.py", 11, "GB0291", "logging.Logger method")


def measured(arm: str, graphs: int, **more: object) -> Measured:
    same = Measured(
        ROW.name, arm, "Net", graphs, (SITE,) * (graphs > 1),
        eager=SAME, compiled=SAME, messages=SAME,
    )  # fmt: skip
    return replace(same, **more)


def report(after: Measured, broken: tuple[str, ...] = ()) -> Report:
    fixed = Fixed(1.0, 1, (Edited("pkg/net.py", 1, 1, 2),), broken)
    return Report("package 1.0, table", [ROW], {"net": measured(BEFORE, 4)}, {"net": after}, fixed)


@pytest.mark.slow
def test_the_copy_is_fixed_and_the_rest_of_it_stays(tmp_path: Path) -> None:
    before = tmp_path / "before" / "pkg"
    before.mkdir(parents=True)
    (before / "__init__.py").write_text("")
    (before / "net.py").write_text(CODE)
    done = fix(before, tmp_path / "after" / "pkg", Path(sys.executable), [])
    assert (before / "net.py").read_text() == CODE
    assert done.edited == (Edited("pkg/net.py", 1, 1, 2),)
    assert done.broken == ()
    after = (tmp_path / "after" / "pkg" / "net.py").read_text()
    guarded = (
        '        if not torch.compiler.is_compiling():\n            logger.warning("seen")   #'
    )
    assert guarded in after
    assert Fixed.from_json(json.loads(json.dumps(done.to_json()))) == done


def test_totals_name_what_is_left() -> None:
    told = report(measured(AFTER, 2))
    assert told.sound
    assert "3 -> 1 (66.7% removed)" in summary(told)
    assert "0 of 1 rows that broke" in summary(told)
    assert "pkg/net.py" in text(told)
    assert "| 1 | `pkg/net.py:11` | logging.Logger method |" in page(told)


@pytest.mark.parametrize("what", ["eager", "compiled", "messages"])
def test_a_difference_is_not_sound(what: str) -> None:
    told = report(measured(AFTER, 1, **{what: "different: result"}))
    assert not told.sound
    assert told.unequal == [f"net, {what}: different: result"]


def test_a_new_recompile_and_a_broken_import_are_not_sound() -> None:
    assert report(measured(AFTER, 1, recompiles=1)).unequal
    assert not report(measured(AFTER, 1), ("pkg.net: SyntaxError",)).sound


def test_a_row_that_no_longer_runs_is_lost() -> None:
    told = report(Measured("net", AFTER, "Net", failure="took too long"))
    assert told.lost == ["net: took too long"]
    assert not told.sound


def test_records_travel_as_json() -> None:
    one = measured(AFTER, 3, loaded={"pkg/net.py": "00"})
    assert Measured.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_rows_are_chosen_by_name() -> None:
    assert [row.name for row in chosen("published", ["bart", "bart@fp16"])] == ["bart", "bart@fp16"]
    assert len({row.name for row in TABLES["catalogue"]}) == len(TABLES["catalogue"])
    assert chosen("published", ["bart@train"])[0].mode == TRAIN


def test_an_interpreter_without_the_package_is_one_clear_error() -> None:
    with pytest.raises(LookupError, match="has no no_such_package: install it"):
        installed(Path(sys.executable), "no_such_package")


def test_an_unknown_row_is_one_clear_error() -> None:
    with pytest.raises(SystemExit, match="published has no rows named no-such-model"):
        main(["--rows", "bart,no-such-model"])


def test_names_that_only_type_checkers_see_are_missing(tmp_path: Path) -> None:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch\n\n\n"
    file = tmp_path / "program.py"
    file.write_text(f'{head}def f(x: "torch.Tensor"):\n    return x\n', "utf-8")
    assert not missing_names(tmp_path)
    file.write_text(f"{head}def f(x):\n    return torch.relu(x), unknown\n", "utf-8")
    assert [text.partition(":")[0] for text in missing_names(tmp_path)] == ["program.py"] * 2


@pytest.mark.slow(12)
def test_the_promises_are_held_against_settings_too(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    code = "import torch\n\n\ndef f(x):\n    return x[x > 0].sum()\n\n\nfast = torch.compile(f)\n"
    (package / "__init__.py").write_text(code)
    result = fix_package(package, SETTINGS, Path(sys.executable), tmp_path / "kept")
    assert (result.broken, result.changed, result.imported) == ([], 1, 1)
    assert (package / "__init__.py").read_text() == code
    fixed = (tmp_path / "kept" / SETTINGS / "pkg" / "__init__.py").read_text()
    assert fixed != code


def test_a_tier_is_kept_where_it_removes_breaks_and_changes_nothing_else() -> None:
    safe = measured(AFTER, 3)
    assert is_better(measured(UNSAFE, 2), safe)
    assert not is_better(measured(UNSAFE, 3), safe)
    assert not is_better(measured(SETTINGS, 1, compiled="different: call 0"), safe)
    assert not is_better(measured(SETTINGS, 1, recompiles=1), safe)
    assert not is_better(measured(SETTINGS, 0, failure="took too long"), safe)
    rounded = f"{ROUNDED}: 3.1e-07"
    assert is_better(measured(UNSAFE, 2, eager=rounded, compiled=rounded), safe)


def test_the_tiers_tell_what_is_left_after_each() -> None:
    safe, unsafe = {"net": measured(AFTER, 3)}, {"net": measured(UNSAFE, 1)}
    table = tiers_table(report(measured(AFTER, 3)), {AFTER: safe, UNSAFE: unsafe})
    assert "| as found | 3 | 0 of 1 |" in table
    assert "| safe fixes | 2 | 0 of 1 |" in table
    assert "| and unsafe fixes | 0 | 1 of 1 |" in table
    assert "| net | 3 | 2 | 0 | identical |" in table


def test_what_safe_fixes_leave_is_told_by_its_reason() -> None:
    names = ["mixtral", "another", "m2m_100@train", "bart"]
    breaks = {"mixtral": 4, "another": 3, "m2m_100@train": 2, "bart": 0}
    safe = {name: replace(measured(AFTER, breaks[name] + 1), row=name) for name in names}
    unsafe = {name: replace(one, graphs=1) for name, one in safe.items()}
    found = {"mixtral": 5, "another": 3, "m2m_100@train": 2, "bart": 9}
    told = left_by_reason(names, found, {"safe fixes": safe, "and unsafe fixes": unsafe})
    rows = [line.split(" | ")[:5] for line in told.splitlines() if line.startswith("| ")]
    assert rows[0] == ["| class", "rows", "as found", "safe fixes", "and unsafe fixes"]
    assert rows[2:] == [
        ["| mixtures of experts", "1", "5", "4", "0"],
        ["| LayerDrop", "1", "2", "2", "0"],
        ["| others", "1", "3", "3", "0"],
    ]


FAKE = """\
#!{python}
import json
import sys
from pathlib import Path

given = sys.argv
if given[2] == "tclint":
    assert Path("made_net.py").exists() and given[-2:] == ["pkg/net.py", "made_net:make"]
    print(json.dumps({{"verification": {{"worth": [{{"kept": {kept}, "lines": ["a setting"]}}]}}}}))
else:
    place = Path(given[given.index("--records") + 1])
    place.write_text(json.dumps({record} | {{"arm": given[3]}}))
"""


@pytest.mark.parametrize("kept", [True, False])
def test_a_row_that_still_breaks_is_measured_as_fix_verify_leaves_it(
    kept: bool, tmp_path: Path
) -> None:
    for tree, code in ((BEFORE, CODE), (AFTER, CODE), (UNSAFE, CODE + "\n")):
        package = tmp_path / tree / "pkg"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "net.py").write_text(code)
    python = tmp_path / "python"
    record = replace(measured(UNSAFE, 1), row="net").to_json()
    python.write_text(FAKE.format(python=sys.executable, kept=kept, record=record))
    python.chmod(0o755)
    before = replace(measured(BEFORE, 4), loaded={"pkg/net.py": "", "pkg/__init__.py": ""})
    how = Kept(tmp_path, tmp_path, "catalogue", python, "2.13", 9, 60.0)
    [one] = verified([ROW], {"net": before}, how, 1)
    assert (one.arm, one.breaks) == (VERIFIED, 0)
    untouched = replace(before, loaded={"pkg/__init__.py": ""})
    assert not [*verified([ROW], {"net": untouched}, how, 1)]
