"""The store: one SQLite file with every result and every run; the driver alone writes."""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeVar

from tclint import __version__
from tclint.files import is_file
from tclint.fleet.config import FleetError
from tclint.fleet.plan import Plan
from tclint.fleet.units import BreakLine, CodeFile, Measured, ModeSpeed, Unit
from tclint.json_text import LARGEST, parse_json
from tclint.printable import visible
from tclint.records import record

_Detail = TypeVar("_Detail")

APPLICATION: Final = 0x74636C66
"""What SQLite's header says of a file of ours: the letters ``tclf``."""
VERSION: Final = 2
"""The version of the schema below, which the header says too."""
_LARGEST_CODE = 1 << 26
"""Bytes of the names and digests of the files that one unit loads."""
_WAIT_SECONDS: Final = 5.0
_CELLS: Final = {
    "TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'", "BLOB": "'blob'"
}  # fmt: skip
"""What a cell of a column holds, by the type of that: as SQL lists it."""
_OR_NONE: Final = ", 'null'"
_MAGIC: Final = b"SQLite format 3\0"
_SCHEMA: Final = """
-- A run of `tclint fleet run`; `plan` stands for its units, `finished` is null until all are done.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, plan TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,
  label TEXT NOT NULL, tclint TEXT NOT NULL
);
-- The arms of a run, in their order, with what their interpreters had.
CREATE TABLE arms (
  run INTEGER NOT NULL REFERENCES runs, position INTEGER NOT NULL, name TEXT NOT NULL,
  fixed INTEGER NOT NULL, revision TEXT NOT NULL, python TEXT NOT NULL, torch TEXT NOT NULL,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;
-- The files that a target loaded, with their digests: a JSON object, compressed with zlib.
CREATE TABLE code (id TEXT PRIMARY KEY, files BLOB NOT NULL) WITHOUT ROWID;
-- What became of a unit. `key` stands for all that it depends on except its code.
CREATE TABLE results (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, code TEXT NOT NULL REFERENCES code,
  measured TEXT NOT NULL, outcome TEXT NOT NULL, failure TEXT NOT NULL, reason TEXT NOT NULL,
  torch TEXT NOT NULL, device TEXT NOT NULL, graphs INTEGER NOT NULL,
  recompiles INTEGER NOT NULL, breaks INTEGER NOT NULL, breaks_before INTEGER,
  verdict TEXT NOT NULL, detail TEXT NOT NULL, fixes TEXT NOT NULL, exported TEXT,
  seconds REAL NOT NULL, time_limit REAL NOT NULL, memory_limit INTEGER NOT NULL
);
CREATE INDEX results_by_key ON results (key);
-- The lines that break the graph in a result; `rule` is the code of the rule that sees it.
CREATE TABLE breaks (
  result INTEGER NOT NULL REFERENCES results, position INTEGER NOT NULL, place TEXT NOT NULL,
  row INTEGER NOT NULL, gb_id TEXT NOT NULL, reason TEXT NOT NULL, rule TEXT NOT NULL,
  PRIMARY KEY (result, position)
) WITHOUT ROWID;
-- Times of a result in one mode, in milliseconds; the cold start in seconds.
CREATE TABLE speeds (
  result INTEGER NOT NULL REFERENCES results, mode TEXT NOT NULL, eager REAL, compiled REAL,
  speedup REAL, low REAL, high REAL, cold_start REAL, note TEXT NOT NULL,
  PRIMARY KEY (result, mode)
) WITHOUT ROWID;
-- The units of a run, with their results as they come.
CREATE TABLE units (
  run INTEGER NOT NULL REFERENCES runs, target TEXT NOT NULL, arm TEXT NOT NULL,
  key TEXT NOT NULL, result INTEGER REFERENCES results,
  PRIMARY KEY (run, target, arm)
) WITHOUT ROWID;
"""
_COLUMNS: Final = (
    "outcome, results.reason, failure, results.torch, device, graphs, recompiles, breaks_before,"
    " verdict, detail, fixes, exported, seconds"
)
_KNOWN: Final = (
    "results.id, code.files, failure, time_limit, memory_limit FROM results"
    " JOIN code ON code.id = results.code"
)
_OF_RUN: Final = "IN (SELECT result FROM units WHERE run = ?)"
TABLES: Final = ("runs", "arms", "code", "results", "breaks", "speeds", "units")
"""The tables of a store, each after those that it refers to."""


