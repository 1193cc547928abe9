"""TCL229: a compiled function gets another text in every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.values import Function, Object

from .loop_calls import calls_of_compiled, names_loop

_LOOP: Final = """

def f(x):
    for i in range(12):
        out = {call}
    return out
"""
_KEYED: Final = "\n@torch.compile\ndef named(x, name):\n    return {name: x * 2}\n"
_HANDED_ON: Final = "\n@torch.compile\ndef named(x, name):\n    return x * 2, name\n"
_MODULE: Final = (
    "\nclass Named(nn.Module):\n    def forward(self, x, name):\n"
    '        return x * 2 if name.endswith("0") else x * 3\n\n\nnamed = torch.compile(Named())\n'
)
# Where a text goes on as it is, nothing asks for its value yet.
_PASSED_ON: Final = (ast.Return, ast.Tuple, ast.Call, ast.keyword, ast.Assign)


class TextPerCall(Rule[CompileCall]):
    """A compiled function gets a text that each step of a loop makes anew.

    ## What it does
    Reports calls of a compiled function or module in a loop, in the same function, that pass an
    f-string or `str(...)` of the loop's variable (`step(x, f"step {i}")`), where the compiled code
    asks for the text: compares it, formats it, uses it as a key. Loops of at most 8 steps, and
    texts that are only handed on, are left alone.

    ## Why it hurts
    Dynamo takes a text for a constant: each new one compiles again. In 12 calls 8 compiles, and
    the rest ran eagerly (torch 2.13), whether the text was compared, measured by `len`, formatted,
    a key of a dict, or only asked whether it is None; members of an enum do the same. A text that
    is not used, or returned as it is, costs nothing: 1 compile.

    ## Fix safety
    Not fixed: use the text outside of what is compiled.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL229"
    name = "text-per-call"
    summary = "a compiled function that gets a new text in each call compiles each time"
    on = CompileCall
    effects = (Effect.RECOMPILE,)
    outside_regions = True
    examples = (
        Untouched(
            _KEYED + _LOOP.format(call='named(x, f"step {i}")'),
            reason="outside of what is compiled",
            proves=("recompile",),
            title="the key of a dict",
        ),
        Untouched(
            _MODULE + _LOOP.format(call="named(x, name=str(i))"),
            reason="outside of what is compiled",
            proves=("recompile",),
            title="a module",
        ),
        Good(
            _HANDED_ON + _LOOP.format(call='named(x, f"step {i}")'),
            title="handed on",
        ),
        Good(
            _KEYED + _LOOP.format(call='named(x, "step")'),
            title="one text",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look at the calls of what is compiled."""
        site = event.site
        found = list(_texts_handed_over(event))
        if not found:
            return None
        text, parameter = found[0]
        return Finding(
            f"`{site.text(text)}` is new in each step, and `{parameter}` a constant to the "
            "compiler: it compiles again each time, up to 8 times, and then runs eagerly",
            Decline("use the text outside of what is compiled"),
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
