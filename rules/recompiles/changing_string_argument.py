"""TCL229: a compiled function gets another text in every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.values import Function, Object

from .loop_calls import calls_of_compiled, names_loop

# Where a text goes on as it is, nothing asks for its value yet.
_PASSED_ON: Final = (ast.Return, ast.Tuple, ast.Call, ast.keyword, ast.Assign)


class ChangingStringArgument(Rule[CompileCall]):
    """Each step of a loop passes a new string to a compiled function."""

    code = "TCL229"
    name = "changing-string-argument"
    former_names = ("text-per-call",)
    summary = "A compiled function recompiles for each new string argument"
    instead = "Pass the number itself, and make the string outside of compiled code"
    on = CompileCall
    effects = (Effect.RECOMPILE,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look at the calls of what is compiled."""
        site = event.site
        found = list(_texts_handed_over(event))
        if not found:
            return None
        text, parameter = found[0]
        return Finding(
            f"`{site.text(text)}` gives `{parameter}` a new string in each step: each recompiles",
            Advice("use the string outside of compiled code"),
            node=text,
            confidence=Confidence.HIGH,
            related=tuple(other for other, _ in found[1:]),
        )


def _texts_handed_over(event: CompileCall) -> Iterator[tuple[ast.expr, str]]:
    """The texts, and the function's parameters that get them."""
    function = _traced(event)
    if function is None:
        return
    for call in calls_of_compiled(event):
        for parameter, argument in _arguments(function, call):
            if not _is_text(argument) or not names_loop(event.site, argument):
                continue
            if _asks(function, parameter):
                yield argument, parameter


def _traced(event: CompileCall) -> FunctionInfo | None:
    match event.target:
        case Function(info=info, bound=None):
            return info
        case Object(cls=cls) if cls is not None:
            return cls.methods.get("forward")
    return None


def _arguments(function: FunctionInfo, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    given = function.node.args
    names = [a.arg for a in (*given.posonlyargs, *given.args)][1 if function.cls else 0 :]
    if not any(isinstance(argument, ast.Starred) for argument in call.args):
        yield from zip(names, call.args, strict=False)
    yield from ((k.arg, k.value) for k in call.keywords if k.arg)


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr() | ast.Call(func=ast.Name(id="str")):
            return True
    return False


def _asks(function: FunctionInfo, parameter: str) -> bool:
    """True when the function does more with a parameter than to hand it on."""
    for outer in ast.walk(function.node):
        for node in ast.iter_child_nodes(outer):
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name == parameter:
                    if not isinstance(outer, _PASSED_ON):
                        return True
    return False