@record(frozen=True)
class RunRow:
    """A run as the store has it; ``finished`` is empty while units are missing."""

    id: int
    plan: str
    started: str
    finished: str
    label: str
    tclint: str


@record(frozen=True)
class ArmRow:
    """An arm of a run."""

    name: str
    fixed: bool
    revision: str
    python: str
    torch: str


@record(frozen=True)
class UnitRow:
    """A unit of a run; one without a result is not measured yet."""

    target: str
    arm: str
    measured: Measured | None


@record(frozen=True)
class Known:
    """A result of an earlier run: of which code, and within which limits."""

    result: int
    code: tuple[CodeFile, ...]
    failure: str
    time_limit: float
    memory_limit: int


class Store:
    """An open store."""

    def __init__(self, database: sqlite3.Connection) -> None:
        """Take an open database that is known to be a store."""
        self._database = database

    def begin(self, plan: Plan, label: str) -> int:
        """The number of the run: the last one's if that was killed in the middle of this plan."""
        with self._database as database:
            last = database.execute(
                "SELECT id, plan, finished FROM runs ORDER BY id DESC LIMIT 1"
            ).fetchone()
            if last is not None and last[1] == plan.digest and last[2] is None:
                return int(last[0])
            run = database.execute(
                "INSERT INTO runs (plan, started, label, tclint) VALUES (?, ?, ?, ?)",
                (plan.digest, _now(), label, __version__),
            ).lastrowid
            assert run is not None
            database.executemany(
                "INSERT INTO arms VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (run, n, one.arm.name, one.arm.fixed, one.arm.revision,
                     one.environment.python, one.environment.torch)
                    for n, one in enumerate(plan.arms)
                ],
            )  # fmt: skip
            database.executemany(
                "INSERT INTO units VALUES (?, ?, ?, ?, NULL)",
                ((run, one.target, one.arm, one.key) for one in plan.all_units),
            )
        return run

    def done(self, run: int) -> Iterator[tuple[tuple[str, str], Known]]:
        """The targets and arms of a run that have a result, with it."""
        rows = self._database.execute(
            f"SELECT target, arm, {_KNOWN} JOIN units ON units.result = results.id WHERE run = ?",
            (run,),
        )
        for target, arm, number, files, *rest in rows:
            yield (target, arm), Known(number, _unpacked(files), *rest)

    def known(self, key: str) -> Iterator[Known]:
        """The results with a key, the newest first."""
        rows = self._database.execute(
            f"SELECT {_KNOWN} WHERE results.key = ? ORDER BY results.id DESC", (key,)
        ).fetchall()
        for number, files, *rest in rows:
            yield Known(number, _unpacked(files), *rest)

    def reuse(self, run: int, found: Sequence[tuple[Unit, int]]) -> None:
        """Give units of a run the results of earlier ones."""
        with self._database as database:
            database.executemany(
                "UPDATE units SET result = ? WHERE run = ? AND target = ? AND arm = ?",
                [(result, run, unit.target, unit.arm) for unit, result in found],
            )

    def keep(self, run: int | None, unit: Unit, measured: Measured) -> None:
        """Write a result down: all of it, or nothing if the driver dies meanwhile.

        One without a run is there for those that ask for its key.
        """
        code, packed = _packed(measured.code)
        with self._database as database:
            database.execute("INSERT OR IGNORE INTO code VALUES (?, ?)", (code, packed))
            result = database.execute(
                f"INSERT INTO results VALUES (NULL{', ?' * 19})", _result_row(unit, code, measured)
            ).lastrowid
            assert result is not None
            database.executemany(
                "INSERT INTO breaks VALUES (?, ?, ?, ?, ?, ?, ?)", _break_rows(result, measured)
            )
            database.executemany(
                "INSERT INTO speeds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                _speed_rows(result, measured),
            )
            database.execute(
                "UPDATE units SET result = ? WHERE run = ? AND target = ? AND arm = ?",
                (result, run, unit.target, unit.arm),
            )

    def finish(self, run: int) -> None:
        """Note that every unit of a run has a result."""
        with self._database as database:
            database.execute("UPDATE runs SET finished = ? WHERE id = ?", (_now(), run))

    def runs(self) -> tuple[RunRow, ...]:
        """All runs, the oldest first."""
        rows = self._database.execute(
            "SELECT id, plan, started, coalesce(finished, ''), label, tclint FROM runs ORDER BY id"
        )
        return tuple(RunRow(*row) for row in rows)

    def arms(self, run: int) -> tuple[ArmRow, ...]:
        """The arms of a run."""
        rows = self._database.execute(
            "SELECT name, fixed, revision, python, torch FROM arms WHERE run = ? ORDER BY position",
            (run,),
        )
        return tuple(ArmRow(name, bool(fixed), *rest) for name, fixed, *rest in rows)

    def units(self, run: int) -> tuple[UnitRow, ...]:
        """The units of a run with their results, by target."""
        lines, speeds = self._lines(_OF_RUN, run), self._speeds(_OF_RUN, run)
        rows = self._database.execute(
            f"SELECT target, arm, results.id, {_COLUMNS}"
            " FROM units LEFT JOIN results ON results.id = units.result WHERE run = ?"
            " ORDER BY target, arm",
            (run,),
        )
        return tuple(
            UnitRow(target, arm, _measured(number, rest, lines, speeds))
            for target, arm, number, *rest in rows
        )

    def result(self, number: int) -> Measured:
        """One result."""
        row = self._database.execute(
            f"SELECT {_COLUMNS} FROM results WHERE id = ?", (number,)
        ).fetchone()
        found = _measured(number, row, self._lines("= ?", number), self._speeds("= ?", number))
        assert found is not None
        return found

    def types(self, table: str) -> dict[str, str]:
        """The columns of a table with their types."""
        rows = self._database.execute(f"SELECT name, type FROM pragma_table_info('{table}')")
        return dict(rows.fetchall())

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """A whole table, row by row."""
        yield from self._database.execute(f"SELECT * FROM {table}")

    def _lines(self, which: str, value: int) -> dict[int, list[BreakLine]]:
        columns = "place, row, gb_id, reason, rule"
        return self._details("breaks", columns, BreakLine, which, value)

    def _speeds(self, which: str, value: int) -> dict[int, list[ModeSpeed]]:
        columns = "mode, eager, compiled, speedup, low, high, cold_start, note"
        return self._details("speeds", columns, ModeSpeed, which, value)

    def _details(
        self, table: str, columns: str, kind: Callable[..., _Detail], which: str, value: int
    ) -> dict[int, list[_Detail]]:
        found: dict[int, list[_Detail]] = {}
        for number, *rest in self._database.execute(
            f"SELECT result, {columns} FROM {table} WHERE result {which}", (value,)
        ):
            found.setdefault(number, []).append(kind(*rest))
        return found


