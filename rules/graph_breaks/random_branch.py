"""TCL161: a random number decides which code runs."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import TensorBranch
from tclint.semantics.lattice import is_tensor, options
from tclint.semantics.ownership import is_private
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Tensor
from tclint.torch_facts import traced_since

from ..lib.facts.known import certain_tensor, constant
from ..lib.facts.random_tests import decides_at_random, draws_in
from ..lib.wording import consequence, loop_ids, short

_KINDS = ("if", "ternary", "and", "or", "not", "compare", "while")
_WAY_OUT = (
    "skipping a layer at random needs the number in Python; compute the layer anyway and select "
    "with `torch.where(keep, layer(x), x)`"
)
_RATE_FIRST = (
    "test first whether the rate is zero (`{0} != 0.0 and ...`): at 0.0 the graph does not break; "
    "or compute the layer anyway and select with `torch.where(keep, layer(x), x)`"
)
_WITH_ZERO = (ast.Gt, ast.NotEq)
_UNTRACED = "random.random"
"""Before it is traced, the graph breaks at the draw (TCL180), and Python decides."""


class RandomBranch(Rule[TensorBranch]):
    """A random number decides whether a layer is skipped or which path runs."""

    code = "TCL161"
    name = "random-branch"
    summary = "A branch on a random number (LayerDrop) breaks the graph"
    instead = (
        "Compute the layer always and select its result with `torch.where`, or draw before the "
        "compiled call and pass the choice in"
    )
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report tests of nothing but random numbers."""
        site, test = event.site, event.test
        if event.kind not in _KINDS or not decides_at_random(site, test):
            return None
        skips = _find_comparison(site, test)
        guarded = skips is not None and _is_guarded(site, skips)
        untraced = any(site.dotted(call.func) == _UNTRACED for call in draws_in(site, test))
        return Finding(
            f"The branch on `{short(site, test)}` is random{consequence(site)}",
            Advice(_way_out(site, None if guarded else skips)),
            gb_ids=loop_ids(site, "GB0170"),
            confidence=Confidence.LOW if guarded and not _is_used(site, skips) else None,
            since=traced_since(_UNTRACED) if untraced else None,
        )


@record(frozen=True)
class _Comparison:
    """``drawn < rate``, where ``drawn`` is between 0 and 1."""

    node: ast.Compare
    rate: ast.expr


def _way_out(site: Site, skips: _Comparison | None) -> str:
    """To ask for the rate first, unless the program sets one, or it is read from a tensor."""
    if skips is None or _is_used(site, skips):
        return _WAY_OUT
    if any(isinstance(kind, (DataScalar, Tensor)) for kind in options(site.value(skips.rate))):
        return _WAY_OUT
    return _RATE_FIRST.format(short(site, skips.rate))


def _is_written_out(found: _Comparison) -> bool:
    """True for a rate that nobody can set, such as ``p < 0.1``: asking for it tells nothing."""
    return isinstance(found.rate, ast.Constant)


def _is_used(site: Site, found: _Comparison | None) -> bool:
    """True for a rate that is written out, or that the program sets to another number than zero."""
    return found is not None and (_is_written_out(found) or bool(constant(site, found.rate)))


def _find_comparison(site: Site, test: ast.expr) -> _Comparison | None:
    """The comparison behind the truth of ``test``: itself, or the last operand of a variable."""
    if isinstance(test, ast.Name):
        test = _computed(site, test) or test
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        test = test.values[-1]
    match test:
        case ast.Compare(left=drawn, ops=[ast.Lt()], comparators=[rate]):
            return _compared(site, test, drawn, rate)
        case ast.Compare(left=rate, ops=[ast.Gt()], comparators=[drawn]):
            return _compared(site, test, drawn, rate)
    return None


def _compared(site: Site, test: ast.Compare, drawn: ast.expr, rate: ast.expr) -> _Comparison | None:
    if isinstance(drawn, ast.Call):
        return _Comparison(test, rate) if _is_uniform(site, drawn) else None
    made = site.flow.definitions(drawn)
    uniform = all(one.value is not None and _is_uniform(site, one.value) for one in made)
    if made and uniform and _stays_as_drawn(site, drawn):
        return _Comparison(test, rate)
    return None


def _stays_as_drawn(site: Site, drawn: ast.expr) -> bool:
    """True for a number of Python's, and for a tensor that nobody writes."""
    return not is_tensor(site.value(drawn)) or is_private(site, drawn)


def _computed(site: Site, name: ast.Name) -> ast.expr | None:
    """What a variable is computed as, where it else only gets literals (``skip = False``)."""
    values = [one.value for one in site.flow.definitions(name)]
    computed = [value for value in values if not isinstance(value, ast.Constant)]
    return computed[0] if len(computed) == 1 else None


def _is_uniform(site: Site, value: ast.expr) -> bool:
    """True for one number that is certainly not below zero."""
    if not isinstance(value, ast.Call):
        return False
    dotted = site.dotted(value.func)
    if dotted == "random.uniform":
        bounds = [a.value for a in value.args if isinstance(a, ast.Constant)]
        return len(bounds) == 2 and all(isinstance(b, (int, float)) and b >= 0 for b in bounds)
    tensor = certain_tensor(site, value) if dotted == "torch.rand" else None
    one = [a.value for a in value.args if isinstance(a, ast.Constant)] == [1]
    return tensor is not None and (tensor.rank == 0 or (one and len(value.args) == 1))


def _is_guarded(site: Site, found: _Comparison) -> bool:
    """True where the comparison is only made for a positive rate: nothing is left to do."""
    rate, node = ast.dump(found.rate), found.node
    before: list[ast.expr] = []
    inner: ast.AST = node
    for outer in site.ancestors(node):
        if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
            before += outer.values[: next(i for i, v in enumerate(outer.values) if v is inner)]
        elif isinstance(outer, ast.If) and inner in outer.body:
            test = outer.test
            if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
                before += test.values
            else:
                before.append(test)
        inner = outer
    return any(_says_positive(test, rate) for test in before)


def _says_positive(test: ast.expr, rate: str) -> bool:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _WITH_ZERO):
        zero = test.comparators[0]
        test = test.left if isinstance(zero, ast.Constant) and zero.value == 0 else test
    if isinstance(test, ast.NamedExpr):
        test = ast.Name(test.target.id, ast.Load())
    return ast.dump(test) == rate
