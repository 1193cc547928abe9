"""What loops over the tensors of modules go over, and how the same tensors are written as lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.records import record
from tclint.regexes import regex
from tclint.semantics.bounds import Bound
from tclint.semantics.site import Site
from tclint.semantics.syntax import last_name, names_in, nodes

Loop = ast.For | ast.ListComp | ast.GeneratorExp
_OF_MODULES: Final = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_STATES: Final = frozenset({"state_dict"})
_VIEWS: Final = frozenset({"items", "values", "keys"})
_WRAPPERS: Final = frozenset({"list", "tuple", "dict", "OrderedDict", "chain", "reversed"})
LISTS: Final = Bound(8, "variables to see that a loop runs over tensors")
_NAMED: Final = regex(r"param|weights|_ps$", re.IGNORECASE)


@record(frozen=True)
class Names:
    """What a loop binds, and the expressions that it goes over."""

    bound: frozenset[str]
    target: ast.expr
    iterable: ast.expr


def loop_names(loop: Loop) -> Names | None:
    """What the loop binds; None for a comprehension of several loops, or with a condition."""
    if isinstance(loop, ast.For):
        target, iterable = loop.target, loop.iter
    elif len(loop.generators) == 1:
        target, iterable = loop.generators[0].target, loop.generators[0].iter
    else:
        return None
    bound = frozenset(names_in(target))
    return Names(bound, target, iterable)


def is_over_tensors(site: Site, node: ast.expr) -> bool:
    """True for what gives the parameters or the state of a module, and for lists of these."""
    return any(_gives_tensors(site, part, LISTS.most) for part in _parts(node))


def may_be_gone_over_twice(site: Site, node: ast.expr) -> bool:
    """True for an expression that starts anew each time, and false for what may be an iterator."""
    match node:
        case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
            return all(may_be_gone_over_twice(site, part) for part in args)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _OF_MODULES | _VIEWS
        case ast.Call(func=ast.Name(id=name)):
            return name in ("list", "tuple", "dict", "range")
        case ast.Name():
            made = site.flow.value(node)
            return isinstance(made, (ast.List, ast.ListComp, ast.Dict, ast.Tuple)) or (
                isinstance(made, ast.Call) and last_name(made.func) in ("list", "tuple", "dict")
            )
    return False


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "tqdm"), args=args):
            for argument in args:
                yield from _parts(argument)
        case _:
            yield node


def _gives_tensors(site: Site, node: ast.expr, depth: int) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _VIEWS:
            return _gives_tensors(site, owner, depth)
        case ast.Call(func=func, args=args):
            if last_name(func) in _OF_MODULES | _STATES:
                return True
            wraps = last_name(func) in _WRAPPERS or last_name(func) in ("from_iterable", "filter")
            return wraps and any(_gives_tensors(site, one, depth) for one in args)
        case ast.ListComp(generators=[ast.comprehension(iter=inner)]):
            return _gives_tensors(site, inner, depth)
        case ast.Name(id=name):
            made = site.flow.value(node)
            if made is not None and depth:
                return _gives_tensors(site, made, depth - 1)
            if made is not None:
                LISTS.cut()
            return made is None and _NAMED.search(name) is not None
        case ast.Attribute(attr=name):
            return _NAMED.search(name) is not None
    return False


def is_of_a_state(site: Site, node: ast.expr) -> bool:
    """True for what comes from a `state_dict()`, which holds tied tensors once for each name."""
    for part in nodes(node):
        if isinstance(part, ast.Attribute) and part.attr in _STATES:
            return True
        if isinstance(part, ast.Name):
            made = site.flow.value(part)
            if made is not None and any(
                isinstance(n, ast.Attribute) and n.attr in _STATES for n in nodes(made)
            ):
                return True
    return False
