"""Whether what the running Python cannot parse is the syntax of a newer one."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from typing import Final

from tclint.regexes import regex

_NAMED: Final = (
    ((3, 11), regex(r"^\s*except\s*\*"), "`except*`"),
    ((3, 11), regex(r"\w\[[^\]]*\*\w"), "a star in an index"),
    ((3, 12), regex(r"^\s*type\s+\w+\s*(\[.*\]\s*)?="), "the `type` statement"),
    ((3, 12), regex(r"^\s*(async\s+def|def|class)\s+\w+\s*\["), "a type parameter"),
    (
        (3, 12),
        regex(r"\b(?:f|fr|rf)([\"'])[^\"']*\{[^}\"']*\1", re.IGNORECASE),
        "the same quote inside an f-string",
    ),
    ((3, 14), regex(r"^\s*except\s+[\w.]+\s*,"), "`except` without parentheses"),
    ((3, 14), regex(r"\b(t|rt|tr)[\"']", re.IGNORECASE), "a template string"),
)
"""What a line looks like that only a newer Python can parse: first version, look, name."""
_LONGEST: Final = 300
"""Characters of a line that LibCST is asked about: on deep nesting it crashes."""
_PARSED_LATER: Final = ("(unicode error)", "(value error)", "bytes can only")
"""What CPython finds wrong inside of literals, into which LibCST does not look."""
_PYTHON_2: Final = "multiple exception types"
"""Python 2 and 3.14 have it, with different meanings."""


def newer_syntax(line: str, message: str) -> str | None:
    """What to say of a line that CPython refuses with ``message``; None where it is just wrong."""
    running = sys.version_info[:2]
    here = ".".join(map(str, running))
    said = f"syntax error: {message}; "
    if not message.startswith(_PYTHON_2) and _is_newer(line):
        said = ""
    named = _named(line, message)
    if named is not None:
        version, name = named
        wanted = ".".join(map(str, version))
        return (
            f"{said}{name} needs Python {wanted} and tclint runs on Python {here}: "
            f"run it with Python {wanted} or newer"
        )
    if said:
        return None
    return f"this needs a newer Python than {here}, on which tclint runs, to be analyzed"


def _named(line: str, message: str) -> tuple[tuple[int, int], str] | None:
    """The version and the name of the syntax that the running Python seems too old for."""
    running = sys.version_info[:2]
    if running < (3, 12) and message.startswith("f-string expression part cannot include"):
        return (3, 12), "that"
    for version, look, name in _NAMED:
        if running < version and look.search(line):
            return version, name
    return None


def _is_newer(line: str) -> bool:
    """Whether LibCST, which has a parser of its own, reads a line that CPython does not."""
    text = line.strip()
    if len(text) > _LONGEST:
        return False
    text = f"{text} pass" if text.endswith(":") else text
    text = f"try: pass\n{text}" if text.startswith("except") else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return not error.msg.startswith(_PARSED_LATER) and _libcst_reads(text)
    except (ValueError, RecursionError, MemoryError):
        pass
    return False


def _libcst_reads(text: str) -> bool:
    # Takes a tenth of a second to import, which no run pays for files that parse.
    import libcst as cst

    try:
        cst.parse_module(text)
    except (cst.ParserSyntaxError, cst.CSTValidationError):
        return False
    return True
