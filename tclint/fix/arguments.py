"""Add an argument to a call in the way the others are laid out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from tclint.fix.obstacle import ObstacleError
from tclint.fix.precedence import fit

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANK = cst.SimpleWhitespace(" ")
_NONE = cst.SimpleWhitespace("")
_BARE = cst.AssignEqual(whitespace_before=_NONE, whitespace_after=_NONE)


def with_argument(call: cst.Call, value: cst.BaseExpression, keyword: str | None) -> cst.Call:
    """``call`` with one more argument: the first one, or a keyword, replaced if it is there."""
    args = list(call.args)
    if len(args) == 1 and isinstance(args[0].value, cst.GeneratorExp) and not args[0].value.lpar:
        raise ObstacleError("the generator would need parentheses of its own")
    for number, arg in enumerate(args):
        if keyword is not None and arg.keyword is not None and arg.keyword.value == keyword:
            args[number] = arg.with_changes(value=fit(arg, "value", value, keep=False))
            return call.with_changes(args=args)
    new = _argument(value, keyword, _equal(call))
    if not args:
        return call.with_changes(args=[new], whitespace_before_args=_NONE)
    between = _between(call)
    if keyword is None:
        return call.with_changes(args=[new.with_changes(comma=_comma(between)), *args])
    return call.with_changes(args=[*args[:-1], *_appended(args[-1], new, between)])


def laid_out_like(new: cst.Call, old: cst.Call) -> cst.Call:
    """A call with its arguments on rows of their own, where those of ``old`` are.

    Its keywords are spaced as those of ``old``.
    """
    equal = _equal(old)
    args = [arg.with_changes(equal=equal) if arg.keyword else arg for arg in new.args]
    new = new.with_changes(args=args) if args else new
    between = _between(old) if old.args else _BLANK
    if not new.args or not isinstance(between, cst.ParenthesizedWhitespace):
        return new
    ends = isinstance(old.args[-1].comma, cst.Comma)
    end = _after_comma(old.args[-1]) if ends else old.args[-1].whitespace_after_arg
    args = [arg.with_changes(comma=_comma(between), whitespace_after_arg=_NONE) for arg in new.args]
    last = args[-1].with_changes(comma=_comma(end) if ends else cst.MaybeSentinel.DEFAULT)
    args[-1] = last if ends else last.with_changes(whitespace_after_arg=end)
    before = old.whitespace_before_args
    if isinstance(before, cst.ParenthesizedWhitespace):
        before = _plain(before)
    return new.with_changes(args=args, whitespace_before_args=before)


def _equal(call: cst.Call) -> cst.AssignEqual:
    """How the call's last keyword is spaced, where that is on one row."""
    for arg in reversed(call.args):
        equal = arg.equal
        if isinstance(equal, cst.AssignEqual):
            sides = (equal.whitespace_before, equal.whitespace_after)
            plain = all(isinstance(s, cst.SimpleWhitespace) and "\\" not in s.value for s in sides)
            return equal if plain else _BARE
    return _BARE


def _argument(value: cst.BaseExpression, keyword: str | None, equal: cst.AssignEqual) -> cst.Arg:
    new = cst.Arg(value)
    if keyword is not None:
        new = cst.Arg(value, keyword=cst.Name(keyword), equal=equal)
    return new.with_changes(value=fit(new, "value", value, keep=False))


def _between(call: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """What the call puts between two arguments, comments aside."""
    gaps = [_after_comma(one) for one, _ in pairwise(call.args)]
    trailing = _after_comma(call.args[-1])
    if not gaps and isinstance(trailing, cst.ParenthesizedWhitespace):
        gaps = [call.whitespace_before_args]  # one argument, on a line of its own
    broken = [gap for gap in gaps if isinstance(gap, cst.ParenthesizedWhitespace)]
    if broken and len(broken) == len(gaps):
        return _plain(broken[-1])
    return _BLANK


def _after_comma(arg: cst.Arg) -> cst.BaseParenthesizableWhitespace:
    return arg.comma.whitespace_after if isinstance(arg.comma, cst.Comma) else _NONE


def _appended(
    last: cst.Arg, new: cst.Arg, between: cst.BaseParenthesizableWhitespace
) -> Sequence[cst.Arg]:
    """The last argument and the one after it; a comment behind the former stays there."""
    comma = isinstance(last.comma, cst.Comma)
    end = _after_comma(last) if comma else last.whitespace_after_arg
    if isinstance(end, cst.ParenthesizedWhitespace) and end.first_line.comment is not None:
        if not isinstance(between, cst.ParenthesizedWhitespace):
            raise ObstacleError(f"the comment `{end.first_line.comment.value}` is in the way")
        between = end.with_changes(indent=between.indent, last_line=between.last_line)
        end = _plain(end)
    last = last.with_changes(comma=_comma(between), whitespace_after_arg=_NONE)
    if comma and isinstance(end, cst.ParenthesizedWhitespace):
        return last, new.with_changes(comma=_comma(end))
    return last, new.with_changes(whitespace_after_arg=_NONE if comma else end)


def _plain(gap: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
    newline = gap.first_line.newline
    return gap.with_changes(first_line=cst.TrailingWhitespace(newline=newline), empty_lines=[])


def _comma(after: cst.BaseParenthesizableWhitespace) -> cst.Comma:
    return cst.Comma(whitespace_before=_NONE, whitespace_after=after)
