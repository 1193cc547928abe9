"""Calls that write output: ``print``, loggers, ``warnings``, standard streams, progress bars."""

from __future__ import annotations

import ast

from tclint.semantics.events import SideEffectCall
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.values import (
    BoundExternal,
    External,
    Object,
    Static,
    Unknown,
    Value,
)

LOG_METHODS = frozenset(
    {
        "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "fatal",
        "warning_once", "info_once", "warning_advice", "isEnabledFor",
    }
)  # fmt: skip
LOGGER = "logging.Logger"
_LOGGER_NAMES = frozenset({"logger", "log", "_logger", "LOGGER", "LOG", "_log", "logging_logger"})
_STREAMS = frozenset({"sys.stdout.write", "sys.stderr.write"})
_BARS = frozenset(
    {"tqdm.tqdm", "tqdm.trange", "tqdm.auto.tqdm", "tqdm.auto.trange", "tqdm.notebook.tqdm"}
)


def sink_of(node: ast.Call, callee: Value) -> tuple[str, str] | None:
    """The kind of output that a call writes and the method's name; None for other calls."""
    match callee:
        case External(name="builtins.print" | "pprint.pprint" | "rich.print"):
            return "print", "print"
        case External(name="warnings.warn" | "warnings.warn_explicit"):
            return "warnings", "warn"
        case External(name=name) if name in _STREAMS:
            return "stdout", "write"
        case External(name=name) if name in _BARS:
            return "tqdm", name.rpartition(".")[2]
        case External(name=name) if name.startswith("logging."):
            method = name.removeprefix("logging.")
            return ("logging", method) if method in LOG_METHODS else None
        case BoundExternal(name=name) if name.startswith(f"{LOGGER}."):
            return "logger", name.rpartition(".")[2]
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in LOG_METHODS:
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


def report_sink(frame: Frame, node: ast.Call, sink: str, method: str) -> None:
    """Report a call that writes output."""
    statement = frame.statement
    alone = isinstance(statement, ast.Expr) and statement.value is node
    frame.analysis.emit(
        frame, SideEffectCall, node, sink=sink, method=method, call=node,
        statement=statement if alone else None,
        wraps=node.args[0] if sink == "tqdm" and node.args else None,
    )  # fmt: skip
