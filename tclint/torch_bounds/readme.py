"""What a README says of torch: badges, commands that install it, and lines such as "PyTorch 1.13+".

Only a lower bound is read there: prose names the release that its author had, and goes stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from tclint.regexes import regex
from tclint.torch_bounds.releases import KNOWN, Allowed, minor_version, shown
from tclint.torch_bounds.statements import Kind, Statement
from tclint.torch_bounds.text import names_torch, read_text

_NAME: Final = r"(?<![\w./-])(?:py)?torch"
_MARKS: Final = r"[\s`*_()\[\]:|]{0,6}"
_VERSION: Final = r"v?(?P<version>\d\.\d{1,2})(?:\.\d{1,2})?"
_BADGE: Final = regex(
    r"(?:badge/|label=)[^\s)\"'/]{0,40}?torch(?:[-_ :=~^<>≥v]|&message=){0,6}" + _VERSION, re.I
)
_SIGNED: Final = regex(
    rf"{_NAME}(?:{_MARKS}version)?{_MARKS}(?:>=|==|~=|≥|>|=){_MARKS}{_VERSION}", re.I
)
_AND_LATER: Final = regex(
    rf"{_NAME}(?:{_MARKS}version)?{_MARKS}{_VERSION}{_MARKS}"
    r"(?:\+(?!cu|cpu|rocm)|(?:or|and)\s+(?:any\s+)?(?:later|newer|higher|above|greater|up)\b)",
    re.I,
)
_REQUIRED: Final = regex(
    r"\b(?:requires?|required|needs?|minimum|at\s+least|depends\s+on|tested|developed|built|"
    rf"implemented|written)\b[^\n]{{0,60}}?{_NAME}(?:{_MARKS}version)?{_MARKS}{_VERSION}",
    re.I,
)
_LISTED: Final = regex(
    rf"^\s{{0,8}}[-*+|]{_MARKS}{_NAME}(?:{_MARKS}version)?{_MARKS}{_VERSION}"
    r"(?:\+\w+)?[`*_)\]]{0,4}\s{0,4}(?:$|[,;(|+&/]|(?:and|or|with)\b)",
    re.I | re.M,
)
_LINK: Final = regex(r"(?<!!)\[([^\]\n]{1,80})\]\([^)\n]{0,300}\)")


def readme(file: Path) -> list[Statement]:
    """The oldest torch that a README names as one that is enough; none where it names none.

    Raises:
        BoundsError: it cannot be read.
    """
    text = read_text(file)
    if not names_torch(text):
        return []
    found = [
        (version, match[0]) for match in _matches(text) if (version := _known(match["version"]))
    ]
    if not found:
        return []
    version, said = min(found)
    return [Statement(file, Kind.MENTIONED, Allowed(_in_short(said), [f">={shown(version)}"]))]


def _matches(text: str) -> Iterator[re.Match[str]]:
    yield from _BADGE.finditer(unquote(text.replace("%20", "_")))
    plain = _LINK.sub(r"\1", text)
    for pattern in (_SIGNED, _AND_LATER, _REQUIRED, _LISTED):
        yield from pattern.finditer(plain)


def _known(text: str) -> tuple[int, int] | None:
    version = minor_version(text)
    return version if version in KNOWN else None


def _in_short(said: str) -> str:
    """What a README says, on one line."""
    return " ".join(said.replace("`", "").split()).strip("-*+| ")
