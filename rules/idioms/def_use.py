"""Values that statements of one block hand on to each other."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site
from tclint.semantics.syntax import names_in, nodes

from ..lib.facts.purity import is_pure
from ..lib.facts.reaching import block_of
from ..lib.facts.writes import written

_DRAWING = ("_", "rrelu", "gumbel_softmax", "fractional_max_pool2d", "fractional_max_pool3d")


def statement_of(site: Site, node: ast.AST) -> ast.stmt | None:
    """The innermost statement that a node belongs to."""
    if isinstance(node, ast.stmt):
        return node
    return next((outer for outer in site.ancestors(node) if isinstance(outer, ast.stmt)), None)


def definition(site: Site, name: ast.expr) -> ast.Assign | None:
    """The assignment in the same block that gave a variable the value it has at this read."""
    found = site.flow.definition(name)
    made = found.node if found is not None else None
    if found is None or not isinstance(made, ast.Assign) or made.value is not found.value:
        return None
    return made if reaches(site, made.targets[0], name, [made]) else None


def is_written(node: ast.AST, name: str) -> bool:
    """True for a binding of a variable, a store into it, and a call that works on it in place."""
    match node:
        case ast.Name():
            return node.id == name and not isinstance(node.ctx, ast.Load)
        case ast.Subscript() | ast.Attribute():
            return not isinstance(node.ctx, ast.Load) and _root(node) == name
    return any(_root(owner) == name for owner in written(node))


def _root(node: ast.expr) -> str:
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id


def value_of(site: Site, node: ast.expr) -> ast.expr:
    """What a variable was assigned, followed to where it is computed; else the node itself."""
    while True:
        found = definition(site, node)
        if found is None:
            return node
        node = found.value


def definitions(site: Site, *reads: ast.expr) -> Iterator[ast.Assign]:
    """The assignments that :func:`value_of` goes through, the nearest first."""
    for node in reads:
        found = definition(site, node)
        while found is not None:
            yield found
            found = definition(site, found.value)


def unused_without(
    site: Site, place: ast.expr, parts: Iterable[ast.Assign], needed: Collection[str] = ()
) -> list[ast.Assign] | Decline:
    """The assignments that serve nothing but ``place``, each other, and so on up.

    The ``parts`` are known to compute only; the variables ``needed`` are used still. Declines where
    something would be computed for nothing that may do more than compute.
    """
    meant, gone, dropped = {*parts}, {*nodes(place)}, list[ast.Assign]()
    pending = dict.fromkeys([*meant, *_served(site, place, needed)])
    while pending:
        assignment = max(pending, key=lambda one: one.lineno)
        del pending[assignment]
        made = site.flow.holder(assignment.value)
        reads = None if made is None else site.flow.own_reads(made)
        if reads is None or not gone.issuperset(reads):
            continue
        if assignment not in meant and not _only_computes(site, assignment.value):
            return Decline(f"`{site.text(assignment)}` would be computed for nothing")
        dropped.append(assignment)
        gone.update(nodes(assignment))
        found = _served(site, assignment.value, needed)
        pending.update((one, None) for one in found if one not in dropped)
    return dropped


def _served(site: Site, node: ast.expr, needed: Collection[str]) -> Iterator[ast.Assign]:
    """The assignments of the variables that an expression reads."""
    for name in nodes(node):
        found = definition(site, name) if isinstance(name, ast.Name) else None
        if found is not None and ast.unparse(found.targets[0]) not in needed:
            yield found


def _only_computes(site: Site, node: ast.expr) -> bool:
    """True for what is pure, and for functions of `F` that draw nothing."""
    calls = [part for part in nodes(node) if isinstance(part, ast.Call)]
    names = [site.dotted(call.func) or "" for call in calls]
    functional = [name for name in names if name.startswith("torch.nn.functional.")]
    if not functional or len(functional) < len(calls):
        return is_pure(site, node)
    return not any("drop" in name or name.endswith(_DRAWING) for name in functional)


def removing(fix: Repair, statements: Iterable[ast.stmt]) -> Repair:
    """The repair, with some statements removed as well."""
    return replace(fix, rewrites=(*fix.rewrites, *(Replace(one, "") for one in statements)))


def only_use(site: Site, node: ast.expr) -> ast.expr | None:
    """The one place where a computed value is used: itself, or the only read of its variable."""
    if not isinstance(site.parent(node), ast.Assign):
        return node
    made = site.flow.holder(node)
    reads = None if made is None else site.flow.own_reads(made)
    return reads[0] if reads is not None and len(reads) == 1 else None


def reaches(
    site: Site, node: ast.expr, place: ast.expr, without: Collection[ast.stmt] = ()
) -> bool:
    """True when the variables of ``node`` still hold at ``place`` what they hold at ``node``.

    The statements ``without`` are about to be removed.
    """
    first, last = statement_of(site, node), statement_of(site, place)
    if first is None or last is None or first is last:
        return first is last
    block = block_of(site, first)
    if last not in block:
        return False
    between = [s for s in block[block.index(first) : block.index(last)] if s not in without]
    return not any(
        is_written(n, name) for s in between for n in nodes(s) for name in names_in(node)
    )


def is_one_value(site: Site, x: ast.expr, parts: Iterable[ast.expr], place: ast.expr) -> bool:
    """True when ``x``, wherever ``parts`` are computed from it, is what it is at ``place``."""
    pending, seen = list(parts), set[ast.Assign]()
    while pending:
        for node in nodes(pending.pop()):
            if not isinstance(node, ast.expr):
                continue
            if ast.dump(node) == ast.dump(x):
                if not reaches(site, node, place):
                    return False
            elif (found := definition(site, node)) is not None and found not in seen:
                seen.add(found)
                pending.append(found.value)
    return True
