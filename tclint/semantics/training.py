"""Which loops and functions of a file are training steps, by their syntax.

A step calls ``backward`` and then an optimizer's ``step``, itself or in functions of the file that
it calls. It is the body of a loop, or of a function that is a step as a whole, such as Lightning's
``training_step``. What such a body calls every time belongs to the step, and so does a loop inside
that runs ``backward`` only: it accumulates gradients.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.regexes import regex
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.syntax import CALL, CHILDLESS, add_children, children, nodes

StepBody = ast.For | ast.While | ast.FunctionDef
WORDS: Final = (
    ".backward(", ".manual_backward(", "def training_step(", "def compute_loss(", "scaler(",
)  # fmt: skip
"""A file without any of these has no step."""
_BACKWARD: Final = frozenset({"backward", "manual_backward"})
_NO_OPTIMIZERS: Final = regex(r"sched|env|prof|^lr", re.IGNORECASE)
_OPTIMIZER: Final = regex(r"optim|^opt(_|$)", re.IGNORECASE)
_LOSS: Final = regex(r"loss", re.IGNORECASE)
_STEP_NAMES: Final = regex(r"^_*(train|optimi[sz]e|update|learn)|train.*(step|batch|iter)")
_FRAMEWORK: Final = frozenset({"training_step"})
_OF_TRAINERS: Final = frozenset(
    {"compute_loss"}
)  # methods of classes that a `Trainer` is a base of
_SOMETIMES: Final = (ast.If, ast.IfExp, ast.Match, ast.ExceptHandler, ast.comprehension)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_BOTH: Final = frozenset({"backward", "step"})
_NONE: Final[frozenset[str]] = frozenset()


def may_train(text: str) -> bool:
    """True for the text of a file that may hold a step."""
    return any(word in text for word in WORDS)


def is_returned(step: ast.AST) -> bool:
    """True for a step that gives its loss to a framework, which runs ``backward`` then."""
    return (
        isinstance(step, ast.FunctionDef)
        and step.name in _FRAMEWORK | _OF_TRAINERS
        and not any(map(_is_backward, nodes(step)))
    )


def training_bodies(module: ModuleInfo) -> dict[ast.AST, bool]:
    """The loops that run ``backward``, and the functions that belong to a step.

    True for what is done in each step, False for a loop around steps, or one without an optimizer.
    """
    return _Steps(module).bodies()


class _Steps:
    """The search through one file."""

    def __init__(self, module: ModuleInfo) -> None:
        self._tree = module.tree
        self._functions: dict[str, ast.FunctionDef] = {}
        self._methods: dict[tuple[ast.AST, str], ast.FunctionDef] = {}
        self._classes: dict[ast.FunctionDef, ast.ClassDef] = {}
        self._kept: dict[ast.ClassDef, dict[str, str]] = {}
        self._exports: dict[ast.AST, frozenset[str]] = {}
        self._owner: dict[ast.AST, ast.FunctionDef | None] = {}
        self._steps: list[ast.AST] = []
        self._partial: list[ast.AST] = []  # loops with `backward`, inner ones first
        self._looped: set[ast.FunctionDef] = set()
        self._collect(self._tree)

    def bodies(self) -> dict[ast.AST, bool]:
        """Every loop that runs `backward`, and every function of a step."""
        self._marks_of(self._tree)
        for function in [*self._functions.values(), *self._methods.values()]:
            self._marks_of(function)
        for scope, marks in self._exports.items():
            if isinstance(scope, ast.FunctionDef) and self._is_step(scope, marks):
                self._steps.append(scope)
        found: dict[ast.AST, bool] = dict.fromkeys(self._partial, False)
        for step in self._steps:
            found |= dict.fromkeys(self._parts(step, set()), True)
        return found

    def _is_step(self, function: ast.FunctionDef, marks: frozenset[str]) -> bool:
        if function in self._classes:
            if function.name in _FRAMEWORK:
                return True
            if function.name in _OF_TRAINERS and _is_trainer(self._classes[function]):
                return True
        named = _STEP_NAMES.search(function.name) is not None
        return marks >= _BOTH and (named or function in self._looped)

    def _collect(self, outer: ast.AST) -> None:
        for node in children(outer):
            if not isinstance(node, ast.stmt):
                continue
            if isinstance(node, ast.FunctionDef):
                if isinstance(outer, ast.ClassDef):
                    self._methods[outer, node.name] = node
                    self._classes[node] = outer
                else:
                    self._functions.setdefault(node.name, node)
            self._collect(node)

    def _marks_of(self, scope: ast.FunctionDef | ast.Module) -> frozenset[str]:
        """What of a step a function does outside of steps of its own."""
        if scope not in self._exports:
            self._exports[scope] = _NONE  # while it is looked at: it may call itself
            function = scope if isinstance(scope, ast.FunctionDef) else None
            marks = self._within([*scope.body], function, in_loop=False)
            self._exports[scope] = marks
        return self._exports[scope]

    def _within(
        self, parts: list[ast.AST], function: ast.FunctionDef | None, *, in_loop: bool
    ) -> frozenset[str]:
        marks = _NONE
        for node in parts:  # grows while it is walked
            below = _NONE
            if type(node) in CHILDLESS or isinstance(node, _SCOPES):
                continue
            if isinstance(node, _LOOPS):
                below = self._within(children(node), function, in_loop=True)
                if isinstance(node, (ast.For, ast.While)):
                    below = self._closed(node, below, function)
            else:
                if isinstance(node, CALL):
                    below = self._marks_of_call(node, function, in_loop)
                add_children(node, parts)
            if below:
                marks |= below
        return marks

    def _closed(
        self, loop: ast.For | ast.While, marks: frozenset[str], function: ast.FunctionDef | None
    ) -> frozenset[str]:
        """What a loop leaves to the one around it: nothing, where it is a step."""
        self._owner[loop] = function
        if marks >= _BOTH:
            self._steps.append(loop)
            return _NONE
        if "backward" in marks or any(map(_is_backward, nodes(loop))):
            self._partial.append(loop)
        return marks

    def _marks_of_call(
        self, call: ast.Call, function: ast.FunctionDef | None, in_loop: bool
    ) -> frozenset[str]:
        called = self._called(call, function)
        if called is not None:
            if in_loop:
                self._looped.add(called)
            return self._marks_of(called)
        if _is_backward(call):
            return frozenset({"backward"})
        if _is_optimizer_step(call):
            return frozenset({"step"})
        return _BOTH if _is_scaler(call) else _NONE

    def _called(self, call: ast.Call, function: ast.FunctionDef | None) -> ast.FunctionDef | None:
        """The function of the file that a call reaches, by its name."""
        match call.func:
            case ast.Name(id=name):
                return self._functions.get(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if function in self._classes:
                return self._method(self._classes[function], name)
        return None

    def _method(self, cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """The method of a name, or the one that an attribute of that name holds."""
        found = self._methods.get((cls, name))
        if found is None:
            if cls not in self._kept:
                self._kept[cls] = dict(_methods_kept(cls))
            found = self._methods.get((cls, self._kept[cls].get(name, "")))
        return found

    def _parts(self, body: ast.AST, seen: set[ast.AST]) -> Iterator[ast.AST]:
        """A step's body, the loops inside that accumulate, and what it calls every time."""
        if body in seen:
            return
        seen.add(body)
        yield body
        function = body if isinstance(body, ast.FunctionDef) else self._owner.get(body)
        pending: list[ast.AST] = [*getattr(body, "body", [])]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Call):
                called = self._called(node, function)
                if called is not None and called not in self._steps:
                    yield from self._parts(called, seen)
            if isinstance(node, _LOOPS):
                if node in self._partial:
                    yield from self._parts(node, seen)
            elif not isinstance(node, (*_SOMETIMES, *_SCOPES)):
                add_children(node, pending)