@contextmanager
def open_store(path: Path, *, create: bool = False) -> Iterator[Store]:
    """Open a store for as long as the block runs.

    Raises:
        FleetError: it cannot be opened or read, is not ours, or of another version.
    """
    if not create and not is_file(path):
        raise FleetError(f"{path}: there is no store; `tclint fleet run` makes one")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _require_database(path)
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror or error}") from error
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS)) as database:
            _prepare(database, path, create=create)
            yield Store(database)
    except sqlite3.Error as error:
        raise FleetError(f"{path}: {_in_words(error)}") from error
    except (zlib.error, ValueError) as error:
        raise FleetError(f"{path}: {_damaged(error)}") from error


@contextmanager
def driving(path: Path) -> Iterator[None]:
    """Be the one driver of a store; a driver that was killed is none any more.

    Raises:
        FleetError: another one is at it.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    lock = path.with_name(f"{path.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    except OSError as error:
        raise FleetError(f"{lock}: {error.strerror or error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"{path}: another `tclint fleet run` is writing to it"
            raise FleetError(message) from error
        yield


def _require_database(path: Path) -> None:
    """SQLite takes a file of a few bytes for an empty database, and writes over it."""
    if path.is_file():
        with path.open("rb") as file:
            begin = file.read(len(_MAGIC))
        if begin and begin != _MAGIC:
            raise FleetError(f"{path}: {_damaged('it does not begin like one')}")


def _prepare(database: sqlite3.Connection, path: Path, *, create: bool) -> None:
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    empty = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if empty and create:
        database.execute("PRAGMA journal_mode = WAL")
        # One transaction: a driver killed here leaves nothing half made.
        database.executescript(
            f"BEGIN;{_SCHEMA}PRAGMA application_id = {APPLICATION};"
            f"PRAGMA user_version = {VERSION};COMMIT;"
        )
    elif application != APPLICATION:
        raise FleetError(f"{path}: is not a store of `tclint fleet`")
    elif version != VERSION:
        which = "an older" if version < VERSION else "a newer"
        raise FleetError(
            f"{path}: was written by {which} tclint (schema {version}, this one reads {VERSION});"
            " name another store"
        )
    else:
        _require_types(database, path)
    # A process that dies loses nothing of what was committed; only a machine may lose the last.
    database.execute("PRAGMA synchronous = NORMAL")


def _require_types(database: sqlite3.Connection, path: Path) -> None:
    """Make sure that each cell has its column's type: SQLite takes anything anywhere."""
    for table in TABLES:
        columns = database.execute(f"PRAGMA table_info({table})").fetchall()
        wrong = [
            f'typeof("{name}") NOT IN ({_CELLS[kind]}{_OR_NONE * (not needed)})'
            for _, name, kind, needed, *_ in columns
            if kind in _CELLS
        ]
        wrong += [f'abs("{name}") > {LARGEST}' for _, name, kind, *_ in columns if kind == "REAL"]
        found = database.execute(f"SELECT count(*) FROM {table} WHERE {' OR '.join(wrong)}")
        if found.fetchone()[0]:
            raise FleetError(f"{path}: {_damaged(f'table {table} holds values of other types')}")


