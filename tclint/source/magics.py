"""Lines that only IPython understands, hidden in comments so that the rest can be parsed."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Final

from tclint.regexes import regex

_MARK: Final = "# %%tclint-magic "
_HIDDEN: Final = regex(r"(?:(?:pass|\.\.\.)  )?" + re.escape(_MARK) + r"([^\n]*)")
_MAGIC: Final = regex(r"([ \t]*)([%!?].*|[\w.*]+(?:\([^)]*\))?\?\??[ \t]*)")
_ASSIGNED: Final = regex(r"([ \t]*[\w., ()\[\]]+=[ \t]*)([%!].*)")
_PYTHON_CELLS: Final = frozenset({"capture", "prun", "time", "timeit"})
"""Cell magics that run the cell as Python."""


def hidden(code: str) -> str | None:
    """A cell's code with its magics in comments; None when the cell is not Python at all."""
    first = code.lstrip()
    if first.startswith("%%"):
        name = re.split(r"\W", first[2:], maxsplit=1)[0]
        if name not in _PYTHON_CELLS:
            return None
    elif _parses(code):
        return code
    lines, continued = [], False
    for line in code.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        text = _hidden_line(body, continued=continued)
        continued = text != body and body.endswith("\\")
        lines.append(text + line[len(body) :])
    return "".join(lines)


def shown(code: str) -> str:
    """The code as IPython wants it."""
    return _HIDDEN.sub(lambda match: match[1], code) if _MARK in code else code


def _hidden_line(line: str, *, continued: bool) -> str:
    if continued:
        indent = line[: len(line) - len(line.lstrip())]
        return f"{indent}{_MARK}{line.lstrip()}"
    magic = _MAGIC.fullmatch(line)
    if magic is not None:
        return f"{magic[1]}pass  {_MARK}{magic[2]}"
    assigned = _ASSIGNED.fullmatch(line)
    if assigned is not None:
        return f"{assigned[1]}...  {_MARK}{assigned[2]}"
    return line


def _parses(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
