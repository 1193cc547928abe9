"""The store as Parquet files, for tools that read columns."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tclint.fleet.config import FleetError
from tclint.fleet.store import TABLES, Store

_ROWS: Final = 50_000


class ExportError(FleetError):
    """The tables cannot be written."""


def export_store(store: Store, folder: Path) -> Iterator[Path]:
    """Write one file a table, and tell each.

    Raises:
        ExportError: pyarrow is not installed, or the folder cannot be written to.
    """
    if find_spec("pyarrow") is None:
        raise ExportError("pyarrow is not installed: install `tclint-torch[fleet]`")
    import pyarrow
    from pyarrow import parquet

    kinds = {
        "TEXT": pyarrow.string(),
        "INTEGER": pyarrow.int64(),
        "REAL": pyarrow.float64(),
        "BLOB": pyarrow.binary(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            schema = pyarrow.schema(
                [(name, kinds[kind]) for name, kind in store.types(table).items()]
            )
            path = folder / f"{table}.parquet"
            part = path.with_suffix(".part")
            with parquet.ParquetWriter(part, schema) as writer:
                for rows in _parts(store.rows(table)):
                    columns = [list(column) for column in zip(*rows, strict=True)]
                    writer.write_table(pyarrow.table(columns, schema=schema))
            part.replace(path)
            yield path
    except OSError as error:
        raise ExportError(f"{folder}: {error.strerror or error}") from error


def _parts(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows, so many at a time as memory has room for."""
    while part := list(islice(rows, _ROWS)):
        yield part
