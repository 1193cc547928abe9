"""Text as GitHub's Markdown, so that nobody's source code can format, link or mention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tclint.printable import visible

_CODE: Final = re.compile(r"`([^`\n]+)`")
_MARKUP: Final = re.compile(r"([\\`*_\[\]#!|~$]|^[-+=/]|(?<=^\d)[.)])")
"""What formats; a slash at the start of a line would be a command to GitLab."""
_REFERENCE: Final = re.compile(r"(@|#|GH-|://|www\.|[!~%$&^](?=[\w\"]))(?=\S)", re.IGNORECASE)
"""What people, issues, addresses, merge requests, labels, milestones and so on begin with."""
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_NO_WIDTH: Final = "\u200b"


def prose(text: str) -> str:
    """A message with its `` `code` `` kept and everything else taken literally, on one line."""
    text = visible(" ".join(text.split()))
    parts = _CODE.split(text)
    return "".join(code(p) if i % 2 else _literal(p) for i, p in enumerate(parts))


def code(text: str) -> str:
    """A code span that may hold anything, backticks included."""
    text = visible(" ".join(text.split()))
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def block(language: str, lines: Sequence[str]) -> str:
    """A fenced block; its fence is longer than any in the lines. No lines make an empty block."""
    fence = "`" * max(3, max(map(_longest_run, lines), default=0) + 1)
    return "\n".join((fence + language, *lines, fence))


def link(text: str, url: str) -> str:
    """A link to an address of our own."""
    return f"[{_literal(text)}](<{url}>)"


def _literal(text: str) -> str:
    text = _REFERENCE.sub(rf"\1{_NO_WIDTH}", text)
    text = _MARKUP.sub(r"\\\1", text)
    return re.sub("[&<>]", lambda match: _ENTITIES[match[0]], text)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
