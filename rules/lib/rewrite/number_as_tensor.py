"""Follow a number that was read from a tensor to the places where it meets tensors again."""

from __future__ import annotations

import ast
from dataclasses import field, replace
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Replace
from tclint.records import record
from tclint.semantics.body import Body
from tclint.semantics.bounds import Bound
from tclint.semantics.callees import Callee, callees
from tclint.semantics.flow import Definition
from tclint.semantics.ownership import blocks_around, is_unshared
from tclint.semantics.site import Site
from tclint.semantics.syntax import start_of
from tclint.semantics.values import DType, Tensor

from ..facts.known import certain_tensor
from ..facts.parameters import is_number_parameter
from ..facts.reaching import is_changed
from ..facts.uses import Uses, uses_of
from ..judge.contexts import judge
from ..judge.exactness import COMPLEX, exact_comparison
from ..judge.numbers import Number, arithmetic, is_python_number, negated
from ..judge.promotion import ROUNDED
from ..judge.raising import ORDER
from ..judge.same_device import Whereabouts
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .slice_store import store_by_mask
from .torch_equivalents import UNSURE, TorchEquivalent, torch_equivalent

_BOOL = DType("bool", "bool")
_ONE_TYPE = Changes(
    "`torch.jit.script` does not take a variable that is a tensor on one path and a number on "
    "another"
)
_LEAVES = "the number leaves a block that may run under `inference_mode`"
_KEEPING = (ast.Assign, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Call, ast.keyword, ast.Return)
ROUNDS = Bound(3, "numbers that meet in one place of a loop", hides=False)
"""How often a loop may come back to a place with another number before it is given up."""
_COMPUTED: Final = (ast.BinOp, ast.Compare, ast.UnaryOp)
_RANGE: Final = (
    "an index out of range triggers a device-side assert on a GPU instead of raising IndexError"
)
_COPY: Final = "the row is a copy instead of a view"


