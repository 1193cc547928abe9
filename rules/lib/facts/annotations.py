"""What annotations and docstrings say: is this one number, or a collection of numbers?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

_NUMBERS: Final = frozenset("float int bool complex Number Real Integral".split())
_MAYBE: Final = frozenset("Optional Union None".split())
_DEVICES: Final = frozenset({"device", "str", "int"})
_DESCRIBED: Final = r"^\s*{name}\s*(?::\s*|\()([^\n):]+)"
"""``rate : float`` of numpy's style and ``rate (float, optional):`` of Google's."""
_AROUND: Final = frozenset({"optional", "or", "none", "scalar"})


def is_number_type(annotation: ast.expr) -> bool:
    """True for ``float``, ``int | None``, ``Optional[numbers.Number]`` and their like."""
    names = set(_names(annotation))
    return bool(names & _NUMBERS) and names <= _NUMBERS | _MAYBE


def is_tensor_type(annotation: ast.expr) -> bool:
    """True for ``torch.Tensor``, ``Tensor | float`` and their like."""
    return any(name.endswith("Tensor") for name in _names(annotation))


def is_device_type(annotation: ast.expr) -> bool:
    """True for ``torch.device``, ``str | None``, ``Union[str, torch.device]`` and their like."""
    names = set(_names(annotation)) - _MAYBE
    return bool(names) and names <= _DEVICES


def is_described_as_number(docstring: str | None, name: str) -> bool:
    """True where the docstring gives a parameter a number's type."""
    pattern = _DESCRIBED.format(name=re.escape(name))
    found = re.search(pattern, docstring, re.MULTILINE) if docstring else None
    words = set(re.findall(r"\w+", found[1].lower())) if found else set()
    return bool(words & _NUMBERS) and words <= _NUMBERS | _AROUND


def _names(annotation: ast.expr) -> Iterator[str]:
    match annotation:
        case ast.Constant(value=str() as text):
            yield from _names_in_text(text)
        case ast.Constant(value=value):
            yield "..." if value is Ellipsis else str(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(value=outer, slice=inner):
            yield from (*_names(outer), *_names(inner))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*_names(left), *_names(right))
        case ast.Tuple(elts=members):
            for member in members:
                yield from _names(member)
        case _:
            yield "?"


def _names_in_text(text: str) -> Iterator[str]:
    try:
        written = ast.parse(text, mode="eval")
    except SyntaxError:
        yield "?"
        return
    yield from _names(written.body)
