"""Syntax as the analysis asks for it most often: the kind of a node, and all nodes below one.

mypyc reads a constant without the look-up in a dictionary that ``ast.Name`` costs each time; what
is asked of every expression uses these.
"""

from __future__ import annotations

import ast
from typing import Final

NAME: Final = ast.Name
ATTRIBUTE: Final = ast.Attribute
CALL: Final = ast.Call
COMPARE: Final = ast.Compare
CONSTANT: Final = ast.Constant
SLICE: Final = ast.Slice
STARRED: Final = ast.Starred
PLAIN: Final = frozenset({ast.Name, ast.Attribute, ast.Constant})
"""Expressions that call nothing."""
_AST: Final = ast.AST


def nodes(root: ast.AST) -> list[ast.AST]:
    """The node and all below it, breadth first like `ast.walk`, and native where compiled."""
    found = [root]
    for node in found:  # grows while it is walked
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                found += [part for part in value if isinstance(part, _AST)]
            elif isinstance(value, _AST):
                found.append(value)
    return found
