"""Runs of a fleet: what is measured, what is known, and what is written down."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.fleet.board import board
from tclint.fleet.config import FleetError
from tclint.fleet.measure import digest_file
from tclint.fleet.session import Again, Ran
from tclint.fleet.store import TABLES, VERSION, driving, open_store
from tclint.fleet.units import KILLED, CodeFile, Measured, Unit, failed
from tests.fleet_help import BREAK, FLEET, WHOLE_ONE, run, without_torch, write_fleet

ONE, TWO = "models/a.py:make_one", "models/a.py:make_two"


@pytest.fixture(autouse=True)
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    without_torch(monkeypatch)


def loading(*files: str) -> object:
    """A judge whose targets load these files."""

    def judge(unit: Unit) -> Measured:
        root = Path(unit.root)
        return replace(
            WHOLE_ONE, code=tuple(CodeFile(file, digest_file(root / file)) for file in files)
        )

    return judge


def test_a_second_run_measures_nothing(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    assert run(file) == (Ran(1, 2, 0), [ONE, TWO])
    assert run(file) == (Ran(2, 0, 2), [])
    assert run(file, again=Again(everything=True)) == (Ran(3, 2, 0), [ONE, TWO])


def test_a_change_of_a_file_that_a_target_loads_measures_it_again(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    (tmp_path / "models/b.py").write_text("one = 1\n")

    def judge(unit: Unit) -> Measured:
        name = "models/a.py" if unit.target == ONE else "models/b.py"
        return loading(name)(unit)  # type: ignore[operator]

    run(file, judge)
    (tmp_path / "models/b.py").write_text("one = 2\n")
    assert run(file, judge)[1] == [TWO]
    (tmp_path / "models/b.py").write_text("one = 1\n")
    assert run(file, judge)[1] == []  # what it was before is known
    (tmp_path / "README.md").write_text("no code\n")
    (tmp_path / "new.py").write_text("of no target\n")
    assert run(file, judge)[1] == []


def test_of_what_is_not_known_to_load_anything_all_code_counts(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    run(file, lambda unit: failed("crash", "crashed with SIGSEGV"))
    assert run(file)[1] == []
    (tmp_path / "new.py").write_text("anything\n")
    assert run(file)[1] == [ONE, TWO]


@pytest.mark.parametrize(
    "text",
    [
        FLEET.replace("[fleet]", "[fleet]\nbackend = 'aot_eager'"),
        FLEET.replace("[fleet]", "[fleet]\nmodes = ['lite']"),
        FLEET + "phase = 'backward'\n",
        FLEET + "[[arm]]\nname = 'fixed'\nfixed = true\n",
    ],
)
def test_what_is_measured_in_another_way_is_measured_again(tmp_path: Path, text: str) -> None:
    run(write_fleet(tmp_path))
    assert run(write_fleet(tmp_path, text))[1] == [ONE, TWO]


def test_another_torch_and_a_named_file_count_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = FLEET.replace("[fleet]", "[fleet]\nfiles = ['*.json']")
    (tmp_path / "size.json").write_text("3")
    file = write_fleet(tmp_path, text)
    run(file)
    assert run(file)[1] == []
    (tmp_path / "size.json").write_text("4")
    assert run(file)[1] == [ONE, TWO]
    without_torch(monkeypatch, "2.12.0")
    assert run(file)[1] == [ONE, TWO]


def test_a_name_of_the_arm_and_the_limits_change_no_result(tmp_path: Path) -> None:
    run(write_fleet(tmp_path))
    text = FLEET.replace("[fleet]", "[fleet]\ntime-limit = 5\njobs = 1")
    assert run(write_fleet(tmp_path, f"{text}[[arm]]\nname = 'today'\n"))[1] == []


def test_what_took_too_long_is_tried_again_with_more_time_only(tmp_path: Path) -> None:
    def limited(seconds: int) -> Path:
        return write_fleet(tmp_path, FLEET.replace("[fleet]", f"[fleet]\ntime-limit = {seconds}"))

    run(limited(50), lambda unit: failed("timeout", "took longer"))
    assert run(limited(50))[1] == []
    assert run(limited(40))[1] == []
    assert run(limited(60))[1] == [ONE, TWO]


def test_failures_are_tried_again_where_that_is_asked(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    run(file, lambda unit: failed("crash", "x") if unit.target == ONE else WHOLE_ONE)
    assert run(file)[1] == []
    assert run(file, again=Again(failures=True))[1] == [ONE]


def test_what_somebody_else_ended_is_started_again_a_few_times(tmp_path: Path) -> None:
    file, seen = write_fleet(tmp_path), Counter[str]()

    def judge(unit: Unit) -> Measured:
        seen[unit.target] += 1
        ends = unit.target == ONE and seen[ONE] < 3
        return failed(KILLED, "was killed (SIGKILL)") if ends else WHOLE_ONE

    ran, _ = run(file, judge)
    assert (ran.measured, seen) == (2, {ONE: 3, TWO: 1})
    again = write_fleet(tmp_path, FLEET.replace("kept", "other"))
    seen.clear()
    _, asked = run(again, lambda unit: failed(KILLED, "was killed (SIGKILL)"))
    assert Counter(asked) == {ONE: 5, TWO: 5}
    assert run(again)[1] == [ONE, TWO]  # and is no result to rely on


def test_a_run_that_was_killed_goes_on_as_the_same_run(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)

    class KilledError(Exception):
        pass

    def judge(unit: Unit) -> Measured:
        if unit.target == TWO:
            raise KilledError
        return WHOLE_ONE

    with pytest.raises(KilledError):
        run(file, judge)
    with open_store(tmp_path / "kept.sqlite") as store:
        told = board(store)
        assert (told.run.finished, told.totals[0].whole, told.totals[0].missing) == ("", 1, 1)
    assert run(file) == (Ran(1, 1, 1), [TWO])
    with open_store(tmp_path / "kept.sqlite") as store:
        (only,) = store.runs()
        assert only.finished
        assert len(store.units(1)) == 2


def test_a_run_that_goes_on_measures_again_what_was_edited_meanwhile(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    loads = loading("models/a.py")

    class KilledError(Exception):
        pass

    def judge(unit: Unit) -> Measured:
        if unit.target == TWO:
            raise KilledError
        return loads(unit)  # type: ignore[operator, no-any-return]

    with pytest.raises(KilledError):
        run(file, judge)
    (tmp_path / "models/a.py").write_text((tmp_path / "models/a.py").read_text() + "more = 1\n")
    assert run(file, loads) == (Ran(1, 2, 0), [ONE, TWO])  # type: ignore[arg-type]
    with open_store(tmp_path / "kept.sqlite") as store:
        assert len(store.units(1)) == 2


def test_sources_that_cannot_be_read_are_rows_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    (tmp_path / "models/bad.py").write_text("def make(:\n")
    assert run(file) == (Ran(1, 2, 1), [ONE, TWO])
    with open_store(tmp_path / "kept.sqlite") as store:
        (row,) = (unit for unit in store.units(1) if unit.target == "models/bad.py:make_*")
    assert row.measured is not None
    assert (row.measured.failure, row.measured.reason[:16]) == ("target", "cannot be parsed")
    assert run(file) == (Ran(2, 0, 3), [])


@pytest.mark.skipif(sys.platform != "linux", reason="names may hold any bytes there")
def test_names_and_reasons_may_hold_anything(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    odd = os.fsdecode(b"\xff\n.py")
    (tmp_path / "models/a.py").rename(tmp_path / "models" / odd)
    assert run(file, lambda unit: failed("exception", "\0\ud800\n"))[0] == Ran(1, 2, 0)
    assert run(file)[0] == Ran(2, 0, 2)
    with open_store(tmp_path / "kept.sqlite") as store:
        one, _ = store.units(2)
    assert one.target == "models/\N{REPLACEMENT CHARACTER}\N{SYMBOL FOR LINE FEED}.py:make_one"
    assert one.measured is not None
    assert one.measured.reason.isprintable()


def test_what_goes_wrong_beside_the_store_is_not_said_of_the_store(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    run(file)
    with pytest.raises(FileNotFoundError), open_store(tmp_path / "kept.sqlite"):
        (tmp_path / "nowhere").read_text()


def test_everything_measured_is_read_back(tmp_path: Path) -> None:
    from tclint.fleet.units import ModeSpeed

    speeds = (ModeSpeed("default", 2.0, 1.0, 2.0, 1.9, 2.1, 3.5, "eager / compiled"),)
    whole = Measured(
        "breaks", "", "", "2.13.0", "cpu", 2, 1, (BREAK, BREAK), 3, "close", "nearly",
        ("TCL101", "TCL101"), speeds, "no", 1.5,
    )  # fmt: skip
    run(write_fleet(tmp_path), lambda unit: whole)
    with open_store(tmp_path / "kept.sqlite") as store:
        assert [unit.measured for unit in store.units(1)] == [whole, whole]
        assert store.result(1) == whole
        assert [row[4] for row in store.rows("breaks")] == ["GB0124"] * 4


def test_a_store_that_is_locked_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint.fleet import store

    file = write_fleet(tmp_path)
    run(file)
    monkeypatch.setattr(store, "_WAIT_SECONDS", 0.1)
    with sqlite3.connect(tmp_path / "kept.sqlite") as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FleetError, match=r"kept.sqlite: another process has locked it"):
            run(file)
        other.rollback()
    other.close()


def test_two_drivers_are_one_too_many(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    said = "another `tclint fleet run` is writing to it"
    with driving(tmp_path / "kept.sqlite"), pytest.raises(FleetError, match=said):
        run(file)
    run(file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not a database at all, but long enough to look at" * 100, "is damaged or not a store"),
        (b"x", "is damaged or not a store"),
    ],
)
def test_what_is_no_store_is_left_alone(tmp_path: Path, content: bytes, said: str) -> None:
    file = write_fleet(tmp_path)
    (tmp_path / "kept.sqlite").write_bytes(content)
    with pytest.raises(FleetError, match=said):
        run(file)
    assert (tmp_path / "kept.sqlite").read_bytes() == content


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    file = write_fleet(tmp_path)
    with sqlite3.connect(tmp_path / "kept.sqlite") as other:
        other.execute("CREATE TABLE runs (id INTEGER)")
    other.close()
    with pytest.raises(FleetError, match="is not a store of `tclint fleet`"):
        run(file)


@pytest.mark.parametrize(
    ("version", "which"), [(VERSION - 1, "an older"), (VERSION + 1, "a newer")]
)
def test_a_store_of_another_version_is_named_so(tmp_path: Path, version: int, which: str) -> None:
    file = write_fleet(tmp_path)
    run(file)
    with sqlite3.connect(tmp_path / "kept.sqlite") as other:
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    with pytest.raises(FleetError, match=f"was written by {which} tclint"):
        run(file)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_truncated_store_is_one_error(tmp_path: Path, part: float) -> None:
    file = write_fleet(tmp_path)
    run(file, lambda unit: replace(WHOLE_ONE, breaks=(BREAK,) * 200))
    store = tmp_path / "kept.sqlite"
    content = store.read_bytes()
    store.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(FleetError, match="is damaged or not a store"), open_store(store) as opened:
        board(opened)


def test_the_documentation_names_every_column(tmp_path: Path, repository: Path) -> None:
    page = (repository / "docs/fleet.md").read_text("utf-8")
    documented = {
        table: set(re.findall(r"`(\w+)`", text))
        for table, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    }
    with open_store(tmp_path / "new.sqlite", create=True) as store:
        for table in TABLES:
            assert {*store.types(table)} <= documented[table], table
