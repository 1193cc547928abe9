"""The messages of asserts and checks: which ones Dynamo takes, and what they state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from string import Formatter
from typing import Final

from tclint.regexes import regex

_PERCENT: Final = regex(r"%(?:\((\w+)\))?[#0\- +]*(?:\d+)?(?:\.\d+)?([a-zA-Z%])")
# Where the values begin that a message adds to what it states, and what asks for a value behind it.
_CLAUSE: Final = regex(
    r"[,;:(]\s+|\.\s+(?=[A-Z])|\s\(|,?\s+(?:but )?(?:got|found|was|is)\b[\s:=]*$"
)
_DANGLING: Final = regex(
    r"\b(?:a|an|the|of|in|to|for|with|than|and|or|not|by|at|from|be|has|have|must|expected"
    r"|it's|in range)$",
    re.I,
)
# What is closed again is no end of a statement: "must be in [x0, y0] (corner) format".
_CLOSED: Final = regex(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|`[^`]*`|\"[^\"]*\"")
_LABEL: Final = 3
"""Words at most that only name the value behind them: "..., largest value: {x}"."""


def folded(node: ast.expr) -> object:
    """The constant that CPython makes of a message, or the node itself when it makes none."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        texts = [v.value for v in node.values if isinstance(v, ast.Constant)]
        return "".join(map(str, texts)) if len(texts) == len(node.values) else node
    if isinstance(node, ast.Tuple):
        items = tuple(map(folded, node.elts))
        return node if any(isinstance(i, ast.AST) for i in items) else items
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = folded(node.left), folded(node.right)
        if isinstance(left, str) and isinstance(right, str):
            return left + right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = folded(node.left), folded(node.right)
        if isinstance(left, str) and isinstance(right, int):
            return left * right
    return node


def stated(message: ast.expr) -> str | None:
    """What a message states before its first value; None where that does not stand by itself.

    Somebody reads it who knows neither the values nor that there was a template.
    """
    constant = folded(message)
    if isinstance(constant, str):
        return constant
    parts = _parts(message)
    if parts is None:
        return None
    first = next((i for i, part in enumerate(parts) if not isinstance(part, str)), len(parts))
    before = "".join(part for part in parts[:first] if isinstance(part, str))
    if first == len(parts):
        return None
    behind = [part for part in parts[first + 1 :] if not isinstance(part, str) or part.strip(" .!")]
    end = _end_of_statement(before)
    text = before[:end].strip(" :=")
    goes_on = _DANGLING.search(text) or (end is None and behind)
    return None if goes_on or not _says_something(text, parts, first) else text


def _says_something(text: str, parts: Sequence[str | ast.expr], first: int) -> bool:
    """False for no word, and for one that names the value behind it: ``f"shape {x.shape}"``."""
    words, value = text.lower().split(), parts[first]
    if len(words) == 1 and isinstance(value, ast.expr):
        return words[0] not in ast.unparse(value).lower() and not _only_labels(parts)
    return re.search(r"[^\W\d_]", text) is not None


def _parts(message: ast.expr) -> list[str | ast.expr] | None:
    """The texts and the values that a message is put together from."""
    match message:
        case ast.Constant(value=value):
            return [str(value)]
        case ast.JoinedStr(values=values):
            return [part for value in values for part in _parts_of_f_string(value)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _parts(left), _parts(right)
            return one + other if one is not None and other is not None else None
        case ast.BinOp(left=ast.Constant(value=str() as template), op=ast.Mod(), right=right):
            return [*_percent(template, right)]
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as template), attr="format")
        ):
            return _format(template, message)
        case ast.Call(func=ast.Name(id=name), args=[value]) if name in ("str", "repr"):
            return [value]
    return None


def _parts_of_f_string(part: ast.expr) -> list[str | ast.expr]:
    if isinstance(part, ast.FormattedValue):
        return [part.value]
    return [str(part.value)] if isinstance(part, ast.Constant) else []


def _percent(template: str, given: ast.expr) -> Iterator[str | ast.expr]:
    """The parts of ``template % given``."""
    values = iter(given.elts if isinstance(given, ast.Tuple) else [given])
    named = _by_key(given)
    end = 0
    for found in _PERCENT.finditer(template):
        yield template[end : found.start()]
        end = found.end()
        if found[2] == "%":
            yield "%"
        else:
            yield (named.get(found[1]) if found[1] else next(values, None)) or "..."
    yield template[end:]


def _by_key(given: ast.expr) -> Mapping[str, ast.expr]:
    if not isinstance(given, ast.Dict):
        return {}
    pairs = zip(given.keys, given.values, strict=True)
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def _format(template: str, call: ast.Call) -> list[str | ast.expr] | None:
    """The parts of ``template.format(...)``."""
    given: Sequence[ast.expr] = call.args
    by_name = {keyword.arg: keyword.value for keyword in call.keywords}
    parts: list[str | ast.expr] = []
    try:
        pieces = [*Formatter().parse(template)]
    except ValueError:
        return None
    for number, (text, field, _, _) in enumerate(pieces):
        parts.append(text)
        if field is None:
            continue
        name = re.split(r"[.\[]", field)[0] or str(number)
        place = int(name) if name.isdecimal() else len(given)
        parts.append(given[place] if place < len(given) else by_name.get(name, "..."))
    return parts


def _only_labels(parts: Sequence[str | ast.expr]) -> bool:
    """True for ``f"x: {x}, y: {y}"``, which states nothing once the values are gone."""
    texts = [
        part.strip(" ,;()") for part in parts if isinstance(part, str) and part.strip(" ,;().")
    ]
    labels = [text for text in texts if text[-1:] in (":", "=") and len(text.split()) <= _LABEL]
    return len(parts) > 2 and len(labels) == len(texts)


def _end_of_statement(before: str) -> int | None:
    """Where the last clause begins that is only there for the value behind it."""
    bare = before
    while _CLOSED.search(bare):
        bare = _CLOSED.sub(lambda found: "x" * len(found[0]), bare)
    ends = [*_CLAUSE.finditer(bare)]
    edge = len(bare)
    while len(ends) > 1 and ends[-1].end() == edge:
        edge = ends[-2].end()
        if len(bare[edge : ends[-1].start()].split()) > _LABEL:
            break
        ends.pop()
    return ends[-1].start() if ends else None


def quoted(text: str) -> str:
    """The literal in double quotes, as formatters like it."""
    literal = repr(text).replace("$", r"\x24")  # a dollar would name a part of the template
    if literal.startswith("'") and '"' not in text and "\\'" not in literal:
        return f'"{literal[1:-1]}"'
    return literal
