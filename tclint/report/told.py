"""What every report says of a finding, in the same words: the one form that all of them have."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Applicability
from tclint.lint.links import on_web
from tclint.lint.registry import UnknownRuleError, rule_by_code
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tclint.lint.engine import Result

_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) (?=[A-Z`])")
_SHORT: Final = 200
"""Characters that a reason may have, if its first sentence has no more."""


@record(frozen=True)
class Told:
    """The parts of a finding, each of them one line.

    ``headline`` is what happens and what it costs, ``instead`` what to do, with the command that
    does it where there is one, ``why`` the reason that the rule's page gives, and ``page`` where
    that page is: an address, or the command that prints it.
    """

    code: str
    headline: str
    instead: str
    why: str
    page: str

    @property
    def below(self) -> tuple[tuple[str, str], ...]:
        """What stands below the headline, each line with its label."""
        lines = (("instead", self.instead), ("why", self.why), ("page", self.page))
        return tuple((label, text) for label, text in lines if text)


def told(result: Result, paths: Sequence[str] = ()) -> Told:
    """What is said of a finding; the command that fixes it names the ``paths``."""
    diagnostic = result.diagnostic
    page = f"`tclint rule {diagnostic.code}`"
    if (url := on_web(diagnostic.url)) is not None:
        page = f"{page}, {url}"
    return Told(
        diagnostic.code, diagnostic.message, _instead(result, paths), why(diagnostic.code), page
    )


def plain(result: Result) -> str:
    """A finding as a few lines of text, for readers that show neither labels nor links."""
    one = told(result)
    below = (f"{label.capitalize()}: {text}" for label, text in one.below)
    return "\n".join((one.headline, *below))


def command(paths: Sequence[str], *, unsafe: bool) -> str:
    """The command that applies fixes."""
    flags = ("--unsafe-fixes",) if unsafe else ()
    # A path that starts with a dash would be read as an option.
    dashes = ("--",) if any(path.startswith("-") for path in paths) else ()
    return shlex.join(("tclint", "fix", *flags, *dashes, *paths))


def _instead(result: Result, paths: Sequence[str]) -> str:
    """What to do, with the command that does it, or the obstacle to such a command."""
    diagnostic, note = result.diagnostic, result.repair.note if result.repair else ""
    match diagnostic.fixable:
        case Applicability.SAFE:
            how = f"`{command(paths, unsafe=False)}`"
        case Applicability.UNSAFE:
            how = f"`{command(paths, unsafe=True)}`{f': {note}' if note else ''}"
        case _ if diagnostic.declined is None:
            how = ""
        case _:
            reason = diagnostic.declined.reason
            how = "" if reason[1:] == diagnostic.instead[1:] else f"no fix: {reason}"
    return f"{diagnostic.instead} ({how})" if how else diagnostic.instead


@cache
def why(code: str) -> str:
    """Why findings of a rule matter, in a sentence or two: how its page begins to say so."""
    from tclint.lint.pages import page_of

    try:
        text = page_of(rule_by_code(code)).text
    except UnknownRuleError:  # such as what an earlier run found with a pack that has gone
        return ""
    _, _, rest = text.partition("\n## Why it hurts\n")
    paragraph = " ".join(rest.partition("\n\n")[0].partition("\n## ")[0].split())
    first, *more = _SENTENCE_END.split(paragraph.replace("**", ""))
    for sentence in more:
        if len(first) + 1 + len(sentence) > _SHORT:
            break
        first = f"{first} {sentence}"
    return first
