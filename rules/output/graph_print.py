"""Printing from inside the graph: ``torch._higher_order_ops.print`` with a format string."""

from __future__ import annotations

import ast
import json

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import SideEffectCall
from tclint.semantics.site import Site

from .evaluation import binds_or_waits, prints_alike, reads_tensor, skipped_effects
from .place import why_not_alone
from .torch_name import torch_name

PRINT = "torch._higher_order_ops.print"
_CONVERSIONS = {-1: "", 115: "!s", 114: "!r", 97: "!a"}


def graph_print(event: SideEffectCall) -> Repair | Decline:
    """Turn a plain ``print`` into the operator of the same name."""
    site, call = event.site, event.call
    obstacle = _obstacle(event)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(site, PRINT)
    if isinstance(spelled, Decline):
        return spelled
    texts: list[str] = []
    shown: list[ast.expr] = []
    for argument in call.args:
        field = _field(argument, shown)
        if field is None:
            return Decline(f"the format of `{site.text(argument)}` is computed")
        texts.append(field)
    if not all(_is_at_its_place(site, value) for value in shown):
        return Decline("the values inside the f-string cannot be cut out")
    formats = any(isinstance(argument, ast.JoinedStr) for argument in call.args)
    if formats and len(shown) > 1 and skipped_effects(site, call, lambda node: node is call):
        return Decline("an f-string's text is made before the next value, which may change it")
    name, imports = spelled
    parts = {f"value{i}": value for i, value in enumerate(shown)}
    # A JSON string is a Python string, in double quotes.
    text = json.dumps(" ".join(texts), ensure_ascii=False)
    template = f"{name}({', '.join([text, *(f'${part}' for part in parts)])})"
    other = [f"`{site.text(v)}`" for v in shown if not prints_alike(site, v)]
    return Repair(
        f"Print from inside the graph with `{name}`",
        (*imports, Replace(call, template, parts)),
        Applicability.UNSAFE if other else Applicability.SAFE,
        f"the text of {', '.join(other)} may differ: shapes print as tuples" if other else "",
    )


def _obstacle(event: SideEffectCall) -> str | None:
    site, call = event.site, event.call
    if event.sink != "print" or site.dotted(call.func) != "print":
        return f"`{PRINT}` can only stand for `print`"
    if event.statement is None:
        return why_not_alone(event)
    if call.keywords:
        return f"`{PRINT}` has no `{call.keywords[0].arg or '**'}=`"
    if "$" in site.text(call):
        return "the text has a `$`, which a fix cannot write"
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return "the number of values to print is not known"
    if reads_tensor(site, call):
        return "a value to print is read from a tensor, which breaks the graph before the print"
    return binds_or_waits(call)


def _is_at_its_place(site: Site, value: ast.expr) -> bool:
    """Before Python 3.12 the parser misplaces what stands in f-strings over several lines."""
    try:
        found = ast.parse(site.text(value), mode="eval").body
    except SyntaxError:
        return False
    return ast.dump(found) == ast.dump(value)


def _field(argument: ast.expr, shown: list[ast.expr]) -> str | None:
    """What stands for an argument in the format string; its values are added to ``shown``."""
    if isinstance(argument, ast.Constant):
        return _escaped(str(argument.value))
    if not isinstance(argument, ast.JoinedStr):
        shown.append(argument)
        # print() shows str(tensor); a bare {} would show the number of a tensor without dimensions.
        return "{!s}"
    text = ""
    for piece in argument.values:
        if isinstance(piece, ast.Constant):
            text += _escaped(str(piece.value))
            continue
        spec = _spec(piece) if isinstance(piece, ast.FormattedValue) else None
        if spec is None or not isinstance(piece, ast.FormattedValue):
            return None
        shown.append(piece.value)
        text += "{" + _CONVERSIONS[piece.conversion] + spec + "}"
    return text


def _spec(piece: ast.FormattedValue) -> str | None:
    """``:.3f`` as written; None when it holds values of its own."""
    if piece.format_spec is None:
        return ""
    values = piece.format_spec.values if isinstance(piece.format_spec, ast.JoinedStr) else []
    if not all(isinstance(v, ast.Constant) for v in values):
        return None
    return ":" + "".join(str(v.value) for v in values if isinstance(v, ast.Constant))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
