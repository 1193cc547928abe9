"""Ask a rule about an event, and see which of its questions made it stay silent.

A rule says nothing of the events that it does not report. What it asked last tells why: the
functions of its package that answered, and what their docstrings say.
"""

from __future__ import annotations

import inspect
import sys
from types import CodeType, FrameType
from typing import Any, Final

from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import Event

_TRUE: Final = "True "


@record()
class _Asked:
    """A call that a rule made, and what it made in turn."""

    code: CodeType | None
    names: dict[str, Any]
    answer: object
    asked: list[_Asked]


def asked(rule: Rule[Any], event: Event) -> tuple[Finding | None, str]:
    """What a rule finds in an event; where that is nothing, what it asked last, in words.

    The words are empty where it asked nothing that can be told: most events are of a kind that a
    rule does not judge.
    """
    top = _Asked(None, {}, None, [])
    calls = [top]

    def note(frame: FrameType, kind: str, answer: object) -> None:
        if kind == "call":
            call = _Asked(frame.f_code, frame.f_globals, None, [])
            calls[-1].asked.append(call)
            calls.append(call)
        elif kind == "return" and len(calls) > 1:
            calls.pop().answer = answer

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        finding = rule.check(event)
    finally:
        sys.setprofile(before)
    if finding is not None or not top.asked:
        return finding, ""
    last = _last(top.asked[0], type(rule).__module__.partition(".")[0])
    return None, _words(last) if last is not None else ""


def _last(call: _Asked, package: str) -> _Asked | None:
    """The question of the rule's package that was answered last, followed to where it ended."""
    for inner in reversed(call.asked):
        name = inner.code.co_name if inner.code is not None else ""
        if name.startswith("<") or _package(inner) != package:
            continue
        return (_last(inner, package) or inner) if inner.answer is None else inner
    return None


def _package(call: _Asked) -> str:
    return str(call.names.get("__name__", "")).partition(".")[0]


def _words(call: _Asked) -> str:
    """A yes or a no with what it is about, or what was not found; nothing for other answers."""
    name = call.code.co_name if call.code is not None else ""
    told = (inspect.getdoc(call.names.get(name)) or "").partition("\n")[0].rstrip(".")
    told = told.replace("``", "`")
    if isinstance(call.answer, bool) and told.startswith(_TRUE):
        return f"`{name}` says {'yes' if call.answer else 'no'} (yes {told[len(_TRUE) :]})"
    if told and not call.answer and not isinstance(call.answer, bool):
        return f"`{name}` finds nothing ({told[0].lower()}{told[1:]})"
    return ""
