"""Would anybody notice that a tensor is a new one instead of the one that it was?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tclint.records import record
from tclint.semantics.callees import callees
from tclint.semantics.flow import Definition
from tclint.semantics.lattice import options
from tclint.semantics.ownership import allocates, is_fresh, is_local, is_unshared, read_into
from tclint.semantics.site import Site, once
from tclint.semantics.syntax import beside, end_of, nodes, start_of
from tclint.semantics.values import Tensor
from tclint.torch_facts.memory import READING_FUNCTIONS, gives_no_tensor, is_view

from ..facts.writes import written
from .verdict import PROVED, Changes, Refused, Verdict

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_Part = TypeVar("_Part", bound=ast.AST)
_OUTSIDE = (ast.Yield, ast.YieldFrom, ast.Await)


def judge_copy(site: Site, node: ast.expr | ast.stmt, old: str, new: str | None) -> Verdict:
    """Judge that ``new`` holds a copy of ``old`` after ``node``, where it held the tensor itself.

    ``new`` is None for a value without a name. Nobody can tell where the tensor was computed here
    and nothing else holds it, or where the copy is only read while nothing is written.
    """
    if _is_forgotten(site, node, old, new) or _is_only_read(site, node, new):
        return PROVED
    if is_written_later(site, node, new):
        return Refused(f"`{new}` is written in place later")
    return Changes(
        f"`{new or old}` is a new tensor even where nothing changes: later in-place writes to it "
        f"no longer reach other references to `{old}`, nor the other way round"
    )


def is_written_later(site: Site, node: ast.expr | ast.stmt, name: str | None) -> bool:
    """True where what runs after ``node`` writes into the tensor of a variable."""
    later = () if name is None else runs_after(site, node, site.body.names(name))
    return any(_is_written(site, one) for one in later)


def is_own_result(site: Site, name: str) -> bool:
    """True for a variable that holds nothing but results of operations of this function."""
    return is_local(site, name) and all(gives_result(site, one) for one in site.flow.made(name))


def gives_result(site: Site, made: Definition) -> bool:
    """True for a definition that gives a variable the result of an operation."""
    return isinstance(made.node, ast.AugAssign) or (
        made.value is not None and is_fresh(site, made.value)
    )


def is_let_go(site: Site, node: ast.expr | ast.stmt, old: str, new: str | None) -> bool:
    """True where ``old`` was computed here, and nothing but autograd holds it after ``node``."""
    history = _history(site, node, old)
    if history is None:
        return False
    return new == old or _is_last(site, node, history, old)


def _is_forgotten(site: Site, node: ast.expr | ast.stmt, old: str, new: str | None) -> bool:
    """True where ``old`` was computed here, and nobody can tell whether it is still in use."""
    history = _history(site, node, old)
    if history is None or new != old:
        return history is not None and _is_last(site, node, history, old)
    later = [*runs_after(site, node, site.body.names(old))]
    if any(_asks_which(site, name) for name in later):
        return False
    # Where autograd keeps the old tensor, writing into it makes the backward pass raise.
    unseen = isinstance(history.made.value, ast.BinOp) and not history.outside
    return unseen or not any(_is_written(site, name) for name in (*history.between, *later))


@record()
class _History:
    """How a variable got a new tensor, and its uses since then, which keep nothing of it.

    ``outside`` are those of them that are no part of the node in question; ``end`` is where the
    last of them may stand.
    """

    made: ast.Assign
    between: list[ast.Name]
    outside: list[ast.Name]
    end: tuple[int, int]


def _history(site: Site, node: ast.expr | ast.stmt, name: str) -> _History | None:
    """The history of a variable that alone holds its tensor at ``node``; None for others."""
    if isinstance(site.body.scope, ast.Module) or not is_unshared(site, name):
        return None
    made = _made(site, node, name)
    if made is None:
        return None
    loops = _loops_since(site, node, made)
    end = end_of(loops[-1] if loops else node)
    inside = {id(part) for part in ast.walk(node)}
    between = [n for n in site.body.names(name) if end_of(made) <= start_of(n) < end]
    outside = [one for one in between if id(one) not in inside]
    alone = all(_keeps_nothing(site, one, node) for one in outside)
    return _History(made, between, outside, end) if alone else None


def _is_last(site: Site, node: ast.AST, history: _History, name: str) -> bool:
    """True where nothing of the function uses the variable after ``node``."""
    return history.end == end_of(node) and not [*runs_after(site, node, site.body.names(name))]


def _keeps_nothing(site: Site, name: ast.Name, node: ast.AST) -> bool:
    """True for a read that uses the tensor up, and for an assignment of another new one."""
    if isinstance(name.ctx, ast.Load):
        return _is_consumed(site, name)
    binding = site.parent(name)
    if not isinstance(binding, ast.Assign):
        return False
    return binding.value is node or _is_new(site, binding, name)


def _made(site: Site, node: ast.AST, name: str) -> ast.Assign | None:
    """The assignment of a new tensor that certainly ran before ``node``."""
    inner = node
    for outer in site.ancestors(node):
        for before in reversed(beside(outer, inner)[0]):
            if isinstance(before, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == name for target in before.targets
            ):
                return before if _is_new(site, before, before.targets[0]) else None
        inner = outer
    return None


def _is_new(site: Site, assign: ast.Assign, target: ast.expr) -> bool:
    leaf = isinstance(assign.value, ast.Call) and any(
        keyword.arg == "requires_grad" for keyword in assign.value.keywords
    )
    return assign.targets == [target] and not leaf and is_fresh(site, assign.value)


def _loops_since(site: Site, node: ast.AST, made: ast.AST | None) -> list[ast.AST]:
    """The loops that come back to ``node`` without making the tensor anew, innermost first."""
    around = set(site.ancestors(made)) if made is not None else set()
    loops = [outer for outer in site.ancestors(node) if isinstance(outer, _LOOPS)]
    return [loop for loop in loops if loop not in around]


def _is_consumed(site: Site, node: ast.expr) -> bool:
    """True where nothing keeps the tensor, and nobody sees which one it is."""
    return read_into(site, node) == frozenset() and not _asks_which(site, node)


def _asks_which(site: Site, node: ast.expr) -> bool:
    """True for ``id(x)``, ``x is y``, what says how it was computed, and helpers that may ask."""
    match site.parent(node):
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
            other = right if left is node else left
            return not (isinstance(other, ast.Constant) and other.value is None)
        case ast.Call() as call if callees(site, call):
            return True
        case ast.keyword():
            return True
        case ast.Call(func=ast.Name(id="id")) | ast.Attribute(attr="grad_fn" | "is_leaf"):
            return True
        case ast.Attribute(attr="requires_grad"):
            return True
    return False


def _is_written(site: Site, name: ast.Name) -> bool:
    """True where the tensor is written in place: autograd would see whether it is the old one."""
    owners = (owner for outer in site.ancestors(name) for owner in written(outer))
    return any(name in nodes(owner) for owner in owners)


def _is_only_read(site: Site, node: ast.expr | ast.stmt, new: str | None) -> bool:
    """True where what runs after ``node`` only reads the result, and writes no tensor at all."""
    scope = site.body.scope
    if isinstance(scope, ast.Module) or any(isinstance(n, _OUTSIDE) for n in nodes(scope)):
        return False
    reads: list[ast.expr] = [node] if isinstance(node, ast.expr) and new is None else []
    if new is not None:
        if site.body.is_declared(new) or site.body.defines(new):
            return False
        reads += runs_after(site, node, site.loads(new))
    return all(_is_consumed(site, read) for read in reads) and all(
        _writes_nothing(site, part) for part in runs_after(site, node, nodes(scope))
    )


def runs_after(site: Site, node: ast.AST, parts: Iterable[_Part]) -> Iterator[_Part]:
    """What may run after ``node``: what stands behind it, and all of a loop around it."""
    loops = _loops_since(site, node, None)
    first = start_of(loops[-1]) if loops else end_of(node)
    own = {id(part) for part in ast.walk(node)}
    return (p for p in parts if hasattr(p, "lineno") and id(p) not in own and start_of(p) >= first)


def _writes_nothing(site: Site, node: ast.AST) -> bool:
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.AugAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return False
    return not isinstance(node, ast.Call) or _only_computes(site, node)


def _only_computes(site: Site, call: ast.Call) -> bool:
    if allocates(site, call):
        return True
    reached = callees(site, call)
    if reached:
        return all(not one.open and _is_quiet(one.site) for one in reached)
    if isinstance(call.func, ast.Name):
        return (site.dotted(call.func) or "") in READING_FUNCTIONS
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    tensors = owner is not None and all(isinstance(k, Tensor) for k in options(site.value(owner)))
    name = getattr(call.func, "attr", "")
    return tensors and (gives_no_tensor(name) or is_view(name))


@once
def _is_quiet(site: Site) -> bool:
    """True for a function that writes no tensor, nor does what it calls."""
    site.body.answers[(_is_quiet,)] = False  # where it calls itself
    return all(_writes_nothing(site, part) for part in nodes(site.body.scope)[1:])
