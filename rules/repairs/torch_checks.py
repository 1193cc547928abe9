"""`torch._check*` calls that break the graph: a form that stays in it for compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site

from ..proofs.conditions import is_compiled_only
from ..proofs.messages import literal_of, quoted

_ASSERT: Final = (
    "Assert it in compiled code, which then raises RuntimeError with a literal message; eager code "
    "stays as it is"
)
_LITERAL: Final = "Use the message's literal parts in compiled code; eager code stays as it is"
_CAUGHT: Final = "the `try` around it may get another exception, or get it later"


def assert_tensor(site: Site, call: ast.Call, place: int) -> Repair | Decline:
    """``torch._check_tensor_all(t)`` → ``torch._assert_async(t.all(), ...)`` when compiled.

    ``torch._assert`` asks a single element.
    """
    tested = "$tensor" if site.dotted(call.func) == "torch._assert" else "$tensor.all()"
    template = f"$assert({tested}, {quoted(_message(site, call, place))})"
    return _split(site, call, template, {"tensor": call.args[place]}, _ASSERT, "_assert_async")


def check_literally(site: Site, call: ast.Call, place: int) -> Repair | Decline:
    """``torch._check(c, lambda: f"... {x.shape}")`` → the same with constant text when compiled."""
    parts = {f"given_{i}": argument for i, argument in enumerate(call.args[: place + 1])}
    given = ", ".join(f"${name}" for name in parts)
    template = f"$assert({given}, lambda: {quoted(_message(site, call, place))})"
    name = (site.dotted(call.func) or "").removeprefix("torch.")
    return _split(site, call, template, parts, _LITERAL, name)


def _split(
    site: Site, call: ast.Call, template: str, parts: dict[str, ast.expr], why: str, name: str
) -> Repair | Decline:
    statement, function = site.parent(call), call.func
    if not isinstance(statement, ast.Expr):
        return Decline("the call is part of a larger expression")
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        return Decline("the call unpacks its arguments")
    if not isinstance(function, ast.Attribute):
        return Decline("the function was imported by itself: write `torch.` in front of it")
    if any(attempt.handlers for attempt in site.facts.tries):
        return Decline(_CAUGHT)
    torch = site.text(function.value)
    checked = template.replace("$assert", f"{torch}.{name}")
    if is_compiled_only(site, statement):
        return Repair(why, (Replace(call, checked, parts),))
    whole = f"if {torch}.compiler.is_compiling():\n    {checked}\nelse:\n    $original"
    return Repair(why, (Replace(statement, whole, {**parts, "original": statement}),))


def _message(site: Site, call: ast.Call, place: int) -> str:
    """The literal text nearest to what the exception says."""
    named = [k.value for k in call.keywords if k.arg == "message"]
    given = next(iter((*call.args[place + 1 :], *named)), None)
    said = given.body if isinstance(given, ast.Lambda) else given
    text = literal_of(site, said) if said is not None else None
    return text or f"check failed: {' '.join(site.text(call.args[place]).split())}"
