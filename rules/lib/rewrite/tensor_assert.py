"""An assert on tensors as Dynamo takes it: whole, whatever its test and its message are made of.

All rules about asserts offer this one repair. What it leaves are asserts that ask for one truth of
a tensor each, last, and have a literal message. They stand where the assert stood: nobody wants
to read, and to keep up, one assert for eager code and another for compiled code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Final

from tclint.diagnostics import Advice, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import NONE, Static, Tensor
from tclint.torch_facts.dynamo_settings import SCALARS

from ..facts.compiling import is_compiled_only
from ..facts.conditions import HOST_FUNCTIONS, host_reads, is_tensor_condition, read_source
from ..facts.known import is_parameter
from ..facts.messages import folded, quoted, stated
from ..judge.certainty import is_certainly_tensor
from ..judge.declared import takes_numbers
from ..judge.exactness import COMPLEX, exact_comparison
from ..judge.raising import ORDER, is_ordering
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .opposites import certain_opposite
from .proved import NO_TORCH, repair_as_proved

_OPERATORS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ONE = Changes("a tensor with several elements raises an error with a different message")
_INTEGER = Refused("`int` drops the fraction before the comparison")
_EQUAL = Changes("tensors of different shapes broadcast or raise instead of being unequal")
_ALTERNATIVES: Final = (
    "combine boolean tensors without dimensions with `|`, or with `&` under a `not`"
)
_CHAIN: Final = "name the middle of the chain, and join its two comparisons by `&`"
_CAUGHT: Final = (
    "the surrounding `try` would catch RuntimeError from compiled code instead of AssertionError"
)
_VALUES: Final = (
    "write a literal message, as compiled code cannot show values, or put the assert under "
    "`if not torch.compiler.is_compiling():`"
)


class _RefusedError(Exception):
    """Why a test cannot be asserted in the graph."""

    def __init__(self, decline: Decline) -> None:
        super().__init__(decline.reason)
        self.decline = decline


def repair_assert(site: Site, statement: ast.Assert) -> Repair | Decline:
    """Rewrite an assert so that nothing of it breaks the graph; decline where a part would stay."""
    if any(attempt.handlers for attempt in site.facts.tries):
        return Decline(_CAUGHT)
    test = _Test(site, statement)
    try:
        return test.repair()
    except _RefusedError as error:
        return error.decline


class _Test:
    """The test of one assert on its way into the graph.

    ``parts`` are the nodes that the templates name; ``rewrites`` do the same in place, as long as
    the assert stays one.
    """

    def __init__(self, site: Site, statement: ast.Assert) -> None:
        self.site = site
        self.statement = statement
        self.parts: dict[str, ast.expr | ast.stmt] = {}
        self.rewrites: list[Replace] = []
        self.verdicts: list[Verdict] = []
        self.messages: list[str] = []
        self.is_new = False
        reads = host_reads(site, statement.test)
        if site.has_setting(SCALARS):
            reads = (read for read in reads if site.dotted(read.func) in HOST_FUNCTIONS)
        self.reads = [*reads]

    def repair(self) -> Repair | Decline:
        """The assert rewritten, for eager and compiled code."""
        conditions = self._conditions(self.statement.test)
        said = self._message()
        verdict = combine(self.verdicts)
        rewrites = self.rewrites
        if self.is_new:
            text = "\n".join(f"assert {condition}{said}" for condition in conditions)
            rewrites = [Replace(self.statement, text, self.parts)]
        return repair_as_proved(verdict, self.messages[0], tuple(rewrites))

    def _message(self) -> str:
        """The message behind a condition, literal from now on; empty where there is none."""
        given = self.statement.msg
        if given is None:
            return ""
        constant = folded(given)
        if isinstance(constant, str):
            return f", {self._part(given)}"
        differs = "the message no longer shows its values"
        text = _known_text(self.site, given)
        if text is not None:
            differs = ""
        elif isinstance(constant, ast.AST):
            text = stated(given)
        else:
            text, differs = str(constant), "the AssertionError carries a string"
        if text is None:
            raise _RefusedError(Advice(_VALUES))
        if differs and not is_compiled_only(self.site, self.statement):
            self.verdicts.append(Changes(differs))
        self.messages.append("Use a literal message")
        self.rewrites.append(Replace(given, quoted(text)))
        return f", {quoted(text)}"

    # What the test becomes: asserts one after the other, of which the first one that fails raises.

    def _conditions(self, test: ast.expr, negated: bool = False) -> list[str]:
        if not self._goes_on(test, negated):
            return [self._settled(test, negated)]
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._conditions(operand, not negated)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.Or) is negated:
                self.is_new = True
                self.messages.append("Split the assert")
                return [c for value in values for c in self._conditions(value, negated)]
            case ast.BoolOp():
                raise _RefusedError(Advice(_ALTERNATIVES))
            case ast.IfExp():
                raise _RefusedError(Advice("use an `if` with an assert in each branch"))
        if self.reads:
            raise _RefusedError(Decline("the number is part of a comparison chain"))
        raise _RefusedError(Advice(_CHAIN))

    def _goes_on(self, test: ast.expr, negated: bool) -> bool:
        """True where something is still evaluated after the truth of a tensor was asked."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._goes_on(operand, not negated)
            case ast.BoolOp(values=[*first, last]):
                if negated:
                    return self._asks(test)
                return any(map(self._asks, first)) or self._goes_on(last, negated)
            case ast.Compare(ops=[_, _, *_]):
                return self._asks(test)
            case ast.IfExp(body=body, orelse=orelse):
                return self._asks(body) or self._goes_on(orelse, negated)
        return False

    def _asks(self, node: ast.expr) -> bool:
        """True where the truth of a tensor is asked, or would be without its reads."""
        if is_tensor_condition(self.site, node):
            return True
        inside = {*ast.walk(node)}
        return any(read in inside for read in self.reads)

    def _settled(self, test: ast.expr, negated: bool) -> str:
        """A test that asks for one truth of a tensor, last, or for none."""
        if not self._asks(test):
            return f"not {self._part(test)}" if negated else self._part(test)
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._settled(operand, not negated)
            case ast.BoolOp(op=op, values=[*first, last]):
                word = " and " if isinstance(op, ast.And) else " or "
                end = self._settled(last, negated)
                end = f"({end})" if isinstance(last, ast.BoolOp) else end
                return word.join([*map(self._part, first), end])
        return self._leaf(test, negated)

    def _leaf(self, node: ast.expr, negated: bool) -> str:
        """One tensor's truth."""
        written = self._without_reads(node)
        if not negated:
            return written
        self._refuse(self._why_no_tensor(node))
        negation = self._opposite(node)
        if negation:
            self.messages.append("Assert the opposite")
        else:
            negation = f"{self._spelled('torch.logical_not')}({written})"
            self.messages.append("Use `torch.logical_not`")
        outer = self.site.parent(node)
        assert isinstance(outer, (ast.expr, ast.stmt))
        if isinstance(outer, ast.UnaryOp):
            self.rewrites = [r for r in self.rewrites if r.node is not node]
            self.rewrites.append(Replace(outer, negation, self.parts))
        return negation

    def _opposite(self, node: ast.expr) -> str:
        """The opposite without a `torch.logical_not`; empty where there is none, or reads."""
        inside = {*ast.walk(node)}
        found = certain_opposite(self.site, node)
        if found is None or any(read in inside for read in self.reads):
            return ""
        return self._named(found.template, found.parts)

    def _why_no_tensor(self, node: ast.expr) -> Decline | None:
        """Why `torch.logical_not` might not take what `not` takes."""
        reads = [read for read in self.reads if read is node]
        if reads:
            return None
        refusal = takes_numbers(self.site, node)
        if refusal is not None:
            return refusal
        if NONE in options(self.site.value(node)):
            return Decline("the tensor may be None, which `torch.logical_not` does not take")
        if not is_certainly_tensor(self.site, node):
            return Decline(f"`{self.site.text(node)}` is not known to be a tensor")
        return None

    def _without_reads(self, node: ast.expr) -> str:
        """A comparison, or a tensor, without the reads in it."""
        inside = {*ast.walk(node)}
        found = [read for read in self.reads if read in inside]
        if not found:
            return self._part(node)
        self.messages.append("Assert on the tensor itself")
        dropped = [(read, *_drop(self.site, read)) for read in found]
        verdict = combine(verdict for _, _, verdict in dropped)
        self.verdicts.append(verdict)
        self.rewrites += [rewrite for _, rewrite, _ in dropped]
        written = {read: self._named(r.template, r.parts) for read, r, _ in dropped}
        if node in written:
            return written[node]
        if not isinstance(node, ast.Compare) or isinstance(verdict, Refused):
            return ""
        return self._compared([node.left, *node.comparators], node.ops, written)

    def _compared(
        self, sides: list[ast.expr], ops: Iterable[ast.cmpop], written: dict[ast.Call, str]
    ) -> str:
        texts = [
            written[side] if isinstance(side, ast.Call) and side in written else self._part(side)
            for side in sides
        ]
        joined = texts[0]
        for op, text in zip(ops, texts[1:], strict=True):
            joined += f" {_OPERATORS[type(op)]} {text}"
        return joined

    # The bookkeeping of templates.

    def _refuse(self, why: Decline | None) -> None:
        if why is not None:
            raise _RefusedError(why)

    def _spelled(self, name: str) -> str:
        spelled = self.site.spell(name)
        if spelled is None:
            raise _RefusedError(NO_TORCH)
        return spelled

    def _part(self, node: ast.expr | ast.stmt) -> str:
        name = f"part_{len(self.parts)}"
        self.parts[name] = node
        return f"${name}"

    def _named(self, template: str, parts: Mapping[str, ast.expr | ast.stmt]) -> str:
        """A template with its parts among the others."""
        names = {name: self._part(node) for name, node in parts.items()}
        return re.sub(r"\$(\w+)", lambda found: names[found[1]], template)


