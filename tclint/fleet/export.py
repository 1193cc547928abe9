"""The store as Parquet files, for tools that read columns."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tclint.fleet.config import FleetError
from tclint.fleet.store import TABLES, Store


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

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            columns = store.columns(table)
            path = folder / f"{table}.parquet"
            parquet.write_table(pyarrow.table(columns), path)
            yield path
    except OSError as error:
        raise ExportError(f"{folder}: {error.strerror or error}") from error
