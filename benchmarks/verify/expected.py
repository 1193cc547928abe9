"""Where the programs say that they break."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

_ID = re.compile(r"GB\d{4}")
_HELPERS = {
    "inlined_branch": "branch",
    "print_in_comprehension": "_noisy",
    "generated": "_parts",
    "nested_module": "_Inner",
}


def expected(program: Callable[..., Any]) -> list[tuple[str, int]]:
    """The ids and lines that the comments of a program, and of its helper, announce."""
    helper = program.__globals__.get(_HELPERS.get(program.__name__, ""))
    found = []
    for source in (program, helper):
        if source is not None:
            lines, first = inspect.getsourcelines(source)
            for row, line in enumerate(lines, start=first):
                found += [(gb_id, row) for gb_id in _ID.findall(line.rpartition("# ")[2])]
    return sorted(found)
