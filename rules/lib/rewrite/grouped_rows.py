"""Rows in groups, whose sizes a tensor holds: compiled code computes all rows for each group.

The usual form is a mixture of experts whose tokens are sorted by expert::

    sizes = gates.long().sum(0).tolist()
    parts = x.split(sizes, dim=0)
    outs = []
    for i in range(experts):
        outs.append(F.linear(parts[i], weight[i]))
    y = torch.cat(outs, dim=0)

The list may be returned and passed on between the two. Eager code stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.records import record
from tclint.semantics.bounds import Bound
from tclint.semantics.callees import seen_callees
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_local
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Tensor, Unknown

from ..facts.known import certain_tensor, is_parameter
from ..facts.purity import is_pure
from ..facts.reaching import block_of

_MESSAGE: Final = (
    "In compiled code, keep the sizes on the device, compute all rows for each group and choose; "
    "eager code stays as it is"
)
_CHANGES: Final = (
    "compiled code computes every row once for each group, which takes longer, the last bits of "
    "results may differ, and infinity or NaN in a row may spread to gradients of all groups; it "
    "assumes that the groups hold all rows"
)
_LINEAR: Final = "torch.nn.functional.linear"
STEPS: Final = Bound(16, "steps from a list to where its groups are split", hides=False)


@record(frozen=True)
class _Group:
    """``parts = rows.split(sizes)`` up to ``result = torch.cat(outs)``."""

    site: Site
    split: ast.Call
    rows: ast.Name
    sizes: ast.Name
    count: ast.expr
    joined: ast.Assign
    result: ast.Name


def group_rows(site: Site, read: ast.expr, source: ast.expr) -> Repair | None:
    """Keep the tensor that ``read`` makes a list of, where all that it is for is such a split."""
    spelled = site.spell("torch.compiler.is_compiling")
    tensor = certain_tensor(site, source)
    if spelled is None or tensor is None or tensor.rank != 1 or not is_pure(site, source):
        return None
    if tensor.dtype is None or tensor.dtype.category != "int":
        return None
    way = _Way(site)
    if not way.leads_to_groups(site, read, (), STEPS.most) or not way.groups:
        return None
    kept = Replace(read, f"$sizes if {spelled}() else $read", {"sizes": source, "read": read})
    rewrites: list[Rewrite] = [kept]
    for group in way.groups.values():
        if not way.is_only_way(group):
            return None
        made = _chosen(group)
        if made is None:
            return None
        rewrites += made
    return Repair(_MESSAGE, tuple(rewrites), Change.BEHAVIOUR, _CHANGES)


class _Way:
    """Where a list goes: through variables, tuples, returns and arguments, in one file."""

    def __init__(self, site: Site) -> None:
        """``groups`` are the splits that it ends at."""
        self._module = site.module
        self._seen: set[tuple[ast.AST, tuple[int, ...]]] = set()
        self._passed: set[ast.Call] = set()
        self.groups: dict[ast.Call, _Group] = {}

    def leads_to_groups(
        self, site: Site, node: ast.expr, path: tuple[int, ...], depth: int
    ) -> bool:
        """True where all uses of ``node``, or of the member at ``path`` in it, are groups."""
        if not depth:
            STEPS.cut()
        if not depth or site.module is not self._module:
            return False
        if (node, path) in self._seen:
            return True
        self._seen.add((node, path))
        parent = site.parent(node)
        match parent:
            case ast.Tuple(elts=members, ctx=ast.Load()):
                if any(isinstance(one, ast.Starred) for one in members):
                    return False
                place = next(i for i, one in enumerate(members) if one is node)
                return self.leads_to_groups(site, parent, (place, *path), depth)
            case ast.Subscript(value=value, slice=ast.Constant(value=int() as place)) if (
                value is node and path
            ):
                return place != path[0] or self.leads_to_groups(site, parent, path[1:], depth)
            case ast.Assign(targets=[target], value=value) if value is node:
                return self._is_bound(site, parent, target, path, depth)
            case ast.Return():
                return self._is_returned(site, path, depth)
            case ast.Call(args=arguments) if node in arguments:
                group = _group(site, parent, node) if not path else None
                if group is not None:
                    self.groups[parent] = group
                    return True
                return self._is_passed(site, parent, node, path, depth)
            case ast.keyword():
                call = site.parent(parent)
                return isinstance(call, ast.Call) and self._is_passed(site, call, node, path, depth)
        return False

    def is_only_way(self, group: _Group) -> bool:
        """True where what is split is never a list that comes from elsewhere."""
        body = group.site.body
        named = is_parameter(group.site, group.sizes.id)
        return not named or all(call in self._passed for call in body.calls)

    def _is_bound(
        self, site: Site, statement: ast.Assign, target: ast.expr, path: tuple[int, ...], depth: int
    ) -> bool:
        if isinstance(target, ast.Tuple) and path:
            if any(isinstance(one, ast.Starred) for one in target.elts):
                return False
            if path[0] >= len(target.elts):
                return False
            return self._is_bound(site, statement, target.elts[path[0]], path[1:], depth)
        if not isinstance(target, ast.Name) or not is_local(site, target.id):
            return False
        later = [s for s in site.stores(target.id) if s.lineno > target.lineno]
        loads = [load for load in site.loads(target.id) if load.lineno > statement.lineno]
        return not later and all(self.leads_to_groups(site, x, path, depth - 1) for x in loads)

    def _is_returned(self, site: Site, path: tuple[int, ...], depth: int) -> bool:
        calls = site.body.calls
        return bool(calls) and all(
            self.leads_to_groups(caller, call, path, depth - 1)
            for call, (caller, _) in calls.items()
        )

    def _is_passed(
        self, site: Site, call: ast.Call, given: ast.expr, path: tuple[int, ...], depth: int
    ) -> bool:
        reached = seen_callees(site, call)
        self._passed.add(call)
        return bool(reached) and all(
            self._is_taken(one.site, one.parameter(call, given), path, depth) for one in reached
        )

    def _is_taken(self, site: Site, name: str | None, path: tuple[int, ...], depth: int) -> bool:
        if name is None:
            return False
        loads = site.loads(name)
        return not site.stores(name) and all(
            self.leads_to_groups(site, load, path, depth - 1) for load in loads
        )


def _group(site: Site, call: ast.Call, sizes: ast.expr) -> _Group | None:
    """The statements around ``rows.split(sizes)``, if they are those of the usual form."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as rows, attr="split"),
            args=[ast.Name() as given],
            keywords=keywords,
        ) if given is sizes and _are_first(keywords):
            pass
        case _:
            return None
    made = site.parent(call)
    if not isinstance(made, ast.Assign) or not _is_seen_as_tensor(site, rows):
        return None
    block = block_of(site, made)
    start = block.index(made)
    match block[start : start + 4]:
        case [
            ast.Assign(targets=[ast.Name(id=parts)]),
            ast.Assign(targets=[ast.Name(id=outs)], value=ast.List(elts=[])),
            ast.For(
                target=ast.Name(id=index),
                iter=ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]),
                body=[
                    ast.Expr(
                        value=ast.Call(
                            func=ast.Attribute(value=ast.Name(id=collected), attr="append"),
                            args=[value],
                            keywords=[],
                        )
                    )
                ],
                orelse=[],
            ),
            ast.Assign(
                targets=[ast.Name() as result],
                value=ast.Call(args=[ast.Name(id=joined), *places], keywords=more) as cat,
            ) as last,
        ]:
            pass
        case _:
            return None
    if not (collected == joined == outs) or site.dotted(cat.func) != "torch.cat":
        return None
    if not (_are_first(more) and (not places or _is_zero(places[0])) and len(places) < 2):
        return None
    if len(site.loads(parts)) != 1 or len(site.loads(outs)) != 2 or not is_pure(site, count):
        return None
    if not _computes_rows(site, value, parts, index):
        return None
    return _Group(site, call, rows, sizes, count, last, result)


