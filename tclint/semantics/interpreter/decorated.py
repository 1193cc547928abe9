"""Decorators that compile what they are given: torch's own under another name, and the program's.

Of those that other files define only the ones whose name says it are looked up.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.collect import decorator_name, dotted_name
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.evaluate import evaluate
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.statements import report_decorator
from tclint.semantics.interpreter.wrappers import walk_decorator
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Class, Function
from tclint.torch_facts.compiling import COMPILE

_WORD: Final = "compil"
_PARTIAL: Final = "functools.partial"


def start_decorated(frame: Frame, decorator: ast.expr, target: Function | Class) -> None:
    """Start a region at a function or class if a decorator of it compiles."""
    module = frame.body.module
    name = decorator_name(module, decorator)
    if name is None:
        return
    if name in COMPILE or _means_compile(module, decorator, name):
        report_decorator(frame, decorator, target)
    elif isinstance(target, Function):
        found = _defined(frame.analysis, module, name)
        if found is not None and _compiles(found):
            _apply(frame, decorator, found, target)


def _means_compile(module: ModuleInfo, decorator: ast.expr, name: str) -> bool:
    """True for ``@partial(torch.compile, ...)``, and for ``compiled = torch.compile``."""
    if name == _PARTIAL and isinstance(decorator, ast.Call) and decorator.args:
        return dotted_name(module, decorator.args[0]) in COMPILE
    match module.assigned.get(name):
        case ast.Name() | ast.Attribute() as meant:
            return dotted_name(module, meant) in COMPILE
        case ast.Call(func=func, args=[given, *_]):
            return dotted_name(module, func) == _PARTIAL and dotted_name(module, given) in COMPILE
    return False


def _defined(analysis: Analysis, module: ModuleInfo, name: str) -> FunctionInfo | None:
    """The function of the program that a decorator's name stands for."""
    if "." not in name:
        return module.functions.get(name)
    if _WORD not in name.rpartition(".")[2].lower():
        return None
    found = analysis.project.lookup(name, module)
    return found if isinstance(found, FunctionInfo) and not found.module.installed else None


def _compiles(info: FunctionInfo) -> bool:
    """Whether a function's text calls ``torch.compile``, or hands it on."""
    parts = (node for node in nodes(info.node) if isinstance(node, (ast.Name, ast.Attribute)))
    return any(dotted_name(info.module, part) in COMPILE for part in parts)


def _apply(frame: Frame, decorator: ast.expr, found: FunctionInfo, target: Function) -> None:
    """Walk the decorator with the function, as Python calls it."""
    made = evaluate(frame, decorator) if isinstance(decorator, ast.Call) else Function(found)
    if isinstance(made, Function) and made.info not in frame.analysis.active:
        walk_decorator(frame.analysis, made, target)
