"""What a parameter is by what its function, and those that it is passed to, say of it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, TypeGuard

from tclint.regexes import regex
from tclint.semantics.interpreter.annotations import annotation_value
from tclint.semantics.interpreter.uses import Sign, Use, uses_of
from tclint.semantics.lattice import options
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.values import (
    Function,
    Mapping,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis


def use_of(analysis: Analysis, info: FunctionInfo, name: str) -> Use:
    """What is done with a parameter, here and in the functions that it is passed to."""
    uses = uses_of(analysis, info.node)
    if not uses.followed:
        uses.followed = True
        _read_docstring(info, uses.parameters)
        for func, place, use in uses.passed:
            for callee in _callees(analysis, info, func):
                _follow(analysis, callee, place, use)
    return uses.parameters.get(name) or Use()


def _callees(analysis: Analysis, info: FunctionInfo, func: ast.expr) -> list[Function]:
    """The functions of the project that a call leads to, by its name and what `__init__` made."""
    match func:
        case ast.Name(id=name):
            found = analysis.global_value(info.module, name)
            return [found] if isinstance(found, Function) else []
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if info.cls is not None:
            method = analysis.project.method(info.cls, name)
            if method is not None:
                return [Function(method, bound=Tensor())]
            held = analysis.attributes.get(info.cls, {}).get(name)
            layers = [kind.cls for kind in options(held) if _is_layer(kind)] if held else []
            called = [analysis.project.method(cls, "forward") for cls in layers if cls]
            return [Function(forward, bound=Tensor()) for forward in called if forward]
    return []


def _is_layer(value: Value) -> TypeGuard[Object]:
    return isinstance(value, Object) and value.is_module


def _follow(analysis: Analysis, callee: Function, place: int | str, use: Use) -> None:
    info = callee.info
    signature = analysis.signature(info.node)
    if isinstance(place, str):
        name = place
    else:
        hidden = callee.bound is not None and "staticmethod" not in info.decorators
        place += hidden
        if place >= signature.by_position:
            return
        name = signature.names[place]
    for argument, _ in signature.named:
        if argument.arg == name:
            _learn(use, annotation_value(analysis, info, argument.annotation))
            use.add(use_of(analysis, info, name))


def _learn(use: Use, promised: Value) -> None:
    """Take over what an annotation promises."""
    for kind in options(promised):
        match kind:
            case Tensor():
                use.signs.add(Sign.TENSOR)
            case Static(type="str"):
                use.signs.add(Sign.TEXT)
            case Static(type="int" | "float" | "bool") | SymInt():
                use.signs.add(Sign.NUMBER)
            case Mapping():
                use.signs.add(Sign.MAPPING)
            case Sequence(items=items, element=element):
                use.signs.add(Sign.SEQUENCE)
                for member in items if items is not None else (element,):
                    _learn(use.of_member(), member)


_DESCRIBED: Final = (
    regex(r"^[ \t]*\*{0,2}(\w+)\s*\((.+?)\)\s*:", re.MULTILINE),  # Google's style
    regex(r"^[ \t]*:type\s+(\w+)\s*:\s*(.+)$", re.MULTILINE),
    regex(r"^[ \t]*:param\s+([\w\[\]., |]+)\s+(\w+)\s*:", re.MULTILINE),
    regex(r"^[ \t]*(\w+)\s*:\s*([\w\[\]|, ]+)$", re.MULTILINE),  # numpy's
)


def _read_docstring(info: FunctionInfo, uses: dict[str, Use]) -> None:
    """Learn what the docstring says of the parameters' types."""
    node = info.node
    text = None if isinstance(node, ast.Lambda) else ast.get_docstring(node, clean=False)
    for pattern in _DESCRIBED if text else ():
        for found in pattern.finditer(text or ""):
            name, kind = found.groups()
            if name not in uses:
                name, kind = kind, name
            if name in uses:
                _learn_words(uses[name], kind)


def _learn_words(use: Use, text: str) -> None:
    kinds = [kind for word in _words(text) if (kind := _kind(word)) is not None]
    if len(kinds) == len(_words(text)):
        for kind in kinds:
            _learn(use, kind)


def _words(text: str) -> list[str]:
    """The alternatives that a description names."""
    text = re.sub(r"`|:\w+:|\boptional\b.*|\bdefault.*", "", text).strip(" ,.")
    return [word.strip(" ,") for word in re.split(r"\||\bor\b|/", text)] if text else []


_NUMBER: Final = r"(?:int|float|bool|integer|boolean|number)s?"
_TEXT: Final = r"(?:str|string)s?"
_DICT: Final = r"dict(?:\[[\w\[\], ]*\])?s?|dictionary"
_MANY: Final = r"(?:list|tuple|sequence|iterable)\s*(?:of|\[|\()\s*"
_KINDS: Final = tuple(
    (regex(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (_TEXT, Static("str")),
        (_DICT, Mapping()),
        (rf"{_MANY}(?:{_DICT})[\])]?", Sequence("list", Mapping())),
        (rf"{_MANY}{_NUMBER}(?:,\s*(?:{_NUMBER}|\.\.\.))*[\])]?", Sequence("list", Static("int"))),
        (rf"{_MANY}{_TEXT}[\])]?", Sequence("list", Static("str"))),
        (r"(?:torch\.)?(?:\w*tensor)", Tensor()),
    )
)


def _kind(word: str) -> Value | None:
    """What a word of a docstring stands for; None for what is not known.

    Nothing is learned of single numbers: callers pass tensors of no dimensions for them, too.
    """
    return next((kind for pattern, kind in _KINDS if pattern.fullmatch(word)), None)
