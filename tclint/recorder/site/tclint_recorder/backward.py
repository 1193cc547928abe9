"""Hear of each ``backward``, from within torch's own function."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

_NAME = "__tclint_backward__"


def on_backward(torch: Any, hear: Callable[..., None]) -> Callable[[], None]:
    """Have ``hear`` called with the outputs, before each ``backward`` that is not in another.

    The function that all of them go through gets one more statement, on its own first line: it
    stays the same function to Dynamo, and a traceback through it reads as ever. Gives what puts
    the function back.
    """
    within = torch._C._current_graph_task_id

    def began(outputs: Any, options: dict[str, Any]) -> None:
        # `autograd.grad` accumulates nothing; a checkpoint calls `backward` in a `backward`.
        if options.get("accumulate_grad") and within() == -1:
            hear(outputs)

    skip_code(torch, began.__code__)
    function = torch.autograd.graph._engine_run_backward
    function.__globals__[_NAME] = began
    whole = function.__code__
    insert(function, f"{_NAME}(t_outputs, kwargs)")

    def put_back() -> None:
        function.__code__ = whole
        del function.__globals__[_NAME]

    return put_back


def skip_code(torch: Any, code: CodeType) -> None:
    """Have Dynamo run a function as it is where it meets it outside of what it traces."""
    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "skip_code"):
        frames.skip_code(code)
        return
    action = frames._FrameAction
    frames.set_code_exec_strategy(code, frames._FrameExecStrategy(action.SKIP, action.DEFAULT))


def insert(function: FunctionType, statement: str, inner: frozenset[str] = frozenset()) -> None:
    """Have a function run a statement first, or each function of these names that it makes."""
    text, row = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(text)))
    ast.increment_lineno(tree, row - 1)
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    made_within = (one for one in ast.walk(definition) if isinstance(one, ast.FunctionDef))
    for one in [one for one in made_within if one.name in inner] if inner else [definition]:
        _put_first(one, statement)
    made: dict[str, Any] = {}
    # With the module's own names: annotations are looked up when a function is made.
    exec(
        compile(tree, function.__code__.co_filename, "exec", dont_inherit=True),
        dict(function.__globals__),
        made,
    )
    function.__code__ = made[function.__name__].__code__


def _put_first(definition: ast.FunctionDef, statement: str) -> None:
    call = ast.parse(statement).body[0]
    for node in ast.walk(call):
        if isinstance(node, (ast.stmt, ast.expr)):
            ast.copy_location(node, definition.body[0])
    definition.body.insert(0, call)