@record()
class Way:
    """What was found on the way: how far it is proved, and what has to be written differently.

    ``written`` is true where a statement of the program changes it in place (``n += 1``).
    ``real`` says that the number is certainly not complex. ``where`` is the device that it is read
    from; None for a number that no device has.
    """

    site: Site
    where: Whereabouts | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    rewrites: dict[ast.AST, Replace] = field(default_factory=dict)
    written: bool = False
    real: bool = False
    kept: bool = False
    _seen: dict[ast.AST, list[Number]] = field(default_factory=dict)
    _blocks: frozenset[ast.AST] = frozenset()
    _inside: frozenset[Body] = frozenset()

    def verdict(self) -> Verdict:
        """The weakest verdict on the way."""
        return combine(self.verdicts)

    def follow(self, node: ast.expr, number: Number) -> None:
        """Follow the value of ``node``, which is ``number``, to all of its uses."""
        self._blocks = self._blocks or blocks_around(self.site, node)
        uses = uses_of(self.site, node)
        if uses.lost:
            self._follow_variable(node, number, uses)
            return
        for use in uses.nodes:
            self.use(use, number)

    def _follow_variable(self, node: ast.expr, number: Number, uses: Uses) -> None:
        """A variable that holds other values, too: each use that may see this one is judged."""
        made = self.site.flow.holder(node)
        if not uses.several or made is None or not isinstance(self.site.parent(node), ast.Assign):
            self.verdicts.append(Refused(f"{uses.lost}, so its uses cannot be followed"))
            return
        others = [one.node for one in self.site.flow.made(made.name) if one is not made]
        if not all(isinstance(other, ast.AugAssign) for other in others):
            self.verdicts.append(_ONE_TYPE)
        self._reads(made, number)

    def _reads(self, made: Definition, number: Number) -> None:
        for read in self.site.flow.reads(made):
            self.use(read, replace(number, certain=False))

    def use(self, use: ast.expr, number: Number) -> None:
        """Judge one use of the number, and follow what is computed from it there."""
        if not self._may_go_to(use, number):
            return
        parent = self.site.parent(use)
        match parent:
            case ast.BinOp(left=left, right=right) if self._is_number(
                right if left is use else left
            ):
                other = right if left is use else left
                self._computed(parent, number, parent.op, other, reflected=right is use)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                self._go_on(parent, *negated(number))
            case ast.Compare(left=left, comparators=[right]) if self._is_number(
                right if left is use else left
            ):
                self._compared(parent, use, number)
            case ast.Assign(targets=[ast.Name()]):
                self.kept = True
                self.follow(use, number)
            case ast.IfExp(body=body, orelse=orelse) if use in (body, orelse):
                self.verdicts.append(_ONE_TYPE)
                self.follow(parent, replace(number, certain=False))
            case ast.AugAssign(target=ast.Name() as target):
                self._augmented(parent, target, use, number)
            case ast.Call() if (
                equivalent := torch_equivalent(self.site, parent, use, number)
            ) is not None:
                self._use_equivalent(parent, equivalent)
            case ast.List() | ast.Tuple() | ast.Set() if self._is_looped_over(parent):
                self._looped_over(parent, use, number)
            case ast.Slice():
                self._bounds(use)
            case _ if (found := _picked(self.site, use)) is not None:
                self._picks(use, number, *found)
            case _:
                self._ends(use, number)

    def _is_looped_over(self, container: ast.expr) -> bool:
        around = self.site.parent(container)
        return isinstance(around, (ast.For, ast.comprehension)) and around.iter is container

    def _looped_over(self, container: ast.expr, use: ast.expr, number: Number) -> None:
        """``for n in [number]``: the loop's variable is the number, or another member."""
        loop = self.site.parent(container)
        assert isinstance(loop, (ast.For, ast.comprehension))
        self._ends(use, number)
        if not isinstance(loop.target, ast.Name):
            return
        scope = self.site.parent(loop) if isinstance(loop, ast.comprehension) else None
        reads = ast.walk(scope) if scope is not None else self.site.loads(loop.target.id)
        for read in reads:
            if (
                isinstance(read, ast.Name)
                and read.id == loop.target.id
                and isinstance(read.ctx, ast.Load)
            ):
                self.use(read, replace(number, certain=False))

    def _picks(self, use: ast.expr, number: Number, row: ast.Subscript, dimension: int) -> None:
        """``x[n]`` becomes ``x[n.reshape(1)].squeeze(0)``."""
        verdict = _judge_row(self.site, row, number.tensor) if number.certain else UNSURE
        self.verdicts.append(verdict)
        self._meets(use, row.value, is_operator=False)
        equivalent = self.rewrites.get(use, Replace(use, "$number", {"number": use}))
        self.rewrites[use] = replace(equivalent, template=f"{equivalent.template}.reshape(1)")
        self.rewrites[row] = Replace(row, f"$row.squeeze({dimension})", {"row": row})

    def _may_go_to(self, use: ast.expr, number: Number) -> bool:
        """False where the number cannot be followed to a use, or has been there already."""
        before = self._seen.setdefault(use, [])
        if number in before:
            return False
        before.append(number)
        if not self._blocks <= blocks_around(self.site, use):
            self.verdicts.append(Refused(_LEAVES))
        elif len(before) > ROUNDS.most:
            ROUNDS.cut()
            self.verdicts.append(
                Changes("a loop goes on computing with the number, where tclint stops following it")
            )
        else:
            return True
        return False

    def _is_inference(self) -> bool:
        """True where the tensors that are made may be of no use for gradients elsewhere."""
        function = self.site.function
        return bool(self._blocks) or (
            function is not None and "torch.inference_mode" in function.decorators
        )

    def _bounds(self, use: ast.expr) -> None:
        """``x[:n] = 0`` becomes ``x[torch.arange(len(x)) < n] = 0``."""
        outer = self.site.ancestors(use)
        statement = next(node for node in outer if isinstance(node, ast.stmt))
        stored = store_by_mask(self.site, use, statement)
        if isinstance(stored, Decline):
            self.verdicts.append(Refused(stored.reason))
            return
        (self.rewrites[statement],) = (r for r in stored.rewrites if isinstance(r, Replace))
        self.verdicts.append(Changes(stored.changes) if stored.changes else PROVED)

    def _meets(self, use: ast.expr, other: ast.expr, *, is_operator: bool = True) -> None:
        if self.where is not None:
            self.where.meets(use, [other], is_operator=is_operator)

    def _is_number(self, node: ast.expr) -> bool:
        return certain_tensor(self.site, node) is None and is_python_number(self.site, node)

    def _go_on(self, node: ast.expr, number: Number, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        if not isinstance(verdict, Refused):
            self.follow(node, number)

    def _computed(
        self, node: ast.BinOp, number: Number, op: ast.operator, other: ast.expr, *, reflected: bool
    ) -> None:
        self._meets(node, other)
        self._go_on(node, *arithmetic(self.site, op, number, other, reflected=reflected))

    def _compared(self, node: ast.Compare, use: ast.expr, number: Number) -> None:
        self._meets(use, node.comparators[0] if node.left is use else node.left)
        verdict = exact_comparison(self.site, node, use, number.tensor)
        if verdict == PROVED and number.tensor.dtype == ROUNDED:
            verdict = Changes(
                "the number is rounded to float32 before it is compared", Change.PRECISION
            )
        verdict = combine([verdict, self._ordered(node, number)])
        self._go_on(node, number.of(_BOOL), verdict)

    def _ordered(self, node: ast.Compare, number: Number) -> Verdict:
        """Complex numbers are not ordered: Python and torch say so with different exceptions."""
        real = self.real or number.category in ("bool", "int", "float")
        return PROVED if real or not isinstance(node.ops[0], ORDER) else COMPLEX

    def _augmented(
        self, statement: ast.AugAssign, target: ast.Name, use: ast.expr, number: Number
    ) -> None:
        """``n += 1`` of the number itself, and ``total += n``, which becomes a tensor with it."""
        own = use is target
        other = statement.value if own else target
        if not self._is_number(other):
            self._ends(use, number)
            return
        self._meets(use, other)
        made, verdict = arithmetic(self.site, statement.op, number, other, reflected=not own)
        verdict = verdict if own else combine([verdict, _ONE_TYPE])
        certain = number.category is not None and made.category == number.category
        if not certain or _may_be_read_before(self.site, statement, target):
            # A number is replaced by `+=`, a tensor is written: whoever has it would see that.
            self.rewrites[statement] = _spelt_out(statement)
        else:
            self.written = True
        self.verdicts.append(verdict)
        if not isinstance(verdict, Refused):
            for one in self.site.flow.made(target.id):
                if one.node is statement:
                    self._reads(one, made)

    def _use_equivalent(self, call: ast.Call, equivalent: TorchEquivalent) -> None:
        if equivalent.replace is not None:
            if call in self.rewrites and self.rewrites[call] != equivalent.replace:
                self.verdicts.append(
                    Refused("the call combines two numbers that are read from tensors")
                )
                return
            self.rewrites[call] = equivalent.replace
        self._go_on(call, equivalent.number, equivalent.verdict)

    def _ends(self, use: ast.expr, number: Number) -> None:
        parent = self.site.parent(use)
        if isinstance(use, ast.Name) and is_changed(self.site, use):
            self.verdicts.append(Refused("the number is changed in place"))
            return
        handed = self._handed(use, number)
        if handed is not None:
            self.verdicts.append(handed)
            return
        self.kept = self.kept or isinstance(parent, _KEEPING)
        if isinstance(parent, _KEEPING) and self._is_inference():
            self.verdicts.append(Refused(_LEAVES))
            return
        if isinstance(parent, ast.Compare) and parent.left is use:
            # torch turns the comparison round for a number, and names the turned one.
            self.verdicts.append(self._ordered(parent, number))
        self.verdicts.append(judge(self.site, use, number.tensor))
        if self.where is not None:
            self.where.meets_at(use)

    def _handed(self, use: ast.expr, number: Number) -> Verdict | None:
        """What the project's own functions do with a number; None where they need one, or may."""
        outer = self.site.parent(use)
        call = self.site.parent(outer) if isinstance(outer, ast.keyword) else outer
        if not isinstance(call, ast.Call) or call.func is use or self._is_inference():
            return None
        verdicts: list[Verdict] = []
        for callee in callees(self.site, call):
            name, site = callee.parameter(call, use), callee.site
            if name is None or not _is_only_parameter(callee, name) or site.body in self._inside:
                return None
            where = None if self.where is None else self.where.inside(callee, call)
            inside = self._inside | {self.site.body}
            inner = Way(site, where, real=self.real, _inside=inside)
            for read in site.loads(name):
                inner.use(read, number)
            if inner.rewrites or inner.kept or isinstance(inner.verdict(), Refused):
                return None
            verdicts.append(inner.verdict())
            if callee.open:
                told = self.site.text(call.func)
                verdicts.append(Changes(f"`{told}` is given a tensor instead of a Python number"))
        return combine(verdicts) if verdicts else None


def _may_be_read_before(site: Site, statement: ast.AugAssign, target: ast.Name) -> bool:
    """True where something else may have the value of a variable when ``statement`` changes it."""
    loops = {
        outer for outer in site.ancestors(statement) if isinstance(outer, (ast.For, ast.While))
    }
    return any(
        start_of(load) < start_of(statement) or not loops.isdisjoint(site.ancestors(load))
        for load in site.loads(target.id)
    )


def _is_only_parameter(callee: Callee, name: str) -> bool:
    """True for a parameter that may be a tensor, and that holds nothing else later."""
    site = callee.site
    node = site.body.scope
    declared = not isinstance(node, ast.Module) and is_number_parameter(node, name)
    return not declared and not site.stores(name) and is_unshared(site, name)


def _picked(site: Site, use: ast.expr) -> tuple[ast.Subscript, int] | None:
    """The subscript that ``use`` picks a row in, and the dimension, where only slices stand by."""
    parent = site.parent(use)
    members = parent.elts if isinstance(parent, ast.Tuple) else [use]
    subscript = site.parent(parent) if isinstance(parent, ast.Tuple) else parent
    if not isinstance(subscript, ast.Subscript) or not isinstance(subscript.ctx, ast.Load):
        return None
    if subscript.slice not in (use, parent) or certain_tensor(site, subscript.value) is None:
        return None
    if not all(member is use or isinstance(member, ast.Slice) for member in members):
        return None
    return subscript, members.index(use)


def _judge_row(site: Site, subscript: ast.Subscript, position: Tensor) -> Verdict:
    """Judge ``x[n]`` as ``x[n.reshape(1)].squeeze(0)``."""
    if position.dtype is None or position.dtype.category != "int":
        return Refused("the index is not known to be an integer")
    view = "" if isinstance(site.parent(subscript), _COMPUTED) else f"; {_COPY}"
    return Changes(_RANGE + view)


def _spelt_out(statement: ast.AugAssign) -> Replace:
    """``n = n + 1`` for ``n += 1``."""
    target = statement.target
    assert isinstance(target, ast.Name)
    sum_of = ast.unparse(ast.BinOp(ast.Name("LEFT"), statement.op, ast.Name("RIGHT")))
    formula = sum_of.replace("LEFT", target.id).replace("RIGHT", "$value")
    return Replace(statement, f"{target.id} = {formula}", {"value": statement.value})