def _in_words(error: sqlite3.Error) -> str:
    said = str(error)
    if "locked" in said or "busy" in said:
        return f"another process has locked it for more than {_WAIT_SECONDS:g} s"
    if "malformed" in said or "not a database" in said or "disk I/O" in said:
        return _damaged(error)
    return said


def _damaged(error: object) -> str:
    return f"is damaged or not a store ({error}); restore it, or name another one"


def _result_row(unit: Unit, code: str, measured: Measured) -> tuple[Any, ...]:
    return _storable(
        unit.key, code, _now(), measured.outcome, measured.failure, measured.reason,
        measured.torch, measured.device, measured.graphs, measured.recompiles,
        len(measured.breaks), measured.breaks_before, measured.verdict, measured.detail,
        " ".join(measured.fixes), measured.exported, measured.seconds, unit.measures.time_limit,
        unit.measures.memory_limit,
    )  # fmt: skip


def _break_rows(result: int, measured: Measured) -> list[tuple[Any, ...]]:
    return [
        _storable(result, n, one.place, one.row, one.gb_id, one.reason, one.rule)
        for n, one in enumerate(measured.breaks)
    ]


def _speed_rows(result: int, measured: Measured) -> list[tuple[Any, ...]]:
    return [
        _storable(
            result, one.mode, one.eager, one.compiled, one.speedup, one.low, one.high,
            one.cold_start, one.note,
        )
        for one in measured.speeds
    ]  # fmt: skip


def _storable(*values: Any) -> tuple[Any, ...]:
    """What a target says may hold anything; a database takes no halves of characters."""
    return tuple(visible(value) if isinstance(value, str) else value for value in values)


def _measured(
    number: int | None,
    rest: Sequence[Any],
    lines: Mapping[int, Sequence[BreakLine]],
    speeds: Mapping[int, Sequence[ModeSpeed]],
) -> Measured | None:
    if number is None:
        return None
    (outcome, reason, failure, torch, device, graphs, recompiles, before, verdict, detail, fixes,
     exported, seconds) = rest  # fmt: skip
    return Measured(
        outcome, reason, failure, torch, device, graphs, recompiles,
        tuple(lines.get(number, ())), before, verdict, detail, tuple(fixes.split()),
        tuple(speeds.get(number, ())), exported, seconds,
    )  # fmt: skip


def _packed(code: Sequence[CodeFile]) -> tuple[str, bytes]:
    """Files with their digests as the store keeps them, with a name that stands for them."""
    files = {one.path: one.digest for one in code}
    packed = zlib.compress(json.dumps(files, sort_keys=True).encode())
    return blake2b(packed, digest_size=16).hexdigest(), packed


def _unpacked(packed: bytes) -> tuple[CodeFile, ...]:
    found = parse_json(zlib.decompressobj().decompress(packed, _LARGEST_CODE))
    return tuple(CodeFile(path, digest) for path, digest in found.items())


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
