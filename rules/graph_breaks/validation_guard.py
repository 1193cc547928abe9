"""TCL165: a check that raises depends on a tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch
from tclint.semantics.site import Site

from ..lib.facts.branch_tests import decided_if, is_guard
from ..lib.facts.compiling import is_compiled_only
from ..lib.facts.conditions import is_plain, split_at_tensor
from ..lib.facts.known import certain_tensor
from ..lib.facts.likely_numbers import is_likely_number
from ..lib.facts.messages import quoted, stated
from ..lib.facts.random_tests import decides_at_random, is_number_of_library
from ..lib.judge.declared import takes_numbers
from ..lib.rewrite.opposites import opposite
from ..lib.rewrite.proved import NO_TORCH
from ..lib.wording import consequence, loop_ids, short

_KINDS = ("if", "compare")
_CAUGHT = "the surrounding `try` would catch RuntimeError from compiled code instead"
_MESSAGE = (
    "Assert it in compiled code, which then raises RuntimeError with a literal message; eager code "
    "stays as it is"
)
_MIXED = "the test mixes tensors and other values in a way that asserts cannot express"
_Asserted = tuple[str, dict[str, ast.expr]]


class ValidationGuard(Rule[TensorBranch]):
    """An `if` on a tensor's value raises an exception."""

    code = "TCL165"
    name = "validation-guard"
    summary = "An `if` on a tensor's value that raises breaks the graph"
    instead = (
        'Assert it: `assert test, "literal message"` stays in the graph; or check before the '
        "compiled call"
    )
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the tensor that decides whether to raise."""
        site, test = event.site, event.test
        decided = decided_if(site, event.node) if event.kind in _KINDS else None
        if decided is None or not is_guard(decided):
            return None
        if (
            decides_at_random(site, test)
            or is_number_of_library(site, test)
            or is_likely_number(site, test)
        ):
            return None
        tensor = "what may be a tensor," if event.sometimes else "the tensor"
        return Finding(
            f"This check branches on {tensor} `{short(site, test)}`{consequence(site)}",
            _assert_when_compiled(site, decided),
            gb_ids=loop_ids(site, "GB0170"),
        )


def _assert_when_compiled(site: Site, statement: ast.If) -> Repair | Decline:
    """Put asserts that stay in the graph beside a check that raises."""
    asks = site.spell("torch.compiler.is_compiling")
    raised = statement.body[-1]
    obstacle = _obstacle(site, statement)
    if obstacle or not isinstance(raised, ast.Raise):
        return Decline(obstacle)
    if asks is None:
        return NO_TORCH
    flags, tensors = split_at_tensor(site, statement.test)
    asserted = _opposites(site, tensors)
    if isinstance(asserted, Decline):
        return asserted
    message, literal = _message(site, raised, tensors[0])
    indent = "        " if flags else "    "
    lines = [f"if {asks}():"]
    if flags:
        lines.append("    if " + " and ".join(f"$flag_{i}" for i in range(len(flags))) + ":")
    for template, _ in asserted:
        lines.append(f"{indent}assert {template}, {message}")
    lines += ["else:", "    $original"]
    parts: dict[str, ast.expr | ast.stmt] = {f"flag_{i}": flag for i, flag in enumerate(flags)}
    for _, named in asserted:
        parts |= named
    parts |= literal
    rewrite = Replace(statement, "\n".join(lines), {**parts, "original": statement})
    return Repair(_MESSAGE, (rewrite,))


def _obstacle(site: Site, statement: ast.If) -> str:
    if statement.orelse:
        return "the check has an `else`"
    if any(attempt.handlers for attempt in site.facts.tries):
        return _CAUGHT
    if is_compiled_only(site, statement):
        return "eager code never runs this: assert the opposite with a literal message"
    return ""


def _opposites(site: Site, tensors: Sequence[ast.expr]) -> list[_Asserted] | Decline:
    """What has to be true so that nothing is raised."""
    if len(tensors) != 1:
        return Decline(_MIXED)
    found: list[_Asserted] = []
    for number, (leaf, negated) in enumerate(_leaves(tensors[0])):
        if isinstance(leaf, ast.BoolOp):
            return Decline(_MIXED)
        tensor = certain_tensor(site, leaf)
        if tensor is None:
            return Decline(f"`{site.text(leaf)}` is not known to be a tensor")
        refusal = takes_numbers(site, leaf)
        if refusal is not None:
            return refusal
        if not is_plain(leaf):
            return Decline(f"`{site.text(leaf)}` is a chain of comparisons")
        if tensor.rank != 0:
            return Decline(f"`{site.text(leaf)}` is not known to be a 0-d tensor")
        found.append(_opposite(site, leaf, negated, str(number)))
    return found


def _leaves(test: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """The tensors one of which is enough to raise, and whether they are negated."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for value in test.values:
            yield from _leaves(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield test.operand, True
    else:
        yield test, False


def _opposite(site: Site, leaf: ast.expr, negated: bool, number: str) -> _Asserted:
    if negated:
        return f"$tensor_{number}", {f"tensor_{number}": leaf}
    found = opposite(site, leaf)
    if found is not None:
        sides = {f"{name}_{number}": part for name, part in found.parts.items()}
        return re.sub(r"(\$\w+)", rf"\1_{number}", found.template), sides
    spelled = site.spell("torch.logical_not")
    return f"{spelled}($tensor_{number})", {f"tensor_{number}": leaf}


def _message(
    site: Site, raised: ast.Raise, test: ast.expr
) -> tuple[str, dict[str, ast.expr | ast.stmt]]:
    """What the exception states, or what was tested, as a template with its part."""
    error = raised.exc
    if isinstance(error, ast.Call) and error.args:
        given = error.args[0]
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            return "$message", {"message": given}
        text = stated(given)
        if text is not None:
            return quoted(text), {}
    kind = error.func if isinstance(error, ast.Call) else error
    name = ast.unparse(kind) if kind is not None else "check failed"
    return quoted(f"{name}: {' '.join(site.text(test).split())}"), {}
