"""Logs that people read at a terminal."""

from __future__ import annotations

import logging

from tclint.printable import printable


class PrintableFormatter(logging.Formatter):
    """Writes records that move no cursor, whatever a request or a file has put into them."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, or lines where there is a traceback."""
        return printable(super().format(record))
