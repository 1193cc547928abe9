"""Random numbers that decide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import NumpyScalar, Tensor

VARIABLES = Bound(2, "variables to see that a number is drawn", hides=False)


def decides_at_random(site: Site, test: ast.expr) -> bool:
    """True when a test asks nothing but a random number that was drawn in this region."""
    kinds = list(options(site.value(test)))
    if any(isinstance(kind, Tensor) for kind in kinds):
        return any(isinstance(k, Tensor) and k.random for k in kinds) and _all_random(site, test)
    return bool(draws_in(site, test))


def draws_in(site: Site, test: ast.expr) -> list[ast.Call]:
    """The calls of Python's ``random``, as Dynamo traces them, whose numbers a test asks about."""
    numbers = [kind for kind in options(site.value(test)) if isinstance(kind, NumpyScalar)]
    return [call for number in numbers if number.is_drawn for call in number.made]


def is_number_of_library(site: Site, test: ast.expr) -> bool:
    """True for a number that numpy or `random` makes in this function: reported at that call."""
    kinds = list(options(site.value(test)))
    numbers = any(isinstance(kind, NumpyScalar) and not kind.of_array for kind in kinds)
    if not numbers or any(isinstance(kind, Tensor) for kind in kinds):
        return False
    return any(name.startswith(("numpy.", "random.")) for name in _calls(site, test))


def _all_random(site: Site, test: ast.expr) -> bool:
    operands = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    tensors = [k for part in operands for k in options(site.value(part)) if isinstance(k, Tensor)]
    return all(tensor.random or tensor.role for tensor in tensors)


def _calls(site: Site, test: ast.expr, depth: int = VARIABLES.most) -> Iterator[str]:
    """The dotted names of the calls that make a test's operands, through local variables."""
    for node in nodes(test):
        if isinstance(node, ast.Call):
            yield site.dotted(node.func) or ""
        elif isinstance(node, ast.Name) and not depth:
            if site.flow.definitions(node):
                VARIABLES.cut()
        elif isinstance(node, ast.Name):
            for made in site.flow.definitions(node):
                if made.value is not None:
                    yield from _calls(site, made.value, depth - 1)
