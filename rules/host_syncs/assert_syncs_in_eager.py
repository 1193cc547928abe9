"""TCL301: an assert on a tensor makes eager code wait."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site
from tclint.semantics.values import Guess

from ..lib.facts.compiling import is_compiled_only
from ..lib.facts.conditions import goes_on_after_tensor, host_reads, is_tensor_condition
from ..lib.facts.messages import folded

_SELDOM: Final = Advice(
    "check once in many steps, or put the assert under `if torch.compiler.is_compiling():`, where "
    "it does not wait"
)
_MOVES: Final = frozenset({"to", "cuda"})


class AssertSyncsInEager(Rule[TensorAssert]):
    """An assert checks a tensor's value."""

    code = "TCL301"
    name = "assert-syncs-in-eager"
    summary = "An assert on a tensor waits for the device in eager code"
    instead = "Check once in many steps, or only in compiled code, which does not wait for it"
    on = TensorAssert
    effects = (Effect.HOST_SYNC,)

    def check(self, event: TensorAssert) -> Finding | None:
        """Report what compiles: other asserts have findings that weigh more."""
        site, statement = event.site, event.statement
        test = statement.test
        if not is_tensor_condition(site, test) or goes_on_after_tensor(site, test):
            return None
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        if negated or next(host_reads(site, test), None) or is_compiled_only(site, statement):
            return None
        if _has_waited(site, statement) or _is_on_host(site, test):
            return None
        if statement.msg is not None and not isinstance(folded(statement.msg), str):
            return None
        return Finding("This assert waits for the device in eager code", _SELDOM, test)


def _has_waited(site: Site, statement: ast.Assert) -> bool:
    outer = (node for node in site.ancestors(statement) if isinstance(node, ast.If))
    return any(is_tensor_condition(site, node.test) for node in outer)


def _is_on_host(site: Site, node: ast.expr) -> bool:
    """True where the tensors that a test reads were made on the host: nothing is waited for."""
    tensor = tensor_in(site.value(node))
    if tensor is not None and tensor.device == "cpu":
        return True
    match node:
        case ast.BoolOp(values=parts):
            pass
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name not in _MOVES:
            parts = [owner, *node.args, *(keyword.value for keyword in node.keywords)]
        case _:
            return False
    read = [(part, tensor_in(site.value(part))) for part in parts]
    known = [part for part, tensor in read if tensor is not None and tensor.guess is Guess.NONE]
    return bool(known) and all(_is_on_host(site, part) for part in known)
