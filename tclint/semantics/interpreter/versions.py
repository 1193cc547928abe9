"""What a project asks of torch's version: ``version.parse(torch.__version__) >= ...``.

The answer is known where it is the same for all versions that the project is checked for.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tclint.regexes import regex
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.values import UNKNOWN, External, Sequence, Static, Value

if TYPE_CHECKING:
    from tclint.semantics.interpreter.frame import Frame

_Release = tuple[int, ...]
_TORCHS: Final = frozenset({"torch.__version__", "torch.version.__version__"})
_RELEASE: Final = regex(r"\d+(?:\.\d+)*")
_ORDERS: Final[dict[type[ast.cmpop], Callable[[_Release, _Release], bool]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_MIRRORED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE,
}  # fmt: skip
_SAME_MINOR: Final[dict[type[ast.cmpop], bool]] = {ast.Lt: False, ast.GtE: True}
"""The answers for ``2.13``, which hold for all releases from 2.13.0 to 2.13.9."""


def parsed(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    """What a parser of versions makes of torch's, and of one that is written out."""
    given = arguments.positional[0] if arguments.positional else UNKNOWN
    if _is_torchs(given):
        return given
    release = _release(given)
    return UNKNOWN if release is None else Static("Version", release, known=True)


def ask_version(frame: Frame, op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """Whether torch is as new or as old as is asked; None where that is not asked, or not known."""
    order: type[ast.cmpop] | None = type(op)
    if _is_torchs(right):
        left, right, order = right, left, _MIRRORED.get(type(op))
    asked = _release(right) if _is_torchs(left) else None
    if asked is None or order not in _ORDERS:
        return None
    settings = frame.analysis.settings
    oldest = _answer(order, settings.oldest_torch, asked)
    return oldest if oldest == _answer(order, settings.target_torch, asked) else None


def _answer(order: type[ast.cmpop], version: _Release, asked: _Release) -> bool | None:
    minor = (*asked, 0)[:2]
    if minor == version:
        return None if any(asked[2:]) else _SAME_MINOR.get(order)
    return _ORDERS[order](version, minor)


def _is_torchs(value: Value) -> bool:
    return isinstance(value, External) and value.name in _TORCHS


def _release(value: Value) -> _Release | None:
    """The numbers of a version that is written out, without pre-releases and their like."""
    match value:
        case Static(value=str() as text) if _RELEASE.fullmatch(text):
            return tuple(map(int, text.split(".")))
        case Static(type="Version", value=tuple() as release):
            return release
        case Sequence(type="tuple", items=[*items]) if all(map(_is_int, items)):
            return tuple(getattr(item, "value", 0) for item in items)
    return None


def _is_int(value: Value) -> bool:
    return isinstance(value, Static) and value.known and value.type == "int"
