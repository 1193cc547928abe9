"""Is this for compiled code only, or is it what eager code still does?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site

_ASKS_COMPILING = ("is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling")


def is_compiled_only(site: Site, node: ast.AST) -> bool:
    """True below `if torch.compiler.is_compiling():`, where eager code never comes."""
    inner: ast.AST = node
    for outer in site.ancestors(node):
        if isinstance(outer, ast.If):
            test, branch = outer.test, outer.body
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, branch = test.operand, outer.orelse
            if inner in branch and isinstance(test, ast.Call):
                dotted = site.dotted(test.func) or ""
                if dotted.rpartition(".")[2] in _ASKS_COMPILING:
                    return True
        inner = outer
    return False


def is_compiled_aside(site: Site, node: ast.AST) -> bool:
    """True in the `else` of a test that asks first whether code is being compiled."""
    inner: ast.AST = node
    for outer in site.ancestors(node):
        if isinstance(outer, ast.If) and inner in outer.orelse:
            first = outer.test.values[0] if isinstance(outer.test, ast.BoolOp) else outer.test
            asks = isinstance(first, ast.Call) and site.dotted(first.func)
            if asks and asks.endswith((".is_compiling", ".is_dynamo_compiling")):
                return True
        inner = outer
    return False
