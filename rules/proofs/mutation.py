"""Is the storage behind an expression written later, so that a view of it would change?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.site import Site
from tclint.semantics.values import Function, Object, Tensor

from .purity import VIEWS


def needs_copy(site: Site, source: ast.expr) -> bool:
    """True when a tensor kept from ``source`` may see writes that a number would not.

    Results of computing operations are fresh: nobody else can write them. Names and attributes,
    and views of them, are checked for in-place writes in this function; buffers and other
    attributes may also be written by the methods that it calls.
    """
    root = alias_root(site, source)
    if root is None:
        return False
    if isinstance(root, ast.Attribute):
        value = site.value(root)
        if not (isinstance(value, Tensor) and value.role == "parameter"):
            return True
    names = _aliases(site, _key(root))
    return any(True for _ in _writes(site, names, source))


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


def _key(root: ast.Name | ast.Attribute) -> str:
    return ast.unparse(root)


def _aliases(site: Site, name: str) -> set[str]:
    """All names of the function that share storage with ``name`` through views, both ways."""
    pairs = []
    for node in ast.walk(site.body.scope):
        if isinstance(node, ast.Assign):
            for source in _may_return(site, node.value):
                root = alias_root(site, source)
                if root is not None:
                    pairs += [(ast.unparse(t), _key(root)) for t in node.targets]
    names = {name}
    while True:
        more = {p for pair in pairs if names & set(pair) for p in pair}
        if more <= names:
            return names
        names |= more


def _may_return(site: Site, value: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose storage a value may share: a called module may hand its input back."""
    yield value
    if isinstance(value, ast.Call) and isinstance(site.value(value.func), (Function, Object)):
        yield from value.args


def _writes(site: Site, names: set[str], source: ast.expr) -> Iterator[ast.AST]:
    """Writes into the storage of ``names`` that may run after ``source`` was read."""
    for node in ast.walk(site.body.scope):
        if not isinstance(node, (ast.Call, ast.Assign, ast.AugAssign)):
            continue
        before = (node.end_lineno or 0, node.end_col_offset or 0) <= (
            source.lineno,
            source.col_offset,
        )
        if before and not site.facts.loops:
            continue
        for target in _written(site, node):
            root = alias_root(site, target)
            if root is not None and _key(root) in names:
                yield node


def _written(site: Site, node: ast.Call | ast.Assign | ast.AugAssign) -> Iterator[ast.expr]:
    if isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Assign):
        yield from (t for t in node.targets if isinstance(t, ast.Subscript))
    elif _may_write_arguments(site, node):
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)
    else:
        yield from (k.value for k in node.keywords if k.arg == "out")
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr.endswith("_"):
            yield method.value


def _may_write_arguments(site: Site, call: ast.Call) -> bool:
    """True for the project's own functions, modules (``nn.ReLU(inplace=True)``) and ``f_``."""
    if any(keyword.arg == "inplace" for keyword in call.keywords):
        return True
    dotted = site.dotted(call.func) or ""
    if dotted.startswith("torch."):
        return dotted.endswith("_")
    return isinstance(site.value(call.func), (Function, Object))