def _methods_kept(cls: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """What ``self.run = self.method`` and ``self.run = torch.compile(self.method)`` keep."""
    for node in nodes(cls):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=kept)], value=value
            ):
                parts = [value, *value.args] if isinstance(value, ast.Call) else [value]
            case _:
                continue
        for part in parts:
            match part:
                case ast.Attribute(value=ast.Name(id="self"), attr=method) if method != kept:
                    yield kept, method


def _is_trainer(cls: ast.ClassDef) -> bool:
    return any(_last_name(base).endswith("Trainer") for base in cls.bases)


def _is_backward(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _BACKWARD
    )


def _is_optimizer_step(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr="optimize"):
            return any(_OPTIMIZER.search(_last_name(given)) for given in call.args)
        case ast.Attribute(value=owner, attr="step"):
            return not _NO_OPTIMIZERS.search(_last_name(owner))
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return "step" in name and _OPTIMIZER.search(name) is not None
    return False


def _is_scaler(call: ast.Call) -> bool:
    """True for ``loss_scaler(loss, optimizer, ...)``, which does both."""
    match call:
        case ast.Call(func=func, args=[ast.Name(id=loss), ast.Name(id=optimizer), *_]):
            named = "scaler" in _last_name(func)
            return bool(named and _LOSS.search(loss) and _OPTIMIZER.search(optimizer))
    return False


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last_name(inner)
    return ""
