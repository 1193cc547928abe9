"""TCL166: `torch._check*` in a form that Dynamo does not trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Advice, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Function, Object, Tensor, Value

from ..lib.facts.compiling import is_compiled_only
from ..lib.facts.messages import formats_dynamically, quoted, stated
from ..lib.wording import consequence, renumbered

_TENSOR_CHECKS = frozenset({"torch._check_tensor_all", "torch._check_tensor_all_with"})
_WITH_TYPE = frozenset({"torch._check_with", "torch._check_tensor_all_with"})
_NAMED = frozenset(f"torch._check_{name}" for name in ("index", "not_implemented", "type", "value"))
_ASSERT: Final = (
    "Assert it in compiled code, which then raises RuntimeError with a literal message; eager code "
    "stays as it is"
)
_LITERAL: Final = "Use what the message states in compiled code; eager code stays as it is"
_IN_PLACE: Final = "Define the message's function in the call: it is still called only on failure"
_TAKE_OUT: Final = "compute the string before the call, and use the variable in the message"
_DEFINE: Final = "define the message's function where the check is, such as `lambda: 'message'`"
_ONLY_CHECK: Final = (
    "torch 2.13 traces it; before, only `torch._check` takes a message in compiled code, and it "
    "raises RuntimeError"
)
_CAUGHT: Final = "the surrounding `try` may catch a different exception, or catch it later"

_MESSAGES_TRACED = (2, 13)
"""The first release that traces what is known while it traces, in messages of checks."""
_ASSERT_TRACED = (2, 15)
"""The first release that traces ``torch._assert`` of a tensor, and messages from outside."""


class TorchCheckBreaks(Rule[Call]):
    """Compiled code calls a `torch._check` function in a form that Dynamo does not trace."""

    code = "TCL166"
    name = "torch-check-breaks"
    summary = "A `torch._check` that reads a tensor or formats sizes breaks the graph"
    instead = (
        'Pass `torch._check` a message that is a function defined in the call: `lambda: "message"`'
    )
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124", "GB0033", "GB9158", "GB9840")

    def check(self, event: Call) -> Finding | None:
        """Judge the condition, then the message."""
        if event.function == "torch._assert" and _is_tensor(event, 0):
            return Finding(
                "`torch._assert` reads its tensor on the host",
                _assert_tensor(event.site, event.call, 0),
                gb_ids=("GB0033",),
                before=_ASSERT_TRACED,
            )
        if not event.function.startswith("torch._check"):
            return None
        place = 1 if event.function in _WITH_TYPE else 0
        if event.function in _TENSOR_CHECKS and _is_tensor(event, place):
            return Finding(
                f"`{event.function}` reads its tensor on the host",
                _assert_tensor(event.site, event.call, place),
                gb_ids=(renumbered(event.site, "GB0033", _MESSAGES_TRACED, "GB0124"),),
            )
        message = _given_message(event.call, place)
        if isinstance(message, ast.Lambda):
            found = _of_message(event, place, message)
        else:
            found = _of_outside(event, message) if message is not None else None
        return found or _of_other_exception(event, message)


def _given_message(call: ast.Call, place: int) -> ast.expr | None:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "message"]
    return next(iter((*call.args[place + 1 : place + 2], *named)), None)


def _of_other_exception(event: Call, message: ast.expr | None) -> Finding | None:
    """The functions that raise something else than RuntimeError were operators like any other."""
    takes_class = event.function in _WITH_TYPE
    if not takes_class and (event.function not in _NAMED or not _is_function(event, message)):
        return None
    what = "an exception's class" if takes_class else "a message's function"
    return Finding(
        f"`{event.function}` is given {what}{consequence(event.site)}",
        Decline(_ONLY_CHECK),
        gb_ids=("GB0055",),
        before=_MESSAGES_TRACED,
    )


def _is_function(event: Call, message: ast.expr | None) -> bool:
    if message is None:
        return False
    kinds = options(event.site.value(message))
    return isinstance(message, ast.Lambda) or all(isinstance(kind, Function) for kind in kinds)


def _of_outside(event: Call, message: ast.expr) -> Finding | None:
    """A message that was not defined in compiled code: a function of the module, a method."""
    if _is_no_function(event.site, message):
        return Finding(
            f"The message of `{event.function}` is no function{consequence(event.site)}",
            Advice(_DEFINE),
            gb_ids=("GB9840",),
            since=_MESSAGES_TRACED,
            before=_ASSERT_TRACED,
        )
    kinds = [*options(event.site.value(message))]
    methods = all(isinstance(kind, Function) and kind.bound is not None for kind in kinds)
    if not methods and not all(map(_is_of_module, kinds)):
        return None
    plain = isinstance(message, ast.Name) and not methods
    return Finding(
        f"The message of `{event.function}` comes from outside{consequence(event.site)}",
        Repair(_IN_PLACE, (Replace(message, "lambda: $message()", {"message": message}),))
        if plain and event.site.dotted(message)
        else Advice(_DEFINE),
        gb_ids=(renumbered(event.site, "GB0288", _MESSAGES_TRACED, "GB9840"),),
        before=None if methods else _ASSERT_TRACED,
    )


def _is_no_function(site: Site, message: ast.expr) -> bool:
    """True for None, a text, and what `functools.partial` makes."""
    if isinstance(message, ast.Constant):
        return message.value is None or isinstance(message.value, str)
    return isinstance(message, ast.Call) and site.dotted(message.func) == "functools.partial"


def _is_of_module(kind: Value) -> bool:
    return isinstance(kind, Function) and "." not in kind.info.qualname and not _is_lambda(kind)


def _is_lambda(kind: Function) -> bool:
    return isinstance(kind.info.node, ast.Lambda)


def _of_message(event: Call, place: int, message: ast.Lambda) -> Finding | None:
    """A message that is made when the check runs."""
    if formats_dynamically(event.site, message):
        return Finding(
            f"The message of `{event.function}` formats a tensor{consequence(event.site)}",
            _check_literally(event.site, event.call, place),
            gb_ids=(renumbered(event.site, "GB0288", _MESSAGES_TRACED, "GB9158"),),
        )
    held = next((name for name in _names(message) if _holds_object(event.site, name)), None)
    formatted = any(isinstance(node, ast.FormattedValue) for node in ast.walk(message))
    if held is not None:
        return Finding(
            f"The message of `{event.function}` uses `{held.id}`{consequence(event.site)}",
            _check_literally(event.site, event.call, place) if formatted else Advice(_TAKE_OUT),
            gb_ids=(renumbered(event.site, "GB0055", _MESSAGES_TRACED, "GB9158"),),
            since=None if formatted else _MESSAGES_TRACED,
        )
    if formatted:
        return Finding(
            f"The message of `{event.function}` is formatted{consequence(event.site)}",
            _check_literally(event.site, event.call, place),
            gb_ids=("GB0055",),
            before=_MESSAGES_TRACED,
        )
    return None


def _names(message: ast.Lambda) -> Iterator[ast.Name]:
    """The names that a function takes from around it, or from the module."""
    own = {argument.arg for argument in ast.walk(message) if isinstance(argument, ast.arg)}
    for node in ast.walk(message.body):
        if isinstance(node, ast.Name) and node.id not in own:
            yield node


def _holds_object(site: Site, name: ast.Name) -> bool:
    """True for a method's own object, and for a local variable that holds one, or a tensor."""
    function = site.body.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    spec = function.node.args
    parameters = [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    is_method = function.cls is not None and "staticmethod" not in function.decorators
    if is_method and parameters[:1] == [name.id]:
        return True
    if name.id not in parameters and not site.stores(name.id):
        return False
    known = [site.value(seen) for seen in (*site.stores(name.id), *site.loads(name.id))]
    kinds = [kind for value in known for kind in options(value)]
    return bool(kinds) and all(isinstance(kind, (Object, Tensor)) for kind in kinds)


def _is_tensor(event: Call, place: int) -> bool:
    values = event.arguments[place : place + 1]
    return bool(values) and all(isinstance(kind, Tensor) for kind in options(values[0]))


def _assert_tensor(site: Site, call: ast.Call, place: int) -> Repair | Decline:
    """``torch._check_tensor_all(t)`` → ``assert t.all(), ...`` when compiled.

    ``torch._assert`` asks a single element.
    """
    tested = "$tensor" if site.dotted(call.func) == "torch._assert" else "$tensor.all()"
    template = f"assert {tested}, {quoted(_message(site, call, place))}"
    return _split(site, call, template, {"tensor": call.args[place]}, _ASSERT)


def _message(site: Site, call: ast.Call, place: int) -> str:
    """What the exception states, or what was checked."""
    given = _given_message(call, place)
    said = given.body if isinstance(given, ast.Lambda) else given
    text = stated(said) if said is not None else None
    return text or f"check failed: {' '.join(site.text(call.args[place]).split())}"


def _split(
    site: Site, call: ast.Call, checked: str, parts: dict[str, ast.expr], why: str
) -> Repair | Decline:
    """Let compiled code have a check of its own."""
    statement, function = site.parent(call), call.func
    if not isinstance(statement, ast.Expr):
        return Decline("the call is part of a larger expression")
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        return Decline("the call unpacks its arguments")
    if not isinstance(function, ast.Attribute):
        return Advice("the function is imported by name: call it as an attribute of `torch`")
    if any(attempt.handlers for attempt in site.facts.tries):
        return Decline(_CAUGHT)
    torch = site.text(function.value)
    if is_compiled_only(site, statement):
        return Repair(why, (Replace(statement, checked, parts),))
    whole = f"if {torch}.compiler.is_compiling():\n    {checked}\nelse:\n    $original"
    return Repair(why, (Replace(statement, whole, {**parts, "original": statement}),))


def _check_literally(site: Site, call: ast.Call, place: int) -> Repair | Decline:
    """``torch._check(c, lambda: f"... {x.shape}")`` → the same with constant text when compiled."""
    parts = {f"given_{i}": argument for i, argument in enumerate(call.args[: place + 1])}
    given = ", ".join(f"${name}" for name in parts)
    function = site.text(call.func)
    template = f"{function}({given}, lambda: {quoted(_message(site, call, place))})"
    return _split(site, call, template, parts, _LITERAL)
