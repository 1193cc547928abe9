"""The messages of asserts: which ones Dynamo takes, and the literal nearest to one."""

from __future__ import annotations

import ast

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Sequence, SymInt, Tensor

from .plain_text import plain_text


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


def nearest_literal(site: Site, statement: ast.Assert) -> str:
    """A text that says what the message would, but for the values."""
    text = literal_of(site, statement.msg) if statement.msg else None
    if text is None:
        return f"assertion failed: {' '.join(site.text(statement.test).split())}"
    return text


def literal_of(site: Site, message: ast.expr) -> str | None:
    """The text of a message, with names in the place of values; None for one that is not plain."""
    if isinstance(message, ast.Name):
        message = site.module.assigned.get(message.id, message)
    constant = folded(message)
    return plain_text(message) if isinstance(constant, ast.AST) else str(constant)


def quoted(text: str) -> str:
    """The literal in double quotes, as formatters like it."""
    literal = repr(text).replace("$", r"\x24")  # a dollar would name a part of the template
    if literal.startswith("'") and '"' not in text and "\\'" not in literal:
        return f'"{literal[1:-1]}"'
    return literal


def formats_dynamically(site: Site, message: ast.Lambda) -> bool:
    """True where an f-string shows a size or a tensor; the lambda itself is not walked."""
    fields = [n for n in ast.walk(message) if isinstance(n, ast.FormattedValue)]
    names = [n for field in fields for n in ast.walk(field) if isinstance(n, ast.Name)]
    return any(_is_dynamic(site, name) for name in names)


def _is_dynamic(site: Site, name: ast.Name) -> bool:
    known = [site.value(seen) for seen in (*site.stores(name.id), *site.loads(name.id))]
    kinds = [kind for value in known for kind in options(value)]
    return any(isinstance(kind, (Tensor, SymInt)) or _is_size(kind) for kind in kinds)


def _is_size(value: object) -> bool:
    return isinstance(value, Sequence) and value.type == "Size"
