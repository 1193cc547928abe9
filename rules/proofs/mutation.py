"""Which variable or attribute shares its storage with an expression?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .purity import VIEWS


def alias_root(site: Site, node: ast.expr) -> ast.Name | ast.Attribute | None:
    """The name or attribute whose storage ``node`` shares; None for a freshly computed tensor."""
    while True:
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Attribute):
            if node.attr not in VIEWS or not isinstance(site.value(node.value), Tensor):
                return node
            node = node.value
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in VIEWS and not node.func.attr.endswith("_"):
                return None
            torch_function = (site.dotted(node.func) or "").startswith("torch.")
            if torch_function and not node.args:
                return None
            node = node.args[0] if torch_function else node.func.value
        else:
            return None