def _is_seen_as_tensor(site: Site, node: ast.expr) -> bool:
    """True where some call brings a tensor, and none is known to bring something else."""
    kinds = [*options(site.value(node))]
    tensors = [kind for kind in kinds if isinstance(kind, Tensor)]
    return bool(tensors) and all(isinstance(kind, (Tensor, Unknown)) for kind in kinds)


def _are_first(keywords: list[ast.keyword]) -> bool:
    """True for ``dim=0``, which is the default too."""
    return all(one.arg == "dim" and _is_zero(one.value) for one in keywords)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and node.value is not False


def _computes_rows(site: Site, value: ast.expr, parts: str, index: str) -> bool:
    """True for a linear map of ``parts[index]``, which computes each row by itself."""
    match value:
        case ast.Call(func=func, args=[part, *weights], keywords=[]) if (
            site.dotted(func) == _LINEAR and weights
        ):
            pass
        case ast.BinOp(left=part, op=ast.MatMult(), right=weight):
            weights = [weight]
        case _:
            return False
    match part:
        case ast.Subscript(value=ast.Name(id=one), slice=ast.Name(id=two)):
            if (one, two) != (parts, index):
                return False
        case _:
            return False
    return all(is_pure(site, weight) and parts not in _names(weight) for weight in weights)


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in nodes(node) if isinstance(part, ast.Name))


def _chosen(group: _Group) -> list[Rewrite] | None:
    """Every group gets all rows, and each row is taken from the result of its group."""
    site = group.site
    names = [site.spell(f"torch.{one}") for one in ("Tensor", "arange", "searchsorted")]
    if any(name is None for name in names):
        return None
    tensor, arange, search = names
    rows, sizes, result = group.rows.id, group.sizes.id, group.result.id
    if rows == result:
        return None
    test = f"isinstance({sizes}, {tensor})"
    length = f"{rows}.shape[0]"
    places = f"{arange}({length}, device={rows}.device)"
    template = (
        f"if {test}:\n"
        f"    rows = {places}\n"
        f"    groups = {search}({sizes}.cumsum(0), rows, right=True)\n"
        f"    {result} = {result}[groups * {length} + rows]"
    )
    if any(site.body.names(one) or is_parameter(site, one) for one in ("rows", "groups")):
        return None
    every = f"[{rows}] * $count if {test} else $split"
    return [
        Replace(group.split, every, {"count": group.count, "split": group.split}),
        Insert(group.joined, template, after=True),
    ]
