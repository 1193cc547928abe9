"""Plots as inline SVG: bars with spread, stacked phases, breaks along the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tclint.records import record

# Lengths are parts of the width, so that text keeps its size from a phone to a wide screen. The
# longest bar leaves room for its figure.
_ROOM = 78.0
# A label stands above its bar, so that it may be long on a narrow screen.
_ROW, _BAR_TOP, _BAR_HEIGHT = 42, 19, 15
_BASELINE, _MIDDLE = 13, _BAR_TOP + _BAR_HEIGHT / 2
_COLOURS = ("one", "two", "three", "four")


@record(frozen=True)
class Bar:
    """One bar: its value, and how it is written; ``lower`` and ``upper`` draw whiskers."""

    label: str
    value: float
    shown: str
    colour: str = "two"
    lower: float | None = None
    upper: float | None = None


@record(frozen=True)
class Stack:
    """One bar made of parts, each a name and a value; it may begin later than others."""

    label: str
    parts: tuple[tuple[str, float], ...]
    shown: str
    start: float = 0.0


def bars(items: Sequence[Bar]) -> str:
    """Horizontal bars on one scale."""
    top = max([item.upper or item.value for item in items], default=0.0) or 1.0
    drawn = [_bar(item, number, top) for number, item in enumerate(items)]
    return _svg(len(items) * _ROW, "".join(drawn))


def stacks(items: Sequence[Stack]) -> str:
    """Horizontal bars divided into parts, with a legend."""
    names = list(dict.fromkeys(name for item in items for name, _ in item.parts))
    ends = [item.start + sum(value for _, value in item.parts) for item in items]
    top = max(ends, default=0.0) or 1.0
    drawn = [_stack(item, number, top, names) for number, item in enumerate(items)]
    return _svg(len(items) * _ROW, "".join(drawn)) + legend(names)


def legend(names: Sequence[str]) -> str:
    """What the colours of parts mean."""
    entries = (
        f'<span><i class="{_colour(number)}"></i>{escape(name)}</span>'
        for number, name in enumerate(names)
    )
    return f'<div class="legend">{"".join(entries)}</div>'


def _bar(item: Bar, number: int, top: float) -> str:
    y = number * _ROW
    length = max(0.4, _ROOM * item.value / top)
    drawn = _label(item.label, y)
    drawn += f'<rect class="{item.colour}" x="0" y="{y + _BAR_TOP}" width="{length:.2f}%" '
    drawn += f'height="{_BAR_HEIGHT}" rx="2"/>'
    end = length
    if item.lower is not None and item.upper is not None:
        low, high = (_ROOM * value / top for value in (item.lower, item.upper))
        middle = y + _MIDDLE
        drawn += _line(low, middle, high, middle)
        drawn += "".join(_line(x, middle - 4, x, middle + 4) for x in (low, high))
        end = max(length, high)
    return drawn + _figure(item.shown, end, y)


def _stack(item: Stack, number: int, top: float, names: list[str]) -> str:
    y, x = number * _ROW, _ROOM * item.start / top
    drawn = _label(item.label, y)
    for name, value in item.parts:
        length = _ROOM * value / top
        colour = _colour(names.index(name))
        drawn += f'<rect class="{colour}" x="{x:.2f}%" y="{y + _BAR_TOP}" width="{length:.2f}%" '
        drawn += f'height="{_BAR_HEIGHT}"><title>{escape(name)}: {value:.2f} s</title></rect>'
        x += length
    return drawn + _figure(item.shown, x, y)


def _label(text: str, y: int) -> str:
    return f'<text class="label" x="0" y="{y + _BASELINE}">{escape(text)}</text>'


def _figure(text: str, x: float, y: int) -> str:
    return f'<text x="{x:.2f}%" dx="8" y="{y + _MIDDLE + 4.5}">{escape(text)}</text>'


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _svg(height: float, inner: str) -> str:
    return f'<svg height="{height:g}" role="img" aria-label="chart">{inner}</svg>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="spread" x1="{x1:.2f}%" y1="{y1:g}" x2="{x2:.2f}%" y2="{y2:g}"/>'
