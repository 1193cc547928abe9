"""TCL161: a random number decides which code runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import TensorBranch
from tclint.semantics.lattice import is_tensor, options
from tclint.semantics.ownership import is_private
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Object
from tclint.torch_facts import traced_since

from ..lib.facts.branch_tests import is_asked
from ..lib.facts.known import certain_tensor, constant
from ..lib.facts.purity import is_pure
from ..lib.facts.random_tests import decides_at_random, draws_in
from ..lib.facts.uses import uses_of
from ..lib.rewrite.names import new_variable
from ..lib.wording import consequence, loop_ids, short

_KINDS = ("if", "ternary", "and", "or", "not", "compare", "while")
_WAY_OUT = (
    "skipping a layer at random needs the number in Python; compute the layer anyway and select "
    "with `torch.where(keep, layer(x), x)`"
)
_RATE_FIRST = (
    "Test first whether the rate is zero: at 0.0 the graph does not break, at a positive rate "
    "it breaks as before"
)
_FEWER = "at a rate of 0.0 the random number is not drawn, so later ones differ"
_NO_SCRIPT = "`torch.jit.script` does not take `:=`"
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
            _fix(site, None if guarded else skips),
            gb_ids=loop_ids(site, "GB0170"),
            confidence=Confidence.LOW if guarded and not _is_used(site, skips) else None,
            since=traced_since(_UNTRACED) if untraced else None,
        )


@record(frozen=True)
class _Comparison:
    """``drawn < rate``, where ``drawn`` is between 0 and 1; ``inline`` when it is drawn there."""

    node: ast.Compare
    rate: ast.expr
    inline: bool


def _fix(site: Site, skips: _Comparison | None) -> Repair | Decline:
    """Ask for the rate first, unless the program sets one."""
    if skips is None or _is_used(site, skips):
        return Advice(_WAY_OUT)
    return _ask_rate_first(site, skips)


def _is_written_out(found: _Comparison) -> bool:
    """True for a rate that nobody can set, such as ``p < 0.1``: asking for it tells nothing."""
    return isinstance(found.rate, ast.Constant)


def _is_used(site: Site, found: _Comparison | None) -> bool:
    """True for a rate that is written out, or that the program sets to another number than zero."""
    return found is not None and (_is_written_out(found) or bool(constant(site, found.rate)))


def _find_comparison(site: Site, test: ast.expr) -> _Comparison | None:
    """The comparison behind the truth of ``test``: itself, or the last operand of a variable."""
    if isinstance(test, ast.Name):
        test = _computed(site, test.id) or test
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
        return _Comparison(test, rate, True) if _is_uniform(site, drawn) else None
    bound = [site.parent(s) for s in site.stores(drawn.id)] if isinstance(drawn, ast.Name) else []
    uniform = all(isinstance(b, ast.Assign) and _is_uniform(site, b.value) for b in bound)
    if bound and uniform and _stays_as_drawn(site, drawn):
        return _Comparison(test, rate, False)
    return None


def _stays_as_drawn(site: Site, drawn: ast.expr) -> bool:
    """True for a number of Python's, and for a tensor that nobody writes."""
    return not is_tensor(site.value(drawn)) or is_private(site, drawn)


def _computed(site: Site, name: str) -> ast.expr | None:
    """What a variable is computed as, where it else only gets literals (``skip = False``)."""
    bound = [site.parent(store) for store in site.stores(name)]
    values = [binding.value for binding in bound if isinstance(binding, ast.Assign)]
    computed = [value for value in values if not isinstance(value, ast.Constant)]
    return computed[0] if len(computed) == 1 and len(values) == len(bound) else None


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


def _ask_rate_first(site: Site, found: _Comparison) -> Repair | Decline:
    """Put ``rate != 0.0`` before the comparison.

    Whatever the rate may be, also None, `!=` raises nothing: the comparison still does.
    """
    node, rate = found.node, found.rate
    if is_tensor(site.value(rate)):
        return Decline(f"the rate `{site.text(rate)}` is itself a tensor")
    if any(isinstance(kind, DataScalar) for kind in options(site.value(rate))):
        return Decline(f"the rate `{site.text(rate)}` is itself read from a tensor")
    if not _only_asked(site, node):
        return Decline("the result of the comparison is used as more than a condition")
    if _is_plain(site, rate):
        rewrite = _ask_first(site, node, "$rate != 0.0", {"rate": rate})
    else:
        rewrite = _ask_once(site, found)
    repair = Repair(_RATE_FIRST, (rewrite,))
    if found.inline:
        repair = Repair(_RATE_FIRST, (rewrite,), Change.BEHAVIOUR, _FEWER)
    # TorchScript takes neither `:=` nor attributes of plain objects, but all else that is a rate.
    is_scripted = not isinstance(rate, (ast.Name, ast.Attribute))
    return repair.differing(_NO_SCRIPT) if is_scripted else repair


def _is_plain(site: Site, rate: ast.expr) -> bool:
    """True for a variable, and for an attribute of an object in sight that is no property."""
    match rate:
        case ast.Name():
            return True
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner):
            return isinstance(site.value(owner), Object) and is_pure(site, rate)
    return False


def _ask_once(site: Site, found: _Comparison) -> Replace:
    """Keep a rate that has to be computed in a variable between the two questions."""
    node, rate = found.node, found.rate
    name = new_variable(site, "rate", set())
    sides = (node.left, *node.comparators)
    left, right = (name if side is rate else "$drawn" for side in sides)
    sign = ">" if isinstance(node.ops[0], ast.Gt) else "<"
    drawn = next(side for side in sides if side is not rate)
    parts = {"rate": rate, "drawn": drawn}
    question = f"({name} := $rate) != 0.0"
    return _ask_first(site, node, question, parts, test=f"{left} {sign} {right}")


def _ask_first(
    site: Site, node: ast.expr, question: str, parts: Mapping[str, ast.expr], test: str = "$test"
) -> Replace:
    """Put a question before a test, which may be written another way."""
    outer = site.parent(node)
    if not (isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And)):
        return Replace(node, f"{question} and {test}", {**parts, "test": node})
    flags = {f"flag_{i}": value for i, value in enumerate(outer.values) if value is not node}
    asked = (
        f"{question} and {test}" if value is node else f"$flag_{i}"
        for i, value in enumerate(outer.values)
    )
    return Replace(outer, " and ".join(asked), {**flags, **parts, "test": node})


def _only_asked(site: Site, node: ast.expr) -> bool:
    if is_asked(site, node):
        return True
    value: ast.expr = node
    while isinstance(outer := site.parent(value), ast.BoolOp):
        value = outer
    binding, uses = site.parent(value), uses_of(site, value)
    if not isinstance(binding, ast.Assign):
        return False
    nodes: Sequence[ast.expr] = uses.nodes
    if uses.several and isinstance(binding.targets[0], ast.Name):
        nodes = site.loads(binding.targets[0].id)  # more than see this value, but none is missed
    elif uses.lost:
        return False
    return bool(nodes) and all(is_asked(site, use) for use in nodes)
