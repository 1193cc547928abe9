"""What frameworks compile of the modules that they are given, when they are told to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.interpreter.compiling import add_root, region_of
from tclint.semantics.interpreter.evaluate import evaluate
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import options
from tclint.semantics.syntax import ATTRIBUTE, last_name, nodes
from tclint.semantics.values import Class, Compiled, External, Object, Value
from tclint.torch_facts.compiling import COMPILING_MODULES, PREPARING, TELLING, TRAINING

_GIVEN: Final = ("model", "loss")
_OFF: Final = (None, False, "", "no", "NO")


def compiled_by_framework(frame: Frame, node: ast.Call, callee: Value) -> None:
    """Start a region at the ``forward`` of what a framework compiles in this call."""
    if not _may_compile(node.func, callee):
        return
    for package, told, models in _asked(node, callee):
        if not told or _tells(frame, package, told):
            for model in models:
                for option in options(evaluate(frame, model)):
                    if isinstance(option, Object | Compiled):
                        add_root(frame, option, region_of(frame, option, {}), node)


def _may_compile(func: ast.expr, callee: Value) -> bool:
    """False for nearly all calls, by the last part of a name."""
    if isinstance(func, ATTRIBUTE) and func.attr in PREPARING:
        return True
    if isinstance(callee, Class):
        name = callee.info.qualname
    elif isinstance(callee, External):
        name = callee.name
    else:
        return False
    return name.endswith("Trainer") or name.rpartition(".")[2] in _LAST_PARTS


_LAST_PARTS: Final = frozenset(name.rpartition(".")[2] for name in COMPILING_MODULES)


def _asked(node: ast.Call, callee: Value) -> Iterator[tuple[str, frozenset[str], list[ast.expr]]]:
    """Who may compile here, by which settings if not always, and what is given to them."""
    func = node.func
    name = _name_of(callee)
    package = name.partition(".")[0] if name.endswith("Trainer") else ""
    compiles = name in COMPILING_MODULES
    prepares = isinstance(func, ATTRIBUTE) and func.attr in PREPARING
    if package not in TRAINING and not compiles and not prepares:
        return
    named = [keyword.value for keyword in node.keywords if keyword.arg in _GIVEN]
    if compiles:
        yield "", frozenset(), [*named, *node.args][:1]
    elif package in TRAINING:
        yield package, TRAINING[package], [*named, *node.args][:1]
    elif isinstance(func, ATTRIBUTE):
        yield "accelerate", PREPARING[func.attr], [*named, *node.args]


def _name_of(callee: Value) -> str:
    if isinstance(callee, External):
        return callee.name
    return f"{callee.info.module.name}.{callee.info.name}" if isinstance(callee, Class) else ""


def _tells(frame: Frame, package: str, told: frozenset[str]) -> bool:
    """Whether what takes the settings, here or at the top of the file, turns compiling on."""
    body = frame.body
    calls = [
        one
        for scope in (body.scope, body.module.tree)
        for one in nodes(scope)
        if isinstance(one, ast.Call)
    ]
    return any(
        keyword.arg in told and not _is_off(keyword.value)
        for call in calls
        if last_name(call.func) in TELLING[package]
        for keyword in call.keywords
    )


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in _OFF
