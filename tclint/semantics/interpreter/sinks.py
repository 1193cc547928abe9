"""Calls that write output: ``print``, loggers, ``warnings``, standard streams, progress bars."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import SideEffectCall, Sink
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import options
from tclint.semantics.syntax import ATTRIBUTE, nodes
from tclint.semantics.values import (
    UNKNOWN,
    BoundExternal,
    DataScalar,
    External,
    Object,
    Static,
    SymInt,
    Tensor,
    Unknown,
    Value,
)

LOG_METHODS: Final = frozenset(
    {
        "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "fatal",
        "warning_once", "info_once", "warning_advice", "isEnabledFor",
    }
)  # fmt: skip
LOGGER: Final = "logging.Logger"
_OF_LOGGER: Final = f"{LOGGER}."
_LOGGER_NAMES: Final = frozenset(
    {"logger", "log", "_logger", "LOGGER", "LOG", "_log", "logging_logger"}
)
BAR: Final = "tqdm.tqdm"
_OF_BAR: Final = f"{BAR}."
_BARS: Final = tuple(
    f"{module}.{name}"
    for module in (
        "tqdm",
        "tqdm.auto",
        "tqdm.autonotebook",
        "tqdm.notebook",
        "tqdm.rich",
        "tqdm.std",
    )
    for name in ("tqdm", "trange")
)
# The kind of output and the function's own name.
_SINKS: Final[dict[str, tuple[Sink, str]]] = {
    **dict.fromkeys(("builtins.print", "pprint.pprint", "rich.print"), ("print", "print")),
    **dict.fromkeys(("warnings.warn", "warnings.warn_explicit"), ("warnings", "warn")),
    **dict.fromkeys(("sys.stdout.write", "sys.stderr.write"), ("stdout", "write")),
    **{name: ("tqdm", name.rpartition(".")[2]) for name in _BARS},
    **{f"{name}.write": ("bar", "write") for name in _BARS},
}


def sink_of(node: ast.Call, callee: Value) -> tuple[Sink, str] | None:
    """The kind of output that a call writes and the method's name; None for other calls."""
    if isinstance(callee, External):
        known = _SINKS.get(callee.name)
        if known is not None:
            return known
        if callee.name.startswith("logging."):
            method = callee.name.removeprefix("logging.")
            return ("logging", method) if method in LOG_METHODS else None
    elif isinstance(callee, BoundExternal) and callee.name.startswith(_OF_LOGGER):
        return "logger", callee.name.rpartition(".")[2]
    elif isinstance(callee, BoundExternal) and callee.name.startswith(_OF_BAR):
        return "bar", callee.name.removeprefix(_OF_BAR)
    func = node.func
    if not isinstance(func, ATTRIBUTE) or func.attr not in LOG_METHODS:
        return None
    return ("logger", func.attr) if _named_logger(func.value) and _untyped(callee) else None


def _named_logger(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name):
            return name in _LOGGER_NAMES
        case ast.Attribute(attr=name):
            return name in _LOGGER_NAMES - {"log"}
    return False


def _untyped(callee: Value) -> bool:
    """True when nothing says that the object is something other than a logger."""
    if isinstance(callee, BoundExternal):
        return isinstance(callee.owner, (Object, Static, Unknown))
    return isinstance(callee, (Unknown, Static, External))


def report_sink(frame: Frame, node: ast.Call, sink: Sink, method: str) -> None:
    """Report a call that writes output."""
    outer = frame.statement
    statement = outer if isinstance(outer, ast.Expr) and outer.value is node else None
    frame.analysis.emit(
        frame, SideEffectCall, node, sink=sink, method=method, call=node, statement=statement
    )


def is_reordered(frame: Frame, callee: Value) -> bool:
    """True for a function whose output Dynamo writes when the graph has run, as it was told to."""
    return isinstance(callee, External) and callee.name in frame.analysis.reordered


def can_wait(frame: Frame, node: ast.Call, arguments: Arguments) -> bool:
    """Whether a reordered call is one that Dynamo can make later: of tensors and constants.

    Text is as good where Dynamo formats it, as it does f-strings without a conversion.
    """
    if not arguments.exact or "file" in arguments.keywords:
        return False
    if not all(map(_is_kept, arguments.values())):
        return False
    return all(_is_formatted(frame, part) for part in nodes(node))


def _is_formatted(frame: Frame, part: ast.AST) -> bool:
    """False for a part of a call that Dynamo cannot make into text."""
    values = frame.body.values
    match part:
        case ast.FormattedValue(value=value, conversion=conversion):
            return conversion == -1 and _is_kept(values.get(value, UNKNOWN))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            text, filled = values.get(left, UNKNOWN), values.get(right, UNKNOWN)
            return isinstance(text, Tensor) or isinstance(filled, Static)
        case ast.Call(func=ast.Name(id=name)):
            return name not in ("str", "repr", "format")
    return True


def _is_kept(value: Value) -> bool:
    return all(isinstance(kind, (DataScalar, Static, SymInt, Tensor)) for kind in options(value))
