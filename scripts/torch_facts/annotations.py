"""From a return annotation to a kind code such as ``tensor``, ``tensor*2`` or ``int|none``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

SIMPLE = {
    "Tensor": "tensor",
    "Parameter": "tensor",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "SymFloat": "float",
    "bool": "bool",
    "SymBool": "bool",
    "Number": "number",
    "complex": "number",
    "Size": "size",
    "size": "size",
    "dtype": "dtype",
    "device": "device",
    "None": "none",
    "NoReturn": "none",
    "str": "str",
    "list": "list",
    "List": "list",
    "tuple": "tuple",
    "Tuple": "tuple",
}
ORDER = ("tensor", "tensors", "bool", "int", "float", "number", "size", "dtype", "device", "str")


def joined(codes: Iterable[str]) -> str:
    """The codes of several overloads as one, alternatives in a fixed order."""
    flat = {part for code in codes for part in code.split("|")}
    return "|".join(sorted(flat, key=_rank))


def _rank(code: str) -> tuple[int, str]:
    if code == "none":
        return (99, code)
    family = code.partition("*")[0]
    return (ORDER.index(family) if family in ORDER else 50, code)


class Annotations:
    """Reads annotations; ``named`` gives the codes of ``torch.return_types`` classes."""

    def __init__(self, named: Mapping[str, str]) -> None:
        """Remember the named tuples."""
        self._named = named

    def code(self, annotation: ast.expr | str | None, own: str = "other") -> str:
        """The code of an annotation; ``own`` is what ``Self`` stands for."""
        if isinstance(annotation, str):
            annotation = ast.parse(annotation, mode="eval").body
        match annotation:
            case None:
                return "other"
            case ast.Constant(value=None):
                return "none"
            case ast.Constant(value=str(text)):
                return self.code(text, own)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return joined((self.code(left, own), self.code(right, own)))
            case ast.Subscript(value=head, slice=inner):
                return self._generic(_last(head), inner, own)
            case ast.Attribute() | ast.Name():
                return self._plain(annotation, own)
        return "other"

    def _plain(self, node: ast.expr, own: str) -> str:
        name = _last(node)
        if "return_types" in ast.unparse(node):
            return self._named.get(name, "tuple")
        if name == "Self":
            return own
        return SIMPLE.get(name, "other")

    def _generic(self, head: str, inner: ast.expr, own: str) -> str:
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if head == "Optional":
            return joined((self.code(parts[0], own), "none"))
        if head == "Union":
            return joined(self.code(part, own) for part in parts)
        if head == "Literal":
            return joined(type(ast.literal_eval(part)).__name__ for part in parts)
        if head in {"tuple", "Tuple"}:
            return self._tuple(parts, own)
        if head in {"list", "List", "Sequence"}:
            return "tensors" if self.code(parts[0], own) == "tensor" else "list"
        return "bool" if head in {"TypeIs", "TypeGuard"} else "other"

    def _tuple(self, parts: list[ast.expr], own: str) -> str:
        open_ended = len(parts) == 2 and ast.unparse(parts[1]) == "..."
        codes = {self.code(part, own) for part in (parts[:1] if open_ended else parts)}
        if codes != {"tensor"}:
            return "tuple"
        return "tensors" if open_ended else f"tensor*{len(parts)}"


def _last(node: ast.expr) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
    return name.rpartition(".")[2].removeprefix("_")


def schema_code(types: list[str]) -> str:
    """The code of an operator schema's returns, e.g. ``["Tensor", "Tensor"]``."""
    if types and set(types) == {"Tensor"}:
        return "tensor" if len(types) == 1 else f"tensor*{len(types)}"
    if not types:
        return "none"
    if len(types) > 1:
        return "tuple"
    if re.fullmatch(r"(List\[Tensor\]|Tensor\[\])", types[0]):
        return "tensors"
    return SIMPLE.get(types[0], "other")