def _known_text(site: Site, message: ast.expr) -> str | None:
    """The text of a message that a name holds which nothing else is assigned to."""
    if not isinstance(message, ast.Name) or is_parameter(site, message.id):
        return None
    local = site.stores(message.id)
    if len(local) > 1 or not (local or message.id in site.module.assigned):
        return None
    match [*options(site.value(message))]:
        case [Static(known=True, value=str(text))]:
            return text
    return None


def _drop(site: Site, call: ast.Call) -> tuple[Replace, Verdict]:
    """Let the tensor have the place of a number that is read, and how far that is proved."""
    read = read_source(site, call)
    if read is None:
        return _function(site, call)
    via, source, tensor = read
    rewrite = Replace(call, "$source", {"source": source})
    if via in ("float", "int") and not is_certainly_tensor(site, source):
        return rewrite, Refused(f"`{site.text(source)}` is not known to be a tensor")
    single = PROVED if tensor.rank == 0 or via == "bool" else _ONE
    return rewrite, combine([_conversion(via, tensor), _place(site, call, tensor), single])


def is_real(site: Site, call: ast.Call, tensor: Tensor) -> bool:
    """True for a number that is read from a tensor which is certainly not complex."""
    if tensor.dtype is not None and tensor.dtype.category in ("bool", "int", "float"):
        return True
    read = read_source(site, call)
    if read is None or read[0] == "bool":
        return True
    # Nor do `float` and `int` raise for a complex number on the real axis.
    return isinstance(read[1], ast.Call) and is_ordering(read[1])


