"""Would anybody notice that a tensor is a new one instead of the one that it was?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.lattice import may_be_tensor
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Function, Object, Unknown

from ..proofs.mutation import alias_root
from ..proofs.verdict import PROVED, Changes, Refused, Verdict


def judge_new_tensor(site: Site, statement: ast.stmt, names: set[str]) -> Verdict:
    """Judge that the variables ``names`` hold a copy from ``statement`` on."""
    later = [*_later(site, statement)]
    shared = names | _aliases(site, names)
    if shared == names and all(is_own(site, name) for name in names):
        return PROVED
    for node in later:
        for target in _written(node):
            root = alias_root(site, target)
            if isinstance(root, ast.Name) and root.id in shared:
                return Refused(f"`{root.id}` is written in place")
    read = {n.id for n in later if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    others = sorted((shared - names) & read)
    handed = any(_hands_out(node, names, set(others)) for node in later)
    if others and (handed or any(_gives_away(site, node, shared) for node in later)):
        return Changes(
            f"`{others[0]}` no longer shares memory with `{min(names)}` in code that gets both"
        )
    return PROVED


def is_own(site: Site, name: str) -> bool:
    """True for a variable that holds nothing but results of operations of this function."""
    stores = [site.parent(store) for store in site.stores(name)]
    return name not in _parameters(site) and all(
        isinstance(store, ast.AugAssign)
        or (isinstance(store, ast.Assign) and _is_fresh(site, store.value))
        for store in stores
    )


def _parameters(site: Site) -> set[str]:
    return {part.arg for part in nodes(site.body.scope) if isinstance(part, ast.arg)}


def _is_fresh(site: Site, value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Compare):
        return True
    if not isinstance(value, ast.Call) or any(k.arg == "inplace" for k in value.keywords):
        return False
    # Functions of the project, and modules, may hand back what they were given.
    known = not isinstance(site.value(value.func), (Function, Object, Unknown))
    return known and alias_root(site, value) is None


def _later(site: Site, statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes that may run after a statement, itself included where it is in a loop."""
    end = statement.end_lineno or statement.lineno
    loops = bool(site.facts.loops)
    for node in nodes(site.body.scope):
        if loops or getattr(node, "lineno", 0) > end:
            yield node


def _aliases(site: Site, names: set[str]) -> set[str]:
    """Variables that were assigned from one of ``names`` or a view of it, or the other way."""
    found: set[str] = set()
    for node in nodes(site.body.scope):
        if not isinstance(node, ast.Assign):
            continue
        root = alias_root(site, node.value)
        for target in node.targets:
            pair = {n.id for n in (root, target) if isinstance(n, ast.Name)}
            if len(pair) == 2 and pair & names and isinstance(root, ast.Name):
                tensor = may_be_tensor(site.value(root)) or root.id in names
                found |= pair - names if tensor else set()
    return found


def _written(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.AugAssign(target=target):
            yield target
        case ast.Assign(targets=targets):
            yield from (t for t in targets if isinstance(t, ast.Subscript))
        case ast.Call(func=function, args=arguments, keywords=keywords):
            yield from (k.value for k in keywords if k.arg == "out")
            if isinstance(function, ast.Attribute) and function.attr.endswith("_"):
                yield from (function.value, *arguments[:1])
            if any(k.arg == "inplace" for k in keywords):
                yield from arguments[:1]


def _gives_away(site: Site, node: ast.AST, names: set[str]) -> bool:
    """True for a call of the project's own code, or of a module, with one of ``names``."""
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return isinstance(site.value(node.func), (Function, Object)) and any(
        isinstance(g, ast.Name) and g.id in names for g in given
    )


def _hands_out(node: ast.AST, names: set[str], others: set[str]) -> bool:
    """True where the caller gets both: it may see that they are one tensor, and write into it."""
    if not isinstance(node, (ast.Return, ast.Yield)):
        return False
    given = {part.id for part in nodes(node) if isinstance(part, ast.Name)}
    return bool(given & names) and bool(given & others)
