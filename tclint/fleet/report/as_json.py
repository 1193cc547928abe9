"""The report for programs: the board as it is."""

from __future__ import annotations

from typing import Any

from tclint.fleet.board import Board
from tclint.fleet.changes import Change
from tclint.printable import json_text
from tclint.verify.wire import plain


def render(board: Board) -> str:
    """The board as one object."""
    data = {
        "run": plain(board.run),
        "totals": plain(board.totals),
        "targets": plain(board.rows),
        "causes": plain(board.causes),
        "failures": plain(board.failures),
        "worth": plain(board.worth),
        "before": plain(board.before) if board.before is not None else None,
        "changes": [change_data(one) for one in board.changes],
    }
    return json_text(data) + "\n"


def change_data(change: Change) -> dict[str, Any]:
    """One change as an object."""
    kind = change.kind.value
    return {"kind": kind, "target": change.target, "arm": change.arm, "what": change.what}