def _conversion(via: str, tensor: Tensor) -> Verdict:
    category = tensor.dtype.category if tensor.dtype else None
    if via == "int" and category not in ("int", "bool"):
        return _INTEGER
    return PROVED


def _place(site: Site, call: ast.Call, tensor: Tensor | None) -> Verdict:
    """A tensor may stand where only the truth is asked, and in exact comparisons."""
    parent = site.parent(call)
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    if isinstance(parent, (ast.Assert, ast.BoolOp)) or negated:
        return PROVED
    if isinstance(parent, ast.Compare) and tensor is not None:
        verdict = exact_comparison(site, parent, call, tensor)
        ordered = isinstance(parent.ops[0], ORDER) and not is_real(site, call, tensor)
        return combine([verdict, COMPLEX]) if ordered else verdict
    return Refused("Python computes with the number")


def _function(site: Site, call: ast.Call) -> tuple[Replace, Verdict]:
    """`torch.allclose`, `torch.equal` and `torch.is_nonzero`: as the tensors behind them."""
    name = site.dotted(call.func)
    spelled = site.spell("torch.isclose")
    place = _place(site, call, None)
    parts = {f"a{i}": argument for i, argument in enumerate(call.args)}
    parts |= {f"k{i}": keyword.value for i, keyword in enumerate(call.keywords)}
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    ):
        return Replace(call, ""), Refused("the call unpacks its arguments")
    if name == "torch.allclose" and spelled is not None:
        arguments = [f"$a{i}" for i in range(len(call.args))]
        arguments += [f"{keyword.arg}=$k{i}" for i, keyword in enumerate(call.keywords)]
        return Replace(call, f"{spelled}({', '.join(arguments)}).all()", parts), place
    if name == "torch.is_nonzero" and len(parts) == 1:
        given = next(iter(parts.values()))
        if not is_certainly_tensor(site, given):
            return Replace(call, ""), Refused(f"`{site.text(given)}` is not known to be a tensor")
        return Replace(call, f"${next(iter(parts))}", parts), place
    if name == "torch.equal" and len(call.args) == 2:
        return Replace(call, "($a0 == $a1).all()", parts), combine([place, _EQUAL])
    return Replace(call, ""), Refused(
        "the arguments are passed in a way that tclint does not follow"
    )
