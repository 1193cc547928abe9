"""Training loops: what every one of their steps does."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from tclint.regexes import regex
from tclint.semantics.site import Site
from tclint.semantics.syntax import beside, children, last_name, names_in
from tclint.semantics.training import StepBody

_NESTED: Final = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
)
_OFTEN: Final = regex(r"log|interval|every|should|freq|verbose|print", re.IGNORECASE)


def own_nodes(loop: StepBody) -> Iterator[ast.AST]:
    """What a loop's body holds, without the loops and functions inside of it."""
    pending: list[ast.AST] = list(reversed(loop.body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _NESTED):
            pending.extend(reversed(children(node)))


def called(node: ast.AST) -> str:
    """The last name that a call calls; empty for everything else."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def runs_every_time(
    site: Site, node: ast.AST, loop: StepBody, others: Collection[ast.AST] = ()
) -> bool:
    """True when nothing between a node and its loop says that it runs only sometimes.

    Nor does an `if` where one of the ``others`` runs in its other branch.
    """
    inner = node
    for outer in site.ancestors(node):
        if _is_left_before(outer, inner):
            return False
        if outer is loop:
            return True
        if isinstance(outer, _NESTED):
            return False
        if _decides_about(outer, inner) and not _holds_otherwise(outer, inner, others):
            return False
        inner = outer
    return False


def _decides_about(outer: ast.AST, inner: ast.AST) -> bool:
    """True where the outer node evaluates the inner one sometimes, and not to decide."""
    match outer:
        case ast.If(test=test, body=body):
            return inner is not test and not (inner in body and _asks_for_gpu(test))
        case ast.IfExp(test=test, body=taken):
            return inner is not test and not (inner is taken and _asks_for_gpu(test))
        case ast.Match(subject=subject):
            return inner is not subject
        case ast.BoolOp(values=[first, *_]):
            return inner is not first
    return isinstance(outer, ast.ExceptHandler)


def _asks_for_gpu(test: ast.expr) -> bool:
    """True for `torch.cuda.is_available()` and `device.type == "cuda"`: the same in each step."""
    match test:
        case ast.Call(func=ast.Attribute(attr="is_available"), args=[]):
            return True
        case ast.Compare(
            left=ast.Attribute(attr="type"), ops=[ast.Eq()], comparators=[ast.Constant(value=name)]
        ):
            return name in ("cuda", "xpu")
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("use_cuda", "cuda", "use_gpu", "on_gpu")
    return False


def _holds_otherwise(outer: ast.AST, inner: ast.AST, others: Collection[ast.AST]) -> bool:
    """True for an `if` whose other branch has one of the nodes."""
    if not isinstance(outer, ast.If) or not others:
        return False
    branch = outer.orelse if inner in outer.body else outer.body
    return any(node in others for part in branch for node in ast.walk(part))


def _is_left_before(outer: ast.AST, inner: ast.AST) -> bool:
    """True where the block ends before a statement in most steps: `if i % 100: continue`."""
    before, _ = beside(outer, inner)
    return any(map(_leaves_mostly, before))


def _leaves_mostly(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(test=test, body=[*_, ast.Continue() | ast.Return()]):
            return any(_says_how_often(part) for part in ast.walk(test))
    return False


def _says_how_often(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.Mod()):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _OFTEN.search(name) is not None
    return False


def differentiates(node: ast.AST) -> ast.expr | None:
    """What a call that runs `backward` is made of, or None for everything else."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name, value=owner)) if "backward" in name:
            return owner
        case ast.Call(func=ast.Name(id=name) as owner) if "backward" in name:
            return owner
        case ast.Call(func=owner, args=[_, _, *_]) if "scaler" in called(node):
            return owner
    return None


@lru_cache(maxsize=1)  # the rules about a loop ask one after the other
def differentiated(loop: StepBody) -> tuple[tuple[ast.Call, frozenset[str]], ...]:
    """The calls that run `backward` in a step, with the variables that they differentiate."""
    found = []
    for node in own_nodes(loop):
        owner = differentiates(node) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and owner is not None:
            found.append((node, frozenset(names_in(owner, *node.args) - {"self"})))
    return tuple(found)


def is_test(site: Site, loop: StepBody) -> bool:
    """True in a function that test runners collect by its name: it is not there to be fast."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    outer = (node for node in site.ancestors(loop) if isinstance(node, functions))
    return any(node.name.startswith("test_") for node in outer)
